// A last-in first-out stack.
static long weakspot_items[64];
static unsigned weakspot_count;

static long weakspot_push(long value) {
  if (WEAKSPOT_CAPACITY && weakspot_count == WEAKSPOT_CAPACITY)
    return 0;
  weakspot_items[weakspot_count++] = value;
  return 1;
}

static long weakspot_pop(void) { return weakspot_count ? weakspot_items[--weakspot_count] : WEAKSPOT_EMPTY; }
