// The owner pushes and pops at one end, a thief takes from the other; none gets what the other has.
#include <cassert>
#include <mutex>
#include <thread>
#include <vector>
#include <eigen3/Eigen/Core>
#include <eigen3/unsupported/Eigen/CXX11/src/ThreadPool/RunQueue.h>
int main() {
  Eigen::RunQueue<int *, 4> queue;
  int values[] = {1, 2}, *popped = nullptr;
  std::thread owner([&] {
    queue.PushFront(&values[0]);
    queue.PushFront(&values[1]);
    popped = queue.PopFront();
  });
  int *stolen = queue.PopBack();
  if (stolen) assert(*stolen == stolen - values + 1);
  owner.join();
  assert(popped && popped != stolen);
  queue.Flush();
}
