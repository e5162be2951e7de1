/* Each of two threads updates its register and scans: neither misses its own update, and not both miss
   the other's. */

#include <assert.h>
#include <pthread.h>

#include "snapshot.h"

static struct record initial, records[2];
static struct snapshot registers = {{&initial, &initial}};
static int views[2][SNAPSHOT_SIZE];
static const int numbers[2] = {0, 1};

static void *work(void *number)
{
    int own = *(const int *)number;
    snapshot_update(&registers, own, &records[own], 1);
    snapshot_scan(&registers, views[own]);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, (void *)&numbers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(views[0][0] == 1 && views[1][1] == 1);
    assert(views[0][1] == 1 || views[1][0] == 1);
    return 0;
}
