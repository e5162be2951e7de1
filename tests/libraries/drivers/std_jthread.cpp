#include <atomic>
#include <cassert>
#include <stop_token>
#include <thread>
static int data;
int main() {
  std::stop_source source;
  std::thread a([&] {
    data = 1;
    source.request_stop();
  });
  std::thread b([token = source.get_token()] {
    if (token.stop_requested())
      assert(data == 1);
  });
  a.join();
  b.join();
}
