#include <cassert>
#include <stop_token>
#include <thread>

int data;

int main() {
  std::jthread worker([](std::stop_token stop) {
    while (!stop.stop_requested()) {
    }
    assert(data == 1);
  });
  data = 1;
  worker.request_stop();
}
