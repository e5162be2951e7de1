// How std::atomic's wait sleeps, and what notify wakes. A wait returns when it has read another value;
// it reads once more when it was notified. Semaphores and latches, whose release the standard lets
// every waiting thread see, read until they may continue.
#pragma once
#pragma GCC system_header

#include <__atomic/atomic_waitable_traits.h>
#include <__atomic/contention_t.h>
#include <__atomic/memory_order.h>
#include <__atomic/to_gcc_order.h>
#include <__chrono/duration.h>
#include <__config>
#include <__memory/addressof.h>
#include <__thread/poll_with_backoff.h>
#include <__type_traits/conjunction.h>
#include <__type_traits/decay.h>
#include <__type_traits/invoke.h>
#include <__type_traits/is_same.h>
#include <__type_traits/void_t.h>
#include <__utility/declval.h>
#include <cstring>
#include <new> // as libstdc++'s <atomic> does, on which sources rely

#if _LIBCPP_STD_VER >= 20

extern "C" {
unsigned weakspot_begin_sleep(const volatile void*) noexcept;
void weakspot_sleep(const volatile void*, int) noexcept;
unsigned long weakspot_wake(const volatile void*, unsigned, unsigned) noexcept;
void weakspot_discard(void) noexcept;
}

_LIBCPP_BEGIN_NAMESPACE_STD

template <class _AtomicWaitable, class _Poll>
_LIBCPP_HIDE_FROM_ABI void __atomic_wait_unless(const _AtomicWaitable& __a, memory_order __order, _Poll&& __poll) {
  using __traits _LIBCPP_NODEBUG = __atomic_waitable_traits<__decay_t<_AtomicWaitable> >;
  while (true) {
    auto __current = __traits::__atomic_load(__a, __order);
    if (__poll(__current))
      return;
  }
}

template <class _AtomicWaitable>
_LIBCPP_HIDE_FROM_ABI void __atomic_notify_one(const _AtomicWaitable& __a) {
  weakspot_wake(__atomic_waitable_traits<__decay_t<_AtomicWaitable> >::__atomic_contention_address(__a), 1, ~0u);
}

template <class _AtomicWaitable>
_LIBCPP_HIDE_FROM_ABI void __atomic_notify_all(const _AtomicWaitable& __a) {
  weakspot_wake(__atomic_waitable_traits<__decay_t<_AtomicWaitable> >::__atomic_contention_address(__a), ~0u, ~0u);
}

template <typename _Tp>
_LIBCPP_HIDE_FROM_ABI bool __cxx_nonatomic_compare_equal(_Tp const& __lhs, _Tp const& __rhs) {
  return std::memcmp(std::addressof(__lhs), std::addressof(__rhs), sizeof(_Tp)) == 0;
}

// A value that has changed before the thread sleeps is what its first comparison could have read.
template <class _AtomicWaitable, class _Tp>
_LIBCPP_HIDE_FROM_ABI void __atomic_wait(_AtomicWaitable& __a, _Tp __val, memory_order __order) {
  using __traits _LIBCPP_NODEBUG = __atomic_waitable_traits<__decay_t<_AtomicWaitable> >;
  while (true) {
    auto __current = __traits::__atomic_load(__a, __order);
    if (!std::__cxx_nonatomic_compare_equal(__current, __val))
      return;
    if (!weakspot_begin_sleep(__traits::__atomic_contention_address(__a)))
      continue;
    __current = __traits::__atomic_load(__a, memory_order_relaxed);
    if (!std::__cxx_nonatomic_compare_equal(__current, __val))
      weakspot_discard();
    weakspot_sleep(__traits::__atomic_contention_address(__a), 1);
  }
}

_LIBCPP_END_NAMESPACE_STD

#endif
