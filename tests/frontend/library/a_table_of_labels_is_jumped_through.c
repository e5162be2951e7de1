// Violated: memory (execution reaches code that the compiler assumes to be unreachable)
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int flag;
static int data;

static int run(const unsigned char *code) {
  static void *const steps[] = {&&load, &&add, &&stop, 0};
  static const int offsets[] = {&&load - &&load, &&add - &&load};
  int value = 0;
  assert(steps[1] == (char *)&&load + offsets[1] && steps[0] != steps[1]);
  goto *steps[*code++];
load:
  value = data;
  goto *steps[*code++];
add:
  value++;
  goto *steps[*code++];
stop:
  return value;
}

static void *write(void *unused) {
  data = 41;
  atomic_store_explicit(&flag, 1, memory_order_release);
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, write, 0);
  if (atomic_load_explicit(&flag, memory_order_acquire))
    assert(run((const unsigned char[]){0, 1, 2}) == 42);
  pthread_join(thread, 0);
  run((const unsigned char[]){1, 3});
}
