// <pthread.h> with glibc's static initialisers of mutexes, which musl does not have. The first word is
// the state that the engine begins with: that of a free mutex of the type.
#pragma once
#pragma GCC system_header

#include_next <pthread.h>

#undef PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP
#undef PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP
#undef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
#define PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP { { (int)(1u << 31) } }
#define PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP { { 1 << 29 } }
#define PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP { { 0 } }
