// <features.h>, which all of the C library's headers include. glibc's includes <sys/cdefs.h>, whose
// macros programs use without naming it, and takes _GNU_SOURCE for off64_t, fseeko64 and the like too.
#pragma once
#pragma GCC system_header

#if defined(_GNU_SOURCE) && !defined(_LARGEFILE64_SOURCE)
#define _LARGEFILE64_SOURCE 1
#endif
#include_next <features.h>
#include <sys/cdefs.h>
