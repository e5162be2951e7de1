// <features.h>, which all of the C library's headers include. glibc's includes <sys/cdefs.h>, whose
// macros programs use without naming it, takes _GNU_SOURCE for off64_t, fseeko64 and the like too, and has
// macros that compare versions; there is no version of glibc here.
#pragma once
#pragma GCC system_header

#if defined(_GNU_SOURCE) && !defined(_LARGEFILE64_SOURCE)
#define _LARGEFILE64_SOURCE 1
#endif
#include_next <features.h>
#include <sys/cdefs.h>

#ifndef __GLIBC_PREREQ
#define __GLIBC_PREREQ(major, minor) 0
#endif
#ifndef __GNUC_PREREQ
#define __GNUC_PREREQ(major, minor) (__GNUC__ > (major) || (__GNUC__ == (major) && __GNUC_MINOR__ >= (minor)))
#endif
