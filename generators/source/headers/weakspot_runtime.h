// What the compiler calls by itself: the first use of a static variable inside a function. Included
// before every C++ source.
#pragma once
#pragma GCC system_header

#include <pthread.h>

namespace weakspot {
inline pthread_mutex_t statics = {};
inline pthread_cond_t made = {};
} // namespace weakspot

// Declared as in <cxxabi.h>. Byte 0 of the guard says that the variable is there, byte 1 that
// somebody is making it.
extern "C" __attribute__((used)) inline int __cxa_guard_acquire(__UINT64_TYPE__* object) {
  unsigned char* guard = (unsigned char*)object;
  pthread_mutex_lock(&weakspot::statics);
  while (guard[1])
    pthread_cond_wait(&weakspot::made, &weakspot::statics);
  int mine = !__atomic_load_n(&guard[0], __ATOMIC_RELAXED);
  guard[1] = mine;
  pthread_mutex_unlock(&weakspot::statics);
  return mine;
}

extern "C" __attribute__((used)) inline void __cxa_guard_release(__UINT64_TYPE__* object) {
  unsigned char* guard = (unsigned char*)object;
  pthread_mutex_lock(&weakspot::statics);
  __atomic_store_n(&guard[0], 1, __ATOMIC_RELEASE);
  guard[1] = 0;
  pthread_cond_broadcast(&weakspot::made);
  pthread_mutex_unlock(&weakspot::statics);
}

// The initialisation threw: the next thread tries again.
extern "C" __attribute__((used)) inline void __cxa_guard_abort(__UINT64_TYPE__* object) {
  unsigned char* guard = (unsigned char*)object;
  pthread_mutex_lock(&weakspot::statics);
  guard[1] = 0;
  pthread_cond_broadcast(&weakspot::made);
  pthread_mutex_unlock(&weakspot::statics);
}
