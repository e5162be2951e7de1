#include <weakspot/kernel_tree.h>
#define tasklet_callback_cancel_wait_running() ((void)0)
enum { TASKLET_STATE_SCHED, TASKLET_STATE_RUN };
#define wake_up_var(variable) ((void)0)
struct tasklet_struct;
void tasklet_unlock_spin_wait(struct tasklet_struct *t);
#include <linux/interrupt.h>
#include "../kernel/softirq.c"

static struct tasklet_struct tasklet = {.state = BIT(TASKLET_STATE_SCHED)};
static int data;

static void *action(void *unused) // as tasklet_action_common() does
{
    if (tasklet_trylock(&tasklet)) {
        if (!atomic_read(&tasklet.count) && tasklet_clear_sched(&tasklet)) BUG_ON(data == 1);
        tasklet_unlock(&tasklet);
    }
    return NULL;
}
int main(void)
{
    pthread_t one;
    pthread_create(&one, NULL, action, NULL);
    tasklet_disable_in_atomic(&tasklet);
    data = 1;
    data = 2;
    tasklet_enable(&tasklet);
    pthread_join(one, NULL);
}
