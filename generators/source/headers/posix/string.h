// <string.h> with strerror_r as glibc has it: with _GNU_SOURCE, it returns the text; else it is
// another function, under glibc's name of that.
#pragma once
#pragma GCC system_header

#ifdef __GLIBC__
#include_next <string.h>
#else
#define strerror_r __xpg_strerror_r
#include_next <string.h>
#undef strerror_r
#ifdef __cplusplus
extern "C" {
#endif
#ifdef _GNU_SOURCE
char *strerror_r(int, char *, __SIZE_TYPE__);
#else
int strerror_r(int, char *, __SIZE_TYPE__) __asm__("__xpg_strerror_r");
#endif
#ifdef __cplusplus
}
#endif
#endif
