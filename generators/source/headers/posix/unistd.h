// <unistd.h> with the names of glibc's that musl does not have.
#pragma once
#pragma GCC system_header

#include_next <unistd.h>

#ifndef _SC_LEVEL1_DCACHE_LINESIZE
#define _SC_LEVEL1_DCACHE_LINESIZE 190
#endif
#if defined _GNU_SOURCE && !defined TEMP_FAILURE_RETRY
#define TEMP_FAILURE_RETRY(expression)                   \
  (__extension__({                                       \
    long weakspot_result;                                \
    do                                                   \
      weakspot_result = (long)(expression);              \
    while (weakspot_result == -1L && errno == EINTR);    \
    weakspot_result;                                     \
  }))
#endif
