#include <atomic>
#include <cassert>
#include <cstring>
#include <string>
#include <thread>

std::string text;
std::atomic<bool> ready;

int main() {
  std::thread writer([] {
    text = std::string("hello") + " world, this is a long string";
    ready.store(true, std::memory_order_release);
  });
  if (ready.load(std::memory_order_acquire)) {
    assert(text.size() == 34 && text[0] == 'h');
    assert(text.find("world") == 6);
  }
  writer.join();
  assert(text == "hello world, this is a long string");
  assert(std::strlen(text.c_str()) == text.size());
}
