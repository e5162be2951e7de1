// <features.h>, which all of the C library's headers include. glibc's includes <sys/cdefs.h>, whose
// macros programs use without naming it.
#pragma once
#pragma GCC system_header

#include_next <features.h>
#include <sys/cdefs.h>
