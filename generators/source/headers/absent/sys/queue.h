// musl has no <sys/queue.h>; this is glibc's, which comes with zig.
#pragma GCC system_header
#include <generic-glibc/sys/queue.h>
