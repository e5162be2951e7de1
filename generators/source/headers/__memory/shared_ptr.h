// std::atomic of std::shared_ptr and std::weak_ptr, which libc++ lacks. As in libstdc++, each object
// contains a lock, under which its pointer is copied; an order that asks for less is refused.
#pragma once
#pragma GCC system_header

#include_next <__memory/shared_ptr.h>

#if _LIBCPP_STD_VER >= 20
#include <__atomic/atomic.h>
#include <pthread.h>

extern "C" void weakspot_unsupported(const char*);

_LIBCPP_BEGIN_NAMESPACE_STD

template <class _Pointer>
class __weakspot_atomic_pointer {
  mutable pthread_mutex_t __m_ = {};
  _Pointer __p_;

  struct __guard {
    pthread_mutex_t& __m_;
    explicit __guard(pthread_mutex_t& __m) : __m_(__m) { pthread_mutex_lock(&__m_); }
    ~__guard() { pthread_mutex_unlock(&__m_); }
  };

  static void __check(memory_order __order, memory_order __least) {
    if (__order != __least && __order != memory_order_acq_rel && __order != memory_order_seq_cst)
      weakspot_unsupported("an order weaker than acquire or release, on an atomic shared_ptr, is not supported");
  }
  static bool __same(const _Pointer& __a, const _Pointer& __b) {
    return !__a.owner_before(__b) && !__b.owner_before(__a) && __get(__a) == __get(__b);
  }
  template <class _Tp>
  static _Tp* __get(const shared_ptr<_Tp>& __p) { return __p.get(); }
  template <class _Tp>
  static void* __get(const weak_ptr<_Tp>&) { return nullptr; }

public:
  using value_type = _Pointer;
  static constexpr bool is_always_lock_free = false;

  constexpr __weakspot_atomic_pointer() noexcept = default;
  constexpr __weakspot_atomic_pointer(nullptr_t) noexcept {}
  __weakspot_atomic_pointer(_Pointer __p) noexcept : __p_(std::move(__p)) {}
  __weakspot_atomic_pointer(const __weakspot_atomic_pointer&) = delete;
  void operator=(const __weakspot_atomic_pointer&) = delete;
  void operator=(_Pointer __p) noexcept { store(std::move(__p)); }
  operator _Pointer() const noexcept { return load(); }
  bool is_lock_free() const noexcept { return false; }

  _Pointer load(memory_order __order = memory_order_seq_cst) const noexcept {
    __check(__order, memory_order_acquire);
    __guard __held(__m_);
    return __p_;
  }
  /// What was stored before is released after the lock is.
  void store(_Pointer __p, memory_order __order = memory_order_seq_cst) noexcept {
    __check(__order, memory_order_release);
    __guard __held(__m_);
    __p_.swap(__p);
  }
  _Pointer exchange(_Pointer __p, memory_order __order = memory_order_seq_cst) noexcept {
    __check(__order, memory_order_acq_rel);
    __guard __held(__m_);
    __p_.swap(__p);
    return __p;
  }
  bool compare_exchange_strong(_Pointer& __expected, _Pointer __desired, memory_order __success,
                               memory_order __failure) noexcept {
    __check(__success, memory_order_acq_rel);
    __check(__failure, memory_order_acquire);
    _Pointer __now;
    {
      __guard __held(__m_);
      if (__same(__p_, __expected)) {
        __p_.swap(__desired);
        return true;
      }
      __now = __p_;
    }
    __expected = std::move(__now);
    return false;
  }
  bool compare_exchange_strong(_Pointer& __expected, _Pointer __desired,
                               memory_order __order = memory_order_seq_cst) noexcept {
    return compare_exchange_strong(__expected, std::move(__desired), __order,
                                   __order == memory_order_acq_rel ? memory_order_acquire : __order);
  }
  bool compare_exchange_weak(_Pointer& __expected, _Pointer __desired, memory_order __success,
                             memory_order __failure) noexcept {
    return compare_exchange_strong(__expected, std::move(__desired), __success, __failure);
  }
  bool compare_exchange_weak(_Pointer& __expected, _Pointer __desired,
                             memory_order __order = memory_order_seq_cst) noexcept {
    return compare_exchange_strong(__expected, std::move(__desired), __order);
  }
  void wait(_Pointer __old, memory_order __order = memory_order_seq_cst) const noexcept {
    while (__same(load(__order), __old)) {
    }
  }
  void notify_one() noexcept {}
  void notify_all() noexcept {}
};

template <class _Tp>
struct atomic<shared_ptr<_Tp>> : __weakspot_atomic_pointer<shared_ptr<_Tp>> {
  using __weakspot_atomic_pointer<shared_ptr<_Tp>>::__weakspot_atomic_pointer;
  using __weakspot_atomic_pointer<shared_ptr<_Tp>>::operator=;
  constexpr atomic() noexcept = default;
};
template <class _Tp>
struct atomic<weak_ptr<_Tp>> : __weakspot_atomic_pointer<weak_ptr<_Tp>> {
  using __weakspot_atomic_pointer<weak_ptr<_Tp>>::__weakspot_atomic_pointer;
  using __weakspot_atomic_pointer<weak_ptr<_Tp>>::operator=;
  constexpr atomic() noexcept = default;
};

_LIBCPP_END_NAMESPACE_STD
#endif
