// Safe
#include <assert.h>
#include <pthread.h>
#include <stdarg.h>

static double sum(int count, ...) {
  va_list list;
  va_start(list, count);
  double all = 0;
  for (int i = 0; i < count; i++)
    all += i % 2 ? va_arg(list, double) : va_arg(list, int);
  va_end(list);
  return all;
}

static long last(const char *types, va_list list) {
  long value = 0;
  for (; *types; types++)
    value = *types == 'l' ? va_arg(list, long) : *types == 'i' ? va_arg(list, int) : *va_arg(list, int *);
  return value;
}

static long last_of(const char *types, ...) {
  va_list list;
  va_start(list, types);
  long value = last(types, list);
  va_end(list);
  return value;
}

static long (*volatile through)(const char *, ...) = last_of;

static void *run(void *number) {
  int value = *(int *)number;
  for (int i = 0; i < 2; i++)
    assert(sum(3, value, 0.5, i) == value + 0.5 + i);
  return 0;
}

int main(void) {
  int one = 1, other = 2;
  pthread_t thread;
  pthread_create(&thread, 0, run, &one);
  run(&other);
  pthread_join(thread, 0);
  assert(sum(0) == 0);
  assert(sum(9, 1, 1.0, 1, 1.0, 1, 1.0, 1, 1.0, 1) == 9);
  assert(last_of("ilp", 1, 2l, &other) == 2 && through("pl", &one, 1l << 40) == 1l << 40);
}
