/* Readers see what writers leave, and never a writer at work. */

#include <assert.h>
#include <pthread.h>

#include "rw.h"

#ifndef READERS
#define READERS 2
#endif
#ifndef WRITERS
#define WRITERS 1
#endif

static struct rw lock;
static int x, y; /* written by the writer inside */

static void *reader(void *unused)
{
    rw_read_lock(&lock);
    assert(x == y);
    rw_read_unlock(&lock);
    return unused;
}

static void *writer(void *unused)
{
    rw_write_lock(&lock);
    x++;
    y++;
    rw_write_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t threads[READERS + WRITERS];
    for (int i = 0; i < READERS + WRITERS; i++)
        pthread_create(&threads[i], NULL, i < WRITERS ? writer : reader, NULL);
    for (int i = 0; i < READERS + WRITERS; i++)
        pthread_join(threads[i], NULL);
    assert(x == WRITERS && y == WRITERS);
    return 0;
}
