#include <weakspot/kernel_tree.h>
#include <linux/refcount.h>
#include "../lib/refcount.c"

static refcount_t references = REFCOUNT_INIT(2);
static int used[2];

static void *user(void *mine)
{
    *(int *)mine = 1;
    if (refcount_dec_and_test(&references)) BUG_ON(!used[0] || !used[1]);
    return NULL;
}

int main(void)
{
    pthread_t one, two;
    pthread_create(&one, NULL, user, &used[0]);
    pthread_create(&two, NULL, user, &used[1]);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
}
