#include <cassert>
#include <semaphore>
#include <thread>

std::counting_semaphore<4> items(0);
int data;

int main() {
  std::thread producer([] {
    data = 1;
    items.release();
  });
  items.acquire();
  assert(data == 1);
  producer.join();
}
