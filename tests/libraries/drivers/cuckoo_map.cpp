// A map is read while another thread inserts; each key has its own value.
#include <cassert>
#include <thread>
#include <libcuckoo/cuckoohash_map.hh>
int main() {
  libcuckoo::cuckoohash_map<int, int> map(4);
  std::thread writer([&] { map.insert(1, 10); });
  int value = 0;
  if (map.find(1, value)) assert(value == 10);
  map.insert(2, 20);
  writer.join();
  assert(map.find(1) == 10 && map.find(2) == 20);
}
