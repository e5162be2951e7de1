/* STAGES threads hand VALUES numbers on from ring to ring: they arrive in order. */

#include <assert.h>
#include <pthread.h>

#include "spsc.h"

#ifndef STAGES
#define STAGES 3
#endif
#ifndef VALUES
#define VALUES 3
#endif

static struct spsc ring[STAGES - 1];

static void *stage(void *in)
{
    struct spsc *from = in;
    for (int expected = 1; expected <= VALUES; expected++) {
        int value = expected;
        if (from) {
            while (!spsc_pop(from, &value)) {
            }
            assert(value == expected);
        }
        struct spsc *to = from ? from + 1 : ring;
        if (to < ring + STAGES - 1) {
            while (!spsc_push(to, value)) {
            }
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[STAGES];
    for (int i = 0; i < STAGES; i++)
        pthread_create(&threads[i], NULL, stage, i ? &ring[i - 1] : NULL);
    for (int i = 0; i < STAGES; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
