// Each call of the C library below is an invoke: an object with a destructor is in scope.
#include <atomic>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

std::atomic<int> destroyed;
struct Counts {
  ~Counts() { destroyed++; }
};

pthread_rwlock_t readers = PTHREAD_RWLOCK_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_once_t once = PTHREAD_ONCE_INIT;
pthread_barrier_t barrier;
pthread_spinlock_t spinlock;
pthread_key_t key;
sem_t semaphore;

void *other(void *unused) {
  Counts counts;
  pthread_barrier_wait(&barrier);
  return unused;
}

void synchronise() {
  Counts counts;
  std::string name("a");
  pthread_t thread;
  pthread_barrier_init(&barrier, nullptr, 2);
  pthread_create(&thread, nullptr, other, nullptr);
  pthread_barrier_wait(&barrier);
  pthread_join(thread, nullptr);
  pthread_rwlock_rdlock(&readers);
  pthread_rwlock_unlock(&readers);
  pthread_once(&once, [] {});
  pthread_key_create(&key, nullptr);
  pthread_setspecific(key, &name);
  assert(pthread_getspecific(key) == &name);
  sem_init(&semaphore, 0, 1);
  sem_wait(&semaphore);
  pthread_spin_init(&spinlock, 0);
  pthread_spin_lock(&spinlock);
  pthread_spin_unlock(&spinlock);
  pthread_mutex_lock(&mutex);
  pthread_cond_broadcast(&condition);
  pthread_mutex_unlock(&mutex);
}

void ask() {
  Counts counts;
  timespec now;
  timeval also;
  cpu_set_t set;
  clock_gettime(CLOCK_MONOTONIC, &now);
  nanosleep(&now, nullptr);
  gettimeofday(&also, nullptr);
  assert(sysconf(_SC_NPROCESSORS_ONLN) == 2 && !std::getenv("HOME"));
  sched_getaffinity(0, sizeof set, &set);
  sched_yield();
  assert(syscall(SYS_getpid) == getpid());
}

void allocate() {
  Counts counts;
  char text[20];
  std::snprintf(text, sizeof text, "%d", 5);
  assert(std::strtol(text, nullptr, 10) == 5 && std::atoi(text) == 5);
  void *made = std::aligned_alloc(64, 64);
  std::memcpy(made, text, 2);
  made = std::realloc(made, 128);
  std::free(made);
  int size = 4096, flags = MAP_PRIVATE | MAP_ANONYMOUS;
  made = mmap(nullptr, size, PROT_READ | PROT_WRITE, flags, -1, 0);
  madvise(made, size, MADV_DONTNEED);
  munmap(made, size);
}

int main() {
  synchronise();
  ask();
  allocate();
  assert(destroyed == 4);
}
