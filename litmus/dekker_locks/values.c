/* Weak atomics and one lock: which values may a thread see under the lock after it has stored 4? Its
   own, or the 1 that the other stores before it takes the lock; never the 2 that the other stores
   under the lock, before or after. */

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int x;

static void *first(void *unused)
{
    atomic_store_explicit(&x, 1, memory_order_relaxed);
    pthread_mutex_lock(&lock);
    atomic_store_explicit(&x, 2, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *second(void *unused)
{
    atomic_store_explicit(&x, 3, memory_order_relaxed);
    pthread_mutex_lock(&lock);
    atomic_store_explicit(&x, 4, memory_order_relaxed);
    int r1 = atomic_load_explicit(&x, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
#ifdef GUARDED
    assert(r1 == 4);
#else
    assert(r1 == 4 || r1 == 1);
#endif
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, first, NULL);
    pthread_create(&b, NULL, second, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
