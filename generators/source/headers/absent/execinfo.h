// musl has no <execinfo.h>; this is glibc's, which comes with zig.
#pragma GCC system_header
#include <sys/cdefs.h>
#include <generic-glibc/execinfo.h>
