/* A thread updates its register UPDATES times; another updates its own and scans: it does not miss its
   own update, whatever view it borrows. */

#include <assert.h>
#include <pthread.h>

#include "snapshot.h"

#ifndef UPDATES
#define UPDATES 2
#endif

static struct record initial, records[UPDATES], last;
static struct snapshot registers = {{&initial, &initial}};

static void *writer(void *unused)
{
    for (int i = 0; i < UPDATES; i++)
        snapshot_update(&registers, 0, &records[i], i + 1);
    return unused;
}

static void *scanner(void *unused)
{
    int view[SNAPSHOT_SIZE];
    snapshot_update(&registers, 1, &last, 1);
    snapshot_scan(&registers, view);
    assert(view[1] == 1);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, writer, NULL);
    pthread_create(&threads[1], NULL, scanner, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
