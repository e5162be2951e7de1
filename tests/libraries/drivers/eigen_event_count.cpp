// A thread announces that it will sleep, looks at a condition, and sleeps until it is notified.
#include <atomic>
#include <thread>
#include <eigen3/unsupported/Eigen/CXX11/ThreadPool>
int main() {
  Eigen::MaxSizeVector<Eigen::EventCount::Waiter> waiters(1);
  waiters.resize(1);
  Eigen::EventCount events(waiters);
  std::atomic<bool> ready(false);
  std::thread notifier([&] {
    ready.store(true, std::memory_order_release);
    events.Notify(false);
  });
  events.Prewait();
  if (ready.load(std::memory_order_acquire))
    events.CancelWait();
  else
    events.CommitWait(&waiters[0]);
  notifier.join();
}
