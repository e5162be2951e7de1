/* Two elements, an owner who pops and two thieves: no element is taken twice, none is lost. */

#include <assert.h>

#include "wsq.h"

static struct wsq q = WSQ_INIT;
static int popped, first, second; /* 0: got nothing; the elements are 1 and 2 */

static void *owner(void *unused)
{
    wsq_pop(&q, &popped);
    return unused;
}

static void *thief(void *value)
{
    wsq_try_steal(&q, value);
    return NULL;
}

int main(void)
{
    pthread_t a, b, c;
    wsq_push(&q, 1);
    wsq_push(&q, 2);
    pthread_create(&a, NULL, owner, NULL);
    pthread_create(&b, NULL, thief, &first);
    pthread_create(&c, NULL, thief, &second);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    assert(popped == 0 || popped != first);
    assert(popped == 0 || popped != second);
    assert(first == 0 || first != second);
    assert(popped + first + second == 3);
    return 0;
}
