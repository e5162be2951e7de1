// std::thread::id, of which libc++'s own class of a thread is a friend under its other name too.
#pragma once
#pragma GCC system_header

#include <__compare/ordering.h>
#include <__config>
#include <__fwd/functional.h>
#include <__fwd/ostream.h>
#include <__thread/support.h>

#define thread                                                                                     \
  thread;                                                                                          \
  friend class __libcpp_thread
#include_next <__thread/id.h>
#undef thread
