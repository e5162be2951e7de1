// Small functions about threads.
#include "weakspot.h"
#include <pthread.h>

WEAKSPOT_LIBRARY long weakspot_gettid(void) { return (long)pthread_self(); }
WEAKSPOT_LIBRARY int gettid(void) { return (int)(long)pthread_self(); }
WEAKSPOT_LIBRARY long weakspot_yield(void) { return 0; }
