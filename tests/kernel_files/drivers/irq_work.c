#include <weakspot/kernel_tree.h>
#define CONFIG_IRQ_WORK
#ifndef __RCUWAIT_INITIALIZER
struct rcuwait {};
#define __RCUWAIT_INITIALIZER(name) {}
#endif
#define rcuwait_wake_up(wait) ((void)0)
#define arch_irq_work_has_interrupt() 1
#include <linux/irq_work.h>
#include "../kernel/irq_work.c"

static int asked, done;
static void work(struct irq_work *unused) { done = READ_ONCE(asked); }
static DEFINE_IRQ_WORK(irq_work, work);

static void *asker(void *unused)
{
    WRITE_ONCE(asked, 1);
    return (void *)irq_work_claim(&irq_work);
}
int main(void)
{
    pthread_t one;
    void *claimed;
    irq_work_claim(&irq_work);
    pthread_create(&one, NULL, asker, NULL);
    irq_work_single(&irq_work);
    pthread_join(one, &claimed);
    BUG_ON(!claimed && !done);
}
