// <sched.h> with the function of glibc that musl does not declare.
#pragma once
#pragma GCC system_header

#include_next <sched.h>

#if !defined __GLIBC__ && defined _GNU_SOURCE
#ifdef __cplusplus
extern "C" {
#endif
int getcpu(unsigned *processor, unsigned *node);
#ifdef __cplusplus
}
#endif
#endif
