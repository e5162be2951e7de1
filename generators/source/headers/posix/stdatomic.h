// <stdatomic.h> of C, whose operations take objects that are not _Atomic too, as gcc's do.
#pragma once
#pragma GCC system_header

#include_next <stdatomic.h>

#ifndef __cplusplus
#define __weakspot_atomic(object) ((_Atomic(__typeof_unqual__(*(object))) *)(object))
#define __weakspot_seq_cst(name, object, ...) \
  __c11_atomic_##name(__weakspot_atomic(object), ##__VA_ARGS__, __ATOMIC_SEQ_CST)
#define __weakspot_both(name, object, ...) \
  __weakspot_seq_cst(name, object, __VA_ARGS__, __ATOMIC_SEQ_CST)
#define __weakspot_explicit(name, object, ...) \
  __c11_atomic_##name(__weakspot_atomic(object), __VA_ARGS__)

#undef atomic_init
#undef atomic_load
#undef atomic_load_explicit
#undef atomic_store
#undef atomic_store_explicit
#undef atomic_exchange
#undef atomic_exchange_explicit
#undef atomic_compare_exchange_strong
#undef atomic_compare_exchange_strong_explicit
#undef atomic_compare_exchange_weak
#undef atomic_compare_exchange_weak_explicit
#undef atomic_fetch_add
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub
#undef atomic_fetch_sub_explicit
#undef atomic_fetch_or
#undef atomic_fetch_or_explicit
#undef atomic_fetch_xor
#undef atomic_fetch_xor_explicit
#undef atomic_fetch_and
#undef atomic_fetch_and_explicit

#define atomic_init(...) __weakspot_explicit(init, __VA_ARGS__)
#define atomic_load(object) __weakspot_seq_cst(load, object)
#define atomic_load_explicit(...) __weakspot_explicit(load, __VA_ARGS__)
#define atomic_store(...) __weakspot_seq_cst(store, __VA_ARGS__)
#define atomic_store_explicit(...) __weakspot_explicit(store, __VA_ARGS__)
#define atomic_exchange(...) __weakspot_seq_cst(exchange, __VA_ARGS__)
#define atomic_exchange_explicit(...) __weakspot_explicit(exchange, __VA_ARGS__)
#define atomic_compare_exchange_strong(...) __weakspot_both(compare_exchange_strong, __VA_ARGS__)
#define atomic_compare_exchange_strong_explicit(...) \
  __weakspot_explicit(compare_exchange_strong, __VA_ARGS__)
#define atomic_compare_exchange_weak(...) __weakspot_both(compare_exchange_weak, __VA_ARGS__)
#define atomic_compare_exchange_weak_explicit(...) \
  __weakspot_explicit(compare_exchange_weak, __VA_ARGS__)
#define atomic_fetch_add(...) __weakspot_seq_cst(fetch_add, __VA_ARGS__)
#define atomic_fetch_add_explicit(...) __weakspot_explicit(fetch_add, __VA_ARGS__)
#define atomic_fetch_sub(...) __weakspot_seq_cst(fetch_sub, __VA_ARGS__)
#define atomic_fetch_sub_explicit(...) __weakspot_explicit(fetch_sub, __VA_ARGS__)
#define atomic_fetch_or(...) __weakspot_seq_cst(fetch_or, __VA_ARGS__)
#define atomic_fetch_or_explicit(...) __weakspot_explicit(fetch_or, __VA_ARGS__)
#define atomic_fetch_xor(...) __weakspot_seq_cst(fetch_xor, __VA_ARGS__)
#define atomic_fetch_xor_explicit(...) __weakspot_explicit(fetch_xor, __VA_ARGS__)
#define atomic_fetch_and(...) __weakspot_seq_cst(fetch_and, __VA_ARGS__)
#define atomic_fetch_and_explicit(...) __weakspot_explicit(fetch_and, __VA_ARGS__)
#endif
