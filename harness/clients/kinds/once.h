// A function that runs once: each call returns how often it has run.
static long weakspot_call_once(void) { return 1; }
