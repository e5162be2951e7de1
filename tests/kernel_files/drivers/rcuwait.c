#include <weakspot/kernel_tree.h>
#define current (&sleeper)
#define TASK_UNINTERRUPTIBLE 2
#define set_current_state(state) smp_store_mb(sleeper.__state, state)
#define wake_up_process(task) (WRITE_ONCE((task)->__state, 0), 1)
#define schedule() smp_cond_load_relaxed(&sleeper.__state, VAL == 0)
static struct task_struct { int __state; } sleeper;
#undef _LINUX_RCUWAIT_H_
#include <linux/rcuwait.h>
#include "../kernel/exit.c"

static struct rcuwait wait = __RCUWAIT_INITIALIZER(wait);
static int ready;

static void *waiter(void *unused)
{
    prepare_to_rcuwait(&wait);
    set_current_state(TASK_UNINTERRUPTIBLE);
    if (!READ_ONCE(ready)) schedule();
    return NULL;
}

int main(void)
{
    pthread_t one;
    pthread_create(&one, NULL, waiter, NULL);
    WRITE_ONCE(ready, 1);
    rcuwait_wake_up(&wait);
    pthread_join(one, NULL);
}
