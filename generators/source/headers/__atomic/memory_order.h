// std::memory_order of C++20, with the names that its members have in older versions.
#ifndef _LIBCPP___ATOMIC_MEMORY_ORDER_H
#define _LIBCPP___ATOMIC_MEMORY_ORDER_H

#include <__config>
#include <__type_traits/underlying_type.h>

#pragma GCC system_header

_LIBCPP_BEGIN_NAMESPACE_STD

enum __legacy_memory_order { __mo_relaxed, __mo_consume, __mo_acquire, __mo_release, __mo_acq_rel, __mo_seq_cst };

using __memory_order_underlying_t = __underlying_type_t<__legacy_memory_order>;

enum class memory_order : __memory_order_underlying_t {
  relaxed, consume, acquire, release, acq_rel, seq_cst,
  memory_order_relaxed = relaxed,
  memory_order_consume = consume,
  memory_order_acquire = acquire,
  memory_order_release = release,
  memory_order_acq_rel = acq_rel,
  memory_order_seq_cst = seq_cst,
};

inline constexpr auto memory_order_relaxed = memory_order::relaxed;
inline constexpr auto memory_order_consume = memory_order::consume;
inline constexpr auto memory_order_acquire = memory_order::acquire;
inline constexpr auto memory_order_release = memory_order::release;
inline constexpr auto memory_order_acq_rel = memory_order::acq_rel;
inline constexpr auto memory_order_seq_cst = memory_order::seq_cst;

_LIBCPP_END_NAMESPACE_STD

#endif
