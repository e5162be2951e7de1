#include <atomic>
#include <cassert>
#include <semaphore>
#include <thread>
static std::counting_semaphore<2> slots(1);
static int inside;
static void enter() {
  slots.acquire();
  assert(++inside == 1);
  --inside;
  slots.release();
}
int main() {
  std::thread a(enter), b(enter);
  a.join(), b.join();
}
