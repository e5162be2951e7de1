/* Two threads want to link a block of theirs behind the last one: exactly one does, whatever fails for
   no reason, and a thread that finds it finds it initialised. */

#define CK_SIZE 1

#include <assert.h>
#include <pthread.h>

#include "centralk.h"

static struct ck_block last, mine, yours;
static bool first, second;

static void *owner(void *unused)
{
    first = ck_add_block(&last, &mine, 2);
    return unused;
}

static void *other_owner(void *unused)
{
    second = ck_add_block(&last, &yours, 2);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, owner, NULL);
    pthread_create(&b, NULL, other_owner, NULL);
    struct ck_block *found = ck_next(&last);
    if (found != NULL)
        assert(found->offset == CK_SIZE);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert(first != second);
    return 0;
}
