/* One thread updates two registers in turn, and another scans: it finds a state that they were in. */

#include <assert.h>
#include <pthread.h>

#include "snapshot.h"

#ifndef UPDATES
#define UPDATES 2
#endif

static struct record initial, records[UPDATES];
static struct snapshot registers = {{&initial, &initial}};

static void *writer(void *unused)
{
    for (int i = 0; i < UPDATES; i++)
        snapshot_update(&registers, i % 2, &records[i], 1 + i / 2);
    return unused;
}

static void *scanner(void *unused)
{
    int view[SNAPSHOT_SIZE];
    snapshot_scan(&registers, view);
    assert(view[0] == view[1] || view[0] == view[1] + 1);
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
