/* M. Herlihy, J. Wing, "Linearizability: a correctness condition for concurrent objects", TOPLAS 12(3),
   1990, section 4.2: an enqueue claims a slot and then fills it, a dequeue looks for the first item and
   waits where there is none. Where an enqueue takes effect depends on what happens later. HW_CLAIM_ORDER
   and HW_BACK_ORDER are those of the claim and of the look at how many slots are claimed (acq_rel,
   acquire), HW_FILL_ORDER that of the filling (release). */

#include <stdatomic.h>

#ifndef HW_CLAIM_ORDER
#define HW_CLAIM_ORDER memory_order_acq_rel
#endif
#ifndef HW_BACK_ORDER
#define HW_BACK_ORDER memory_order_acquire
#endif
#ifndef HW_FILL_ORDER
#define HW_FILL_ORDER memory_order_release
#endif

static atomic_int items[8], back;

void enqueue(int value)
{
    int slot = atomic_fetch_add_explicit(&back, 1, HW_CLAIM_ORDER);
    atomic_store_explicit(&items[slot], value, HW_FILL_ORDER);
}

int dequeue(void)
{
    for (;;) {
        int range = atomic_load_explicit(&back, HW_BACK_ORDER);
        for (int i = 0; i < range; i++) {
            int found = atomic_exchange_explicit(&items[i], 0, memory_order_acq_rel);
            if (found)
                return found;
        }
    }
}
