// A first-in first-out queue.
static long weakspot_items[64];
static unsigned weakspot_first, weakspot_last;

static long weakspot_enqueue(long value) {
  if (WEAKSPOT_CAPACITY && weakspot_last - weakspot_first == WEAKSPOT_CAPACITY)
    return 0;
  weakspot_items[weakspot_last++] = value;
  return 1;
}

// With WEAKSPOT_RELAXED = k, any of the first k + 1 items.
static long weakspot_dequeue(void) {
  unsigned count = weakspot_last - weakspot_first;
  if (!count)
    return WEAKSPOT_EMPTY;
  unsigned most = count < WEAKSPOT_RELAXED + 1 ? count : WEAKSPOT_RELAXED + 1;
  unsigned taken = weakspot_first + (most > 1 ? weakspot_choose(most) : 0);
  long value = weakspot_items[taken];
  for (; taken > weakspot_first; --taken)
    weakspot_items[taken] = weakspot_items[taken - 1];
  ++weakspot_first;
  return value;
}
