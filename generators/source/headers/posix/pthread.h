// <pthread.h> with what glibc's has and musl's does not. The first word of a static initialiser of a
// mutex is the state that the engine begins with: that of a free mutex of the type.
#pragma once
#pragma GCC system_header

#include_next <pthread.h>

#undef PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP
#undef PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP
#undef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
#define PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP { { (int)(1u << 31) } }
#define PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP { { 1 << 29 } }
#define PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP { { 0 } }

#ifndef __GLIBC__
// constants, as there: programs ask for macros by #ifdef
enum {
  PTHREAD_MUTEX_TIMED_NP = PTHREAD_MUTEX_NORMAL,
  PTHREAD_MUTEX_FAST_NP = PTHREAD_MUTEX_NORMAL,
  PTHREAD_MUTEX_RECURSIVE_NP = PTHREAD_MUTEX_RECURSIVE,
  PTHREAD_MUTEX_ERRORCHECK_NP = PTHREAD_MUTEX_ERRORCHECK,
  PTHREAD_MUTEX_ADAPTIVE_NP,
  PTHREAD_RWLOCK_PREFER_READER_NP = 0,
  PTHREAD_RWLOCK_PREFER_WRITER_NP,
  PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP,
  PTHREAD_RWLOCK_DEFAULT_NP = PTHREAD_RWLOCK_PREFER_READER_NP
};
#define PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP PTHREAD_RWLOCK_INITIALIZER
#ifdef __cplusplus
extern "C" {
#endif
int pthread_rwlockattr_setkind_np(pthread_rwlockattr_t *, int);
int pthread_rwlockattr_getkind_np(const pthread_rwlockattr_t *, int *);
#ifdef _GNU_SOURCE
int pthread_yield(void);
int pthread_mutex_clocklock(pthread_mutex_t *, clockid_t, const struct timespec *);
int pthread_cond_clockwait(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);
int pthread_rwlock_clockrdlock(pthread_rwlock_t *, clockid_t, const struct timespec *);
int pthread_rwlock_clockwrlock(pthread_rwlock_t *, clockid_t, const struct timespec *);
#endif
#ifdef __cplusplus
}
#endif
#endif
