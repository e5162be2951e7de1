#include <weakspot/kernel_tree.h>
#define current (&one_task)
#define PF_EXITING 4
#define set_notify_resume(task) ((void)0)
#define set_notify_signal(task) ((void)0)
#define __set_notify_signal(task) ((void)0)
static struct task_struct { struct callback_head *task_works; int flags; spinlock_t pi_lock; } one_task;
#include "../kernel/task_work.c"

static int data;
static void run(struct callback_head *work) { BUG_ON(data != 1); }
static struct callback_head work = {.func = run};

static void *adder(void *unused)
{
    data = 1;
    task_work_add(&one_task, &work, TWA_NONE);
    return NULL;
}

int main(void)
{
    pthread_t one;
    pthread_create(&one, NULL, adder, NULL);
    task_work_run();
    pthread_join(one, NULL);
}
