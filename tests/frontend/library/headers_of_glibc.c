// Safe
#include <assert.h>
#include <execinfo.h>
static int depth(void) {
  void *frames[8];
  return backtrace(frames, 8);
}
int main(int argc, char **argv) { assert(argc < 5 || depth()); }
