// Safe
#include <assert.h>
#include <stdlib.h>
static int first = 2, second = 1, third = 3;
static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int pointed(const void *a, const void *b) { return **(int *const *)a - **(int *const *)b; }
int main(void) {
  int x[] = {3, 1, 2, 1, 5}, *p[] = {&first, &second, &third};
  qsort(x, 5, sizeof x[0], order);
  for (int i = 1; i < 5; i++)
    assert(x[i - 1] <= x[i]);
  for (int i = 0; i < 7; i++) {
    int *found = bsearch(&i, x, 5, sizeof x[0], order);
    assert(found ? *found == i : i == 0 || i == 4 || i == 6);
  }
  qsort(p, 3, sizeof p[0], pointed);
  assert(p[0] == &second && p[1] == &first && p[2] == &third);
  qsort(x, 0, sizeof x[0], order);
  assert(!bsearch(x, x, 0, sizeof x[0], order));
}
