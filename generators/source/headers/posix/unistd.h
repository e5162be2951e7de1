// <unistd.h> with the name of sysconf for the size of a cache line, which musl does not have.
#pragma once
#pragma GCC system_header

#include_next <unistd.h>

#ifndef _SC_LEVEL1_DCACHE_LINESIZE
#define _SC_LEVEL1_DCACHE_LINESIZE 190
#endif
