// <features.h>, which all of the C library's headers include. glibc's includes <sys/cdefs.h>, whose
// macros programs use without naming it, takes _GNU_SOURCE for off64_t, fseeko64 and the like too, and has
// macros that compare versions; there is no version of glibc here. What _GNU_SOURCE includes has macros
// of its own, by which programs see what is declared.
#pragma once
#pragma GCC system_header

#ifdef _GNU_SOURCE
#undef _DEFAULT_SOURCE
#undef _ISOC99_SOURCE
#undef _ISOC11_SOURCE
#undef _POSIX_C_SOURCE
#undef _XOPEN_SOURCE
#undef _LARGEFILE64_SOURCE
#define _DEFAULT_SOURCE 1
#define _ISOC99_SOURCE 1
#define _ISOC11_SOURCE 1
#define _POSIX_C_SOURCE 200809L
#define _XOPEN_SOURCE 700
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
