// Atomics (specification 6.15): relaxed, in device or threadgroup memory.
#pragma once
#pragma clang system_header
#include "runtime.h"
#include "traits.h"

// In checked runs the runtime is told that an access is atomic; the compiler's own hook is off
// here, and out of line so that the return address is the place of the call.
#ifdef MSIM_CHECKED
#define MSIM_ATOMIC_FUNCTION MSIM_UNWATCHED __attribute__((noinline))
#define MSIM_ATOMIC_ACCESS(bits)                                          \
  msim_runtime->access(MSIM_ADDRESS(at), sizeof(T), MSIM_ATOMIC | (bits), \
                       MSIM_ADDRESS(__builtin_return_address(0)))
#else
#define MSIM_ATOMIC_FUNCTION MSIM_INLINE
#define MSIM_ATOMIC_ACCESS(bits) (void)0
#endif

namespace metal {
enum memory_order { memory_order_relaxed = 0 };

template <class T>
struct atomic {
  static_assert(__is_same(T, int) || __is_same(T, uint) || __is_same(T, float) ||
                    __is_same(T, bool) || __is_same(T, ulong),
                "atomic<T>: T is int, uint, float, bool or ulong");
  atomic() = default;
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;
  // Atomics are read and written by functions alone, wherever they lie.
  template <class S>
  operator T(this const S& self) = delete;
  template <class S>
  void operator=(this S& self, T value) = delete;
  T msim_value;
};
typedef atomic<int> atomic_int;
typedef atomic<uint> atomic_uint;
typedef atomic<bool> atomic_bool;
typedef atomic<float> atomic_float;
typedef atomic<ulong> atomic_ulong;

template <class T>
MSIM_ATOMIC_FUNCTION static T msim_load(T* at) {
  MSIM_ATOMIC_ACCESS(MSIM_READ);
  T value;
  __atomic_load(at, &value, __ATOMIC_RELAXED);
  return value;
}
template <class T>
MSIM_ATOMIC_FUNCTION static void msim_store(T* at, T value) {
  MSIM_ATOMIC_ACCESS(MSIM_WRITE);
  __atomic_store(at, &value, __ATOMIC_RELAXED);
}
template <class T>
MSIM_ATOMIC_FUNCTION static T msim_exchange(T* at, T value) {
  MSIM_ATOMIC_ACCESS(MSIM_WRITE);
  T old;
  __atomic_exchange(at, &value, &old, __ATOMIC_RELAXED);
  return old;
}
template <class T>
MSIM_ATOMIC_FUNCTION static bool msim_compare_exchange(T* at, T* expected, T desired) {
  MSIM_ATOMIC_ACCESS(MSIM_WRITE);
  return __atomic_compare_exchange(at, expected, &desired, true, __ATOMIC_RELAXED,
                                   __ATOMIC_RELAXED);
}
// Any read, change and write, by F.
template <class F, class T>
MSIM_ATOMIC_FUNCTION static T msim_change(T* at, T operand) {
  MSIM_ATOMIC_ACCESS(MSIM_WRITE);
  T old, changed;
  __atomic_load(at, &old, __ATOMIC_RELAXED);
  do changed = F::of(old, operand);
  while (!__atomic_compare_exchange(at, &old, &changed, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return old;
}

#define MSIM_CHANGE(name, expression)   \
  struct msim_##name {                  \
    template <class T>                  \
    static MSIM_INLINE T of(T x, T y) { \
      return T(expression);             \
    }                                   \
  };
// Sums of int wrap.
template <class T>
using msim_sum_type = typename conditional_t<__is_same(T, int), type_identity<uint>,
                                             type_identity<T>>::type;
MSIM_CHANGE(add, msim_sum_type<T>(x) + msim_sum_type<T>(y))
MSIM_CHANGE(sub, msim_sum_type<T>(x) - msim_sum_type<T>(y))
MSIM_CHANGE(min, y < x ? y : x)
MSIM_CHANGE(max, x < y ? y : x)
MSIM_CHANGE(and, x & y)
MSIM_CHANGE(or, x | y)
MSIM_CHANGE(xor, x ^ y)
#undef MSIM_CHANGE

template <class T>
constexpr bool msim_is_word = __is_same(T, int) || __is_same(T, uint);
template <class T>
constexpr bool msim_can_add = msim_is_word<T> || __is_same(T, float);
template <class T>
constexpr bool msim_can_combine = msim_is_word<T> || __is_same(T, bool);
// All but ulong, which has min and max alone.
template <class T>
constexpr bool msim_can_load = !__is_same(T, ulong);

#define MSIM_ATOMIC_AT(object) ((T*)MSIM_ADDRESS(&(object)->msim_value))
#define MSIM_FETCH(space, name, condition)                                                 \
  template <class T, enable_if_t<condition<T>, int> = 0>                                   \
  MSIM_INLINE T atomic_fetch_##name##_explicit(volatile space atomic<T>* object,           \
                                               type_identity_t<T> operand, memory_order) { \
    return msim_change<msim_##name>(MSIM_ATOMIC_AT(object), operand);                      \
  }
#define MSIM_ATOMICS(space)                                                                  \
  template <class T, enable_if_t<msim_can_load<T>, int> = 0>                                 \
  MSIM_INLINE T atomic_load_explicit(const volatile space atomic<T>* object, memory_order) { \
    return msim_load(MSIM_ATOMIC_AT(object));                                                \
  }                                                                                          \
  template <class T, enable_if_t<msim_can_load<T>, int> = 0>                                 \
  MSIM_INLINE void atomic_store_explicit(volatile space atomic<T>* object,                   \
                                         type_identity_t<T> desired, memory_order) {         \
    msim_store(MSIM_ATOMIC_AT(object), desired);                                             \
  }                                                                                          \
  template <class T, enable_if_t<msim_can_load<T>, int> = 0>                                 \
  MSIM_INLINE T atomic_exchange_explicit(volatile space atomic<T>* object,                   \
                                         type_identity_t<T> desired, memory_order) {         \
    return msim_exchange(MSIM_ATOMIC_AT(object), desired);                                   \
  }                                                                                          \
  template <class T, enable_if_t<msim_can_load<T>, int> = 0>                                 \
  MSIM_INLINE bool atomic_compare_exchange_weak_explicit(                                    \
      volatile space atomic<T>* object, thread type_identity_t<T>* expected,                 \
      type_identity_t<T> desired, memory_order, memory_order) {                              \
    return msim_compare_exchange(MSIM_ATOMIC_AT(object), expected, desired);                 \
  }                                                                                          \
  MSIM_FETCH(space, add, msim_can_add)                                                       \
  MSIM_FETCH(space, sub, msim_can_add)                                                       \
  MSIM_FETCH(space, min, msim_is_word)                                                       \
  MSIM_FETCH(space, max, msim_is_word)                                                       \
  MSIM_FETCH(space, and, msim_can_combine)                                                   \
  MSIM_FETCH(space, or, msim_can_combine)                                                    \
  MSIM_FETCH(space, xor, msim_can_combine)
MSIM_WRITABLE_SPACES(MSIM_ATOMICS)
#undef MSIM_ATOMICS
#undef MSIM_FETCH

// 64-bit minimum and maximum, in device memory alone.
MSIM_INLINE void atomic_min_explicit(volatile device atomic<ulong>* object, ulong y, memory_order) {
  msim_change<msim_min>((ulong*)MSIM_ADDRESS(&object->msim_value), y);
}
MSIM_INLINE void atomic_max_explicit(volatile device atomic<ulong>* object, ulong y, memory_order) {
  msim_change<msim_max>((ulong*)MSIM_ADDRESS(&object->msim_value), y);
}
#undef MSIM_ATOMIC_AT
}  // namespace metal
