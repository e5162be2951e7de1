// A set: what changes it returns whether it did.
static long weakspot_members[64];

static long weakspot_insert(long key) {
  long before = weakspot_members[key];
  weakspot_members[key] = 1;
  return !before;
}

static long weakspot_remove(long key) {
  long before = weakspot_members[key];
  weakspot_members[key] = 0;
  return before;
}

static long weakspot_contains(long key) { return weakspot_members[key]; }
