// std::call_once: the function runs under a lock of the flag's own. libc++ has one lock for all
// flags, which would order what the standard does not.
#pragma once
#pragma GCC system_header

#include <__config>
#include <__functional/invoke.h>
#include <__utility/forward.h>
#include <pthread.h>

_LIBCPP_BEGIN_NAMESPACE_STD

struct once_flag {
  constexpr once_flag() noexcept = default;
  once_flag(const once_flag&) = delete;
  once_flag& operator=(const once_flag&) = delete;

  pthread_mutex_t __m_ = {};
  bool __done_ = false;
};

template <class _Function, class... _Args>
void call_once(once_flag& __flag, _Function&& __function, _Args&&... __args) {
  struct __guard {
    pthread_mutex_t& __m_;
    __guard(pthread_mutex_t& __m) : __m_(__m) { pthread_mutex_lock(&__m_); }
    ~__guard() { pthread_mutex_unlock(&__m_); }
  } __held(__flag.__m_);
  if (!__flag.__done_) {
    std::__invoke(std::forward<_Function>(__function), std::forward<_Args>(__args)...);
    __flag.__done_ = true;
  }
}

_LIBCPP_END_NAMESPACE_STD
