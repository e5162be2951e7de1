// An ordinary test of the queue, in one thread: it passes whatever the memory orders are.
#include <spsc/queue.hpp>

int main() {
  spsc::Queue<int, 2> queue;
  const bool pushed = queue.try_push(1) && queue.try_push(2) && !queue.try_push(3);
  const bool popped = queue.try_pop() == 1 && queue.try_pop() == 2 && !queue.try_pop();
  return pushed && popped ? 0 : 1;
}
