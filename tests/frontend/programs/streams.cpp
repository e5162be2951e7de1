#include <atomic>
#include <cassert>
#include <complex>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <istream>
#include <sstream>
#include <thread>

std::atomic<int> ready;
int data;

int main() {
  std::thread writer([] {
    data = 1;
    ready.store(1, std::memory_order_release);
  });
  if (ready.load(std::memory_order_acquire)) {
    assert(data == 1);
    std::cout << "seen " << std::setw(3) << data << ' ' << 1.5 << std::endl;
  }
  writer.join();
}
