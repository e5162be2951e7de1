// A register, which holds 0 at first.
static long weakspot_value;

static long weakspot_read(void) { return weakspot_value; }

static long weakspot_write(long value) {
  weakspot_value = value;
  return 1;
}

static long weakspot_exchange(long value) {
  long before = weakspot_value;
  weakspot_value = value;
  return before;
}

static long weakspot_compare_and_set(long expected, long desired) {
  if (weakspot_value != expected)
    return 0;
  weakspot_value = desired;
  return 1;
}
