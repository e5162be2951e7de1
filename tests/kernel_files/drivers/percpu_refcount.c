#define NR_CPUS 2
#include <weakspot/kernel_tree.h>
#define mem_dump_obj(object) ((void)0)
#include "../lib/percpu-refcount.c"

static int freed;
static void release(struct percpu_ref *ref) { WRITE_ONCE(freed, 1); }
static unsigned long counts[NR_CPUS] = {0, 1}; // that of the user
static struct percpu_ref ref;
static struct percpu_ref_data reference = {
    .count = ATOMIC_LONG_INIT(PERCPU_COUNT_BIAS + 1), .release = release, .allow_reinit = true, .ref = &ref};

static void *user(void *unused)
{
    BUG_ON(READ_ONCE(freed));
    percpu_ref_put(&ref);
    return NULL;
}

int main(void)
{
    pthread_t one;
    ref.percpu_count_ptr = (unsigned long)counts;
    ref.data = &reference;
    pthread_create(&one, NULL, user, NULL);
    __percpu_ref_switch_to_atomic(&ref, NULL);
    percpu_ref_put(&ref);
    pthread_join(one, NULL);
}
