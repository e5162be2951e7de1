#include <stdatomic.h>
#include <atomic>
#include <cassert>
#include <thread>

atomic_int ready;
int data;

int main() {
  std::thread writer([] {
    data = 1;
    atomic_store_explicit(&ready, 1, memory_order_release);
  });
  if (atomic_load_explicit(&ready, memory_order_acquire)) assert(data == 1);
  writer.join();
}
