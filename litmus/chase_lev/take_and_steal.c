/* The owner pushes PUSHES items and takes TAKES; each of THIEVES threads steals once. Every item is
   taken once, and what was written before it was pushed is seen. */

#include <assert.h>
#include <pthread.h>

#ifndef PUSHES
#define PUSHES 1
#endif
#ifndef TAKES
#define TAKES 1
#endif
#ifndef THIEVES
#define THIEVES 1
#endif

#include "deque.h"

static struct deque deque;
static int task[PUSHES + 1];

static void run(int item)
{
    if (item) {
        assert(task[item] == 1);
        task[item] = 2;
    }
}

static void *thief(void *unused)
{
    run(deque_steal(&deque));
    return unused;
}

static void *owner(void *unused)
{
    for (int i = 1; i <= PUSHES; i++) {
        task[i] = 1;
        deque_push(&deque, i);
    }
    for (int i = 0; i < TAKES; i++)
        run(deque_take(&deque));
    return unused;
}

int main(void)
{
    pthread_t threads[1 + THIEVES];
    int item;
    deque_init(&deque);
    for (int i = 0; i <= THIEVES; i++)
        pthread_create(&threads[i], NULL, i ? thief : owner, NULL);
    for (int i = 0; i <= THIEVES; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < PUSHES && (item = deque_take(&deque)); i++)
        run(item);
    for (int i = 1; i <= PUSHES; i++)
        assert(task[i] == 2);
    return 0;
}
