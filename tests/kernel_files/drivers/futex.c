#include <weakspot/kernel_tree.h>
#include <linux/list.h>
#define CONFIG_SMP
struct futex_hash_bucket { atomic_t waiters; } bucket;
#include "../kernel/futex/futex.h"

static int word, woken;

static void *waits(void *unused)
{
    futex_hb_waiters_inc(&bucket);
    if (READ_ONCE(word) == 0)
        smp_cond_load_relaxed(&woken, VAL);
    futex_hb_waiters_dec(&bucket);
    return NULL;
}

int main(void)
{
    pthread_t one;
    pthread_create(&one, NULL, waits, NULL);
    WRITE_ONCE(word, 1);
    if (futex_hb_waiters_pending(&bucket))
        WRITE_ONCE(woken, 1);
    pthread_join(one, NULL);
}
