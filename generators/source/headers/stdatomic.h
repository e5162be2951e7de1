// C's atomics as std::atomic, as in C++23, in C++20 too: libc++ refuses <stdatomic.h> beside
// <atomic> before that.
#pragma once
#pragma GCC system_header

#include <atomic>

#pragma push_macro("_LIBCPP_STD_VER")
#undef _LIBCPP_STD_VER
#define _LIBCPP_STD_VER 23
#include_next <stdatomic.h>
#pragma pop_macro("_LIBCPP_STD_VER")
