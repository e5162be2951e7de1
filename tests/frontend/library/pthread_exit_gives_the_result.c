// Safe
#include <assert.h>
#include <pthread.h>

static int x;
static void down(void) { pthread_exit(&x); }
static void *run(void *p) { down(); return 0; }
int main(void) { pthread_t t; void *r; pthread_create(&t, 0, run, 0); pthread_join(t, &r); assert(r == &x); return 0; }