// A map from keys to values other than 0.
static long weakspot_values[64];

// Returns whether the key was absent; a key that is present keeps its value.
static long weakspot_insert(long key, long value) {
  if (weakspot_values[key])
    return 0;
  weakspot_values[key] = value;
  return 1;
}

// Returns whether the key was absent; its value is replaced.
static long weakspot_assign(long key, long value) {
  long absent = !weakspot_values[key];
  weakspot_values[key] = value;
  return absent;
}

static long weakspot_find(long key) { return weakspot_values[key] ? weakspot_values[key] : WEAKSPOT_EMPTY; }

// Returns whether the key was present.
static long weakspot_remove(long key) {
  long present = weakspot_values[key] != 0;
  weakspot_values[key] = 0;
  return present;
}

static long weakspot_contains(long key) { return weakspot_values[key] != 0; }
