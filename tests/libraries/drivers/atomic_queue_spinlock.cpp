#include <atomic_queue/spinlock.h>
#include <cassert>
#include <thread>
static atomic_queue::TicketSpinlock mutex;
static int count;
static void add() {
  auto ticket = mutex.lock();
  count++;
  mutex.unlock(ticket);
}
int main() {
  std::thread a(add), b(add);
  a.join(), b.join();
  assert(count == 2);
}
