// The same in C++, where the destructor, in main, uses the fields of the threads that have ended.
// rc11,imm: Safe
// -DWEAK rc11: race
#include <atomic>
#include <cassert>
#include <cstddef>
#include <thread>
#ifdef WEAK
#define RELEASE std::memory_order_relaxed
#else
#define RELEASE std::memory_order_release
#endif

template <class T> class SPSCQueue {
public:
    explicit SPSCQueue(std::size_t capacity) : capacity_(capacity + 1), slots_(new T[capacity + 1]) {}
    ~SPSCQueue() {
        while (front()) pop();
        delete[] slots_;
    }
    bool try_push(const T &v) {
        auto const write = write_.load(std::memory_order_relaxed);
        auto next = write + 1;
        if (next == capacity_) next = 0;
        if (next == readCache_) {
            readCache_ = read_.load(std::memory_order_acquire);
            if (next == readCache_) return false;
        }
        slots_[write] = v;
        write_.store(next, RELEASE);
        return true;
    }
    T *front() {
        auto const read = read_.load(std::memory_order_relaxed);
        if (read == writeCache_) {
            writeCache_ = write_.load(std::memory_order_acquire);
            if (writeCache_ == read) return nullptr;
        }
        return &slots_[read];
    }
    void pop() {
        auto next = read_.load(std::memory_order_relaxed) + 1;
        if (next == capacity_) next = 0;
        read_.store(next, std::memory_order_release);
    }

private:
    std::size_t capacity_;
    T *slots_;
    alignas(64) std::atomic<std::size_t> write_{0};
    alignas(64) std::size_t readCache_{0};
    alignas(64) std::atomic<std::size_t> read_{0};
    alignas(64) std::size_t writeCache_{0};
};

int main() {
    SPSCQueue<int> q(1);
    std::thread consumer([&] {
        for (int i = 1; i <= 2; i++) {
            while (!q.front()) ;
            assert(*q.front() == i);
            q.pop();
        }
    });
    for (int i = 1; i <= 2; i++) while (!q.try_push(i)) ;
    consumer.join();
}
