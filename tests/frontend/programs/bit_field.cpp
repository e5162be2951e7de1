#include <cassert>
#include <cstdlib>
#include <thread>

struct Header {
  unsigned kind : 3;
  unsigned size : 29;
};

int main() {
  auto* header = static_cast<Header*>(std::malloc(sizeof(Header)));
  header->kind = 5;
  header->size = 100;
  std::thread other([header] { assert(header->kind == 5 && header->size == 100); });
  other.join();
  std::free(header);
}
