// <semaphore.h> with the function of glibc that musl does not declare.
#pragma once
#pragma GCC system_header

#include_next <semaphore.h>

#if !defined __GLIBC__ && defined _GNU_SOURCE
#ifdef __cplusplus
extern "C" {
#endif
int sem_clockwait(sem_t *, clockid_t, const struct timespec *);
#ifdef __cplusplus
}
#endif
#endif
