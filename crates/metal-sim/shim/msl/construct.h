// Conversions and constructors (specification 2.2.1, 2.12): what `float4(a, b.xy, 1)` becomes.
#pragma once
#pragma clang system_header
#include "packed.h"

namespace metal {
template <class V, class A>
MSIM_INLINE V msim_convert_vector(A a) {
  V result;
  for (int i = 0; i < msim_count<V>; i++) result[i] = msim_convert<msim_element<V>>(a[i]);
  return result;
}

// Copies a's components behind those that are there.
template <class V, class A>
MSIM_INLINE void msim_append(V& result, int& at, A a) {
  if constexpr (msim_count<A> == 1)
    result[at++] = msim_convert<msim_element<V>>(a);
  else
    for (int i = 0; i < msim_count<A>; i++) result[at++] = msim_convert<msim_element<V>>(a[i]);
}

// Any scalar gives all components; a vector must have as many; several arguments make them up.
template <class V, class... A>
MSIM_INLINE constexpr V msim_make(A... a) {
  constexpr int given = (0 + ... + msim_count<A>);
  if constexpr (msim_count<V> == 1) {
    static_assert(sizeof...(A) <= 1, "a scalar is made of one value");
    return (V(), ..., msim_convert<V>(a));
  } else if constexpr (sizeof...(A) == 0) {
    return V{};
  } else if constexpr (given == 1) {
    return V(msim_convert<msim_element<V>>(a)...);
  } else {
    static_assert(given >= msim_count<V>, "too few components in a vector's constructor");
    static_assert(given <= msim_count<V>, "too many components in a vector's constructor");
    if constexpr (sizeof...(A) == 1) {
      return (V{}, ..., msim_convert_vector<V>(a));
    } else if constexpr (sizeof...(A) == given && !__is_class(V)) {
      return V{msim_convert<msim_element<V>>(a)...};
    } else {
      V result;
      int at = 0;
      (msim_append(result, at, a), ...);
      return result;
    }
  }
}
template <class V>
MSIM_INLINE constexpr V msim_make(V value) {
  return value;
}

// The same bits as another type (specification 2.12.2).
template <class D, class S>
MSIM_INLINE D as_type(S value) {
  static_assert(sizeof(D) == sizeof(S), "as_type: both types must have the same size");
  return __builtin_bit_cast(D, value);
}

// static_cast, where half and bfloat convert to each other, and vectors component by component.
template <class D, class S>
MSIM_INLINE constexpr D msim_static_cast(S&& value) {
  if constexpr (__is_reference(D)) {
    return static_cast<D>(static_cast<S&&>(value));
  } else if constexpr (msim_count<remove_cv_t<D>> > 1) {
    return msim_make<remove_cv_t<D>>(value);
  } else if constexpr (__is_same(remove_cv_t<D>, bfloat) || __is_same(remove_cv_t<D>, half)) {
    return msim_make<remove_cv_t<D>>(value);
  } else {
    return static_cast<D>(static_cast<S&&>(value));
  }
}

// `(float4)x` converts component by component; clang's cast does not. The generator writes it as
// `+(msim_cast<float4>)x`, which binds as tightly.
template <class T>
struct msim_cast {
  template <class S>
  MSIM_INLINE explicit constexpr msim_cast(const S& from) : value(msim_static_cast<T>(from)) {}
  MSIM_INLINE constexpr T operator+() const { return value; }
  T value;
};
}  // namespace metal
using metal::as_type;
using metal::msim_cast;
using metal::msim_make;
using metal::msim_static_cast;
