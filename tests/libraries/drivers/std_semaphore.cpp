#include <cassert>
#include <semaphore>
#include <thread>
static std::binary_semaphore ready(0);
static int data;
int main() {
  std::thread a([] {
    data = 1;
    ready.release();
  });
  std::thread b([] {
    ready.acquire();
    assert(data == 1);
  });
  a.join();
  b.join();
}
