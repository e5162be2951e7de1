// A double-ended queue.
static long weakspot_items[128];
static unsigned weakspot_front = 64, weakspot_back = 64;

static int weakspot_full(void) { return WEAKSPOT_CAPACITY && weakspot_back - weakspot_front == WEAKSPOT_CAPACITY; }

static long weakspot_push_back(long value) {
  if (weakspot_full())
    return 0;
  weakspot_items[weakspot_back++] = value;
  return 1;
}

static long weakspot_push_front(long value) {
  if (weakspot_full())
    return 0;
  weakspot_items[--weakspot_front] = value;
  return 1;
}

static long weakspot_pop_back(void) {
  return weakspot_front == weakspot_back ? WEAKSPOT_EMPTY : weakspot_items[--weakspot_back];
}

static long weakspot_pop_front(void) {
  return weakspot_front == weakspot_back ? WEAKSPOT_EMPTY : weakspot_items[weakspot_front++];
}
