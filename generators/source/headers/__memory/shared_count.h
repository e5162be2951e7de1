// The counts of std::shared_ptr, with what the library keeps in its binary.
#pragma once
#pragma GCC system_header

#include_next <__memory/shared_count.h>

_LIBCPP_BEGIN_NAMESPACE_STD

inline __shared_count::~__shared_count() {}
inline __shared_weak_count::~__shared_weak_count() {}
inline const void* __shared_weak_count::__get_deleter(const type_info&) const noexcept { return nullptr; }

inline void __shared_weak_count::__release_weak() noexcept {
  if (__libcpp_atomic_refcount_decrement(__shared_weak_owners_) == -1)
    __on_zero_shared_weak();
}

inline __shared_weak_count* __shared_weak_count::lock() noexcept {
  long __owners = __atomic_load_n(&__shared_owners_, __ATOMIC_SEQ_CST);
  while (__owners != -1) {
    if (__atomic_compare_exchange_n(
            &__shared_owners_, &__owners, __owners + 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
      return this;
  }
  return nullptr;
}

_LIBCPP_END_NAMESPACE_STD
