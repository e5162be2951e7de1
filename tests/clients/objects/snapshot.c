#include "snapshot.h"

static struct record initial, records[SNAPSHOT_SIZE][8];
static int used[SNAPSHOT_SIZE]; /* each only by the writer of that register */
static struct snapshot registers = {{&initial, &initial}};

WEAKSPOT_OP(first)
void update_first(int value) { snapshot_update(&registers, 0, &records[0][used[0]++], value); }

WEAKSPOT_OP(second)
void update_second(int value) { snapshot_update(&registers, 1, &records[1][used[1]++], value); }

WEAKSPOT_OP()
int scan(void)
{
    int view[SNAPSHOT_SIZE];
    snapshot_scan(&registers, view);
    return 16 * view[0] + view[1];
}
