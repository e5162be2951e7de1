// A node that one thread puts is got by another with what was written into it, and each is got once.
#include <cassert>
#include <cds/intrusive/free_list.h>
#include <thread>

using List = cds::intrusive::FreeList;
struct Node : List::node {
  int value = 0;
};

int main() {
  List list;
  Node nodes[2];
  std::thread thread([&] {
    nodes[0].value = 1;
    list.put(&nodes[0]);
  });
  nodes[1].value = 1;
  list.put(&nodes[1]);
  auto *one = static_cast<Node *>(list.get()), *other = static_cast<Node *>(list.get());
  assert((!one || one->value == 1) && (!other || other->value == 1) && (!one || one != other));
  thread.join();
  list.clear([](List::node *) {});
}
