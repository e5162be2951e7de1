// A lock, which is free at first: how many threads share it, or -1 while one holds it alone.
static long weakspot_holders, weakspot_sections;

// Returns how many threads have held it alone before.
static long weakspot_lock(void) {
  if (weakspot_holders)
    return WEAKSPOT_EMPTY;
  weakspot_holders = -1;
  return weakspot_sections++;
}

static long weakspot_try_lock(void) { return weakspot_lock(); }

static long weakspot_unlock(void) {
  weakspot_holders += weakspot_holders < 0 ? 1 : -1;
  return 0;
}

static long weakspot_lock_shared(void) {
  if (weakspot_holders < 0)
    return WEAKSPOT_EMPTY;
  ++weakspot_holders;
  return weakspot_sections;
}

static long weakspot_try_lock_shared(void) { return weakspot_lock_shared(); }

static long weakspot_unlock_shared(void) { return weakspot_unlock(); }
