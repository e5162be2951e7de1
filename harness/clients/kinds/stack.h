// A last-in first-out stack.
static long weakspot_items[64];
static unsigned weakspot_count;

static long weakspot_push(long value) {
  if (WEAKSPOT_CAPACITY && weakspot_count == WEAKSPOT_CAPACITY)
    return 0;
  weakspot_items[weakspot_count++] = value;
  return 1;
}

// With WEAKSPOT_RELAXED = k, any of the last k + 1 items.
static long weakspot_pop(void) {
  if (!weakspot_count)
    return WEAKSPOT_EMPTY;
  unsigned most = weakspot_count < WEAKSPOT_RELAXED + 1 ? weakspot_count : WEAKSPOT_RELAXED + 1;
  unsigned taken = weakspot_count - 1 - (most > 1 ? weakspot_choose(most) : 0);
  long value = weakspot_items[taken];
  for (--weakspot_count; taken < weakspot_count; ++taken)
    weakspot_items[taken] = weakspot_items[taken + 1];
  return value;
}
