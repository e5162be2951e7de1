// A counter, which is 0 at first.
static long weakspot_count;

// Returns the count before.
static long weakspot_increment(void) { return weakspot_count++; }

static long weakspot_decrement(void) { return weakspot_count--; }

static long weakspot_get(void) { return weakspot_count; }
