// Vector types (specification 2.2) and what the rest of the library asks about them.
#pragma once
#pragma clang system_header
#include "traits.h"

#define MSIM_VECTOR_TYPES(T)                          \
  typedef T T##2 __attribute__((ext_vector_type(2))); \
  typedef T T##3 __attribute__((ext_vector_type(3))); \
  typedef T T##4 __attribute__((ext_vector_type(4)));
MSIM_ELEMENTS(MSIM_VECTOR_TYPES)
#undef MSIM_VECTOR_TYPES

namespace metal {
#define MSIM_VECTOR_NAMES(T) \
  using ::T##2;              \
  using ::T##3;              \
  using ::T##4;
MSIM_ELEMENTS(MSIM_VECTOR_NAMES)
#undef MSIM_VECTOR_NAMES

// An alias of the very type, so that template arguments are deduced through it.
template <class T, int N>
using vec = T __attribute__((ext_vector_type(N)));

// A scalar has itself as its one element.
template <class V>
struct msim_shape {
  typedef V element;
  static constexpr int count = 1;
};
template <class T, int N>
struct msim_shape<T __attribute__((ext_vector_type(N)))> {
  typedef T element;
  static constexpr int count = N;
};
template <class V>
using msim_element = typename msim_shape<V>::element;
template <class V>
constexpr int msim_count = msim_shape<V>::count;

template <class V>
struct vec_elements : integral_constant<int, msim_count<V>> {};
template <class V>
struct is_vector : bool_constant<(msim_count<V> > 1)> {};

template <class T>
constexpr bool msim_is_integer = __is_integral(T) && !__is_same(T, bool);
template <class T>
constexpr bool msim_is_float = __is_same(T, float) || __is_same(T, half);
// What `T` means for collectives: integers, float, half, and vectors of these.
template <class V>
constexpr bool msim_is_number = msim_is_integer<msim_element<V>> || msim_is_float<msim_element<V>>;

// Conversion of a scalar; half and bfloat meet in float.
template <class D, class S>
MSIM_INLINE constexpr D msim_convert(S value) {
  if constexpr ((__is_same(D, bfloat) && __is_same(S, half)) ||
                (__is_same(D, half) && __is_same(S, bfloat)))
    return (D)(float)value;
  else
    return (D)value;
}

// f on each element of a vector, or on a scalar.
template <class V, class F, class... A>
MSIM_INLINE V msim_each(F f, A... a) {
  if constexpr (msim_count<V> == 1) {
    return f(a...);
  } else {
    V result;
    for (int i = 0; i < msim_count<V>; i++) result[i] = f(a[i]...);
    return result;
  }
}
}  // namespace metal
