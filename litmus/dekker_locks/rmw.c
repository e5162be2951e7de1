/* Each thread multiplies its own counter by 0 and adds 1 to the other's. No update is lost, and not
   both additions come before the multiplications. */

#include <assert.h>

#include "dekker.h"

static pthread_mutex_t l1 = PTHREAD_MUTEX_INITIALIZER, l2 = PTHREAD_MUTEX_INITIALIZER;
static atomic_int x = 1, y = 1;

static void *first(void *unused)
{
    dekker_update(&l1, &x, &y);
    return unused;
}

static void *second(void *unused)
{
    dekker_update(&l2, &y, &x);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    int final_x = atomic_load_explicit(&x, memory_order_relaxed);
    int final_y = atomic_load_explicit(&y, memory_order_relaxed);
    assert(final_x <= 1 && final_y <= 1);
    assert(final_x == 1 || final_y == 1);
    return 0;
}
