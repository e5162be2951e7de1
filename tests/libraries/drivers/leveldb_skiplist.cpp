// A reader iterates while a writer inserts; what it finds has been initialised.
#include <cassert>
#include <thread>
#include <db/skiplist.h>
#include <util/arena.h>
struct Order {
  int operator()(int a, int b) const { return a < b ? -1 : a > b; }
};
int main() {
  leveldb::Arena arena;
  leveldb::SkipList<int, Order> list(Order(), &arena);
  list.Insert(2);
  std::thread writer([&] { list.Insert(1); });
  leveldb::SkipList<int, Order>::Iterator each(&list);
  each.SeekToFirst();
  assert(each.Valid() && (each.key() == 1 || each.key() == 2));
  writer.join();
  assert(list.Contains(1) && list.Contains(2));
}
