// A first-in first-out queue: each item with the thread that has put it in, and its turn to leave.
static struct {
  long value;
  unsigned producer, turn;
} weakspot_items[64];
static unsigned weakspot_count, weakspot_entered, weakspot_left;

static long weakspot_enqueue(long value) {
  if (WEAKSPOT_CAPACITY && weakspot_count == WEAKSPOT_CAPACITY)
    return 0;
  weakspot_items[weakspot_count].value = value;
  weakspot_items[weakspot_count].producer = weakspot_caller;
  weakspot_items[weakspot_count++].turn = weakspot_entered++;
  return 1;
}

// Whether an item may leave now. With WEAKSPOT_RELAXED = k, any of the first k + 1 items may; with
// WEAKSPOT_QUASI = k, one whose turn is at most k away, unless the first may not wait longer; with
// WEAKSPOT_PER_PRODUCER, the first of each producer.
static int weakspot_may_leave(unsigned at) {
  if (WEAKSPOT_QUASI) {
    if (weakspot_items[at].turn > weakspot_left + WEAKSPOT_QUASI)
      return 0;
    if (at && weakspot_items[0].turn + WEAKSPOT_QUASI == weakspot_left)
      return 0;
    return 1;
  }
  if (!WEAKSPOT_PER_PRODUCER)
    return at <= WEAKSPOT_RELAXED;
  for (unsigned other = 0; other < at; ++other)
    if (weakspot_items[other].producer == weakspot_items[at].producer)
      return 0;
  return 1;
}

static long weakspot_dequeue(void) {
  unsigned candidates[64], found = 0;
  for (unsigned at = 0; at < weakspot_count; ++at)
    if (weakspot_may_leave(at))
      candidates[found++] = at;
  if (!found)
    return WEAKSPOT_EMPTY;
  unsigned taken = candidates[found > 1 ? weakspot_choose(found) : 0];
  long value = weakspot_items[taken].value;
  for (--weakspot_count; taken < weakspot_count; ++taken)
    weakspot_items[taken] = weakspot_items[taken + 1];
  ++weakspot_left;
  return value;
}
