// std::thread without the record that libc++ allocates for each of them: std::thread is otherwise
// read as it is. A thread costs one allocation, as its closure, and no thread-local storage.
// A thread's id is printed without the string streams that libc++ includes here, which took two
// thirds of the time to compile; a source that relies on them is compiled again with them.
#pragma once
#pragma GCC system_header

#include <__assert>
#include <__condition_variable/condition_variable.h>
#include <__config>
#include <__exception/terminate.h>
#include <__functional/hash.h>
#include <__functional/invoke.h>
#include <__functional/unary_function.h>
#include <__fwd/ostream.h>
#include <__memory/addressof.h>
#include <__memory/unique_ptr.h>
#include <__mutex/mutex.h>
#include <__system_error/throw_system_error.h>
#include <__thread/id.h>
#include <__thread/support.h>
#include <__type_traits/decay.h>
#include <__type_traits/enable_if.h>
#include <__type_traits/invoke.h>
#include <__type_traits/is_constructible.h>
#include <__type_traits/is_same.h>
#include <__type_traits/remove_cvref.h>
#include <__utility/forward.h>
#include <__utility/integer_sequence.h>
#include <__utility/swap.h>
#include <exception>
#include <new>
#include <tuple>
#ifndef _LIBCPP_REMOVE_TRANSITIVE_INCLUDES
#  include <sstream>
#endif

// libc++'s own class keeps another name; what stands beside it stays, but for the printing of ids
#pragma push_macro("_LIBCPP___LOCALE")
#pragma push_macro("_LIBCPP_HAS_LOCALIZATION")
#undef _LIBCPP___LOCALE
#define _LIBCPP___LOCALE
#undef _LIBCPP_HAS_LOCALIZATION
#define _LIBCPP_HAS_LOCALIZATION 0
#define thread __libcpp_thread
#include_next <__thread/thread.h>
#undef thread
#pragma pop_macro("_LIBCPP_HAS_LOCALIZATION")
#pragma pop_macro("_LIBCPP___LOCALE")

_LIBCPP_BEGIN_NAMESPACE_STD

template <class _CharT, class _Traits>
basic_ostream<_CharT, _Traits>& operator<<(basic_ostream<_CharT, _Traits>& __os, __thread_id __id) {
  return __os << __id.__id_;
}

/// Takes the place of libc++'s record of a thread.
struct __weakspot_no_record {};

template <class _Call>
void* __weakspot_run(void* __argument) noexcept {
  _Call* __call = static_cast<_Call*>(__argument);
  std::__thread_execute(*__call, __make_index_sequence<tuple_size<_Call>::value - 1>());
#ifndef WEAKSPOT_ROUNDS // else it is run again
  delete __call;
#endif
  return nullptr;
}

class thread {
  pthread_t __t_ = 0;

public:
  using id = __thread_id;
  using native_handle_type = pthread_t;

  thread() noexcept = default;
  template <class _Function, class... _Args, __enable_if_t<!is_same<__remove_cvref_t<_Function>, thread>::value, int> = 0>
  explicit thread(_Function&& __function, _Args&&... __args) {
    typedef tuple<__weakspot_no_record, __decay_t<_Function>, __decay_t<_Args>...> _Call;
    pthread_create(&__t_, nullptr, __weakspot_run<_Call>,
                   new _Call(__weakspot_no_record(), std::forward<_Function>(__function), std::forward<_Args>(__args)...));
  }
  thread(thread&& __other) noexcept : __t_(__other.__t_) { __other.__t_ = 0; }
  thread& operator=(thread&& __other) noexcept {
    if (joinable())
      std::terminate();
    __t_ = __other.__t_;
    __other.__t_ = 0;
    return *this;
  }
  ~thread() {
    if (joinable())
      std::terminate();
  }

  void swap(thread& __other) noexcept { std::swap(__t_, __other.__t_); }
  bool joinable() const noexcept { return __t_ != 0; }
  void join() {
    pthread_join(__t_, nullptr);
    __t_ = 0;
  }
  void detach() {
    pthread_detach(__t_);
    __t_ = 0;
  }
  id get_id() const noexcept { return std::__libcpp_thread_get_id(&__t_); }
  native_handle_type native_handle() { return __t_; }
  static unsigned hardware_concurrency() noexcept { return 2; }
};
inline void swap(thread& __a, thread& __b) noexcept { __a.swap(__b); }

_LIBCPP_END_NAMESPACE_STD
