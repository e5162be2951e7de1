#include <weakspot/kernel_tree.h>
struct taskstats { int zero; };
struct signal_struct { struct taskstats *stats; } signal;
struct sighand_struct { spinlock_t siglock; } sighand;
struct task_struct { struct signal_struct *signal; struct sighand_struct *sighand; } task = {&signal, &sighand};
#define thread_group_empty(task) 0
#define kmem_cache_zalloc(cache, flags) made()
#define kmem_cache_free(cache, object) ((void)0)
static struct taskstats stats[2] = {{1}, {1}};
static __thread int mine;
static struct taskstats *made(void) { stats[mine].zero = 0; return &stats[mine]; }
#include "../kernel/taskstats.c"

static void *user(void *number)
{
    mine = (long)number;
    BUG_ON(taskstats_tgid_alloc(&task)->zero);
    return NULL;
}

int main(void)
{
    pthread_t one;
    pthread_create(&one, NULL, user, (void *)1);
    user((void *)0);
    pthread_join(one, NULL);
}
