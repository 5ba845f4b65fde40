// bool2, bool3, bool4 (specification 2.2): one byte a component, unlike clang's vectors of bits.
// clang compares vectors to integers of 0 and -1, which convert to these.
#pragma once
#pragma clang system_header
#include "types.h"

namespace metal {
template <int N>
struct msim_fields;
template <>
struct msim_fields<2> {
  bool x, y;
};
template <>
struct msim_fields<3> {
  bool x, y, z;
};
template <>
struct msim_fields<4> {
  bool x, y, z, w;
};

template <int N>
struct alignas(N == 3 ? 4 : N) msim_booleans : msim_fields<N> {
  msim_booleans() = default;
  MSIM_INLINE msim_booleans(bool value) {
    for (int i = 0; i < N; i++) (*this)[i] = value;
  }
  template <class T, enable_if_t<msim_is_integer<T>, int> = 0>
  MSIM_INLINE msim_booleans(vec<T, N> comparison) {
    for (int i = 0; i < N; i++) (*this)[i] = comparison[i] != 0;
  }
#ifdef MSIM_STRICT
  msim_booleans(const msim_booleans&) = default;
  msim_booleans(device const msim_booleans&);
  msim_booleans(threadgroup const msim_booleans&);
  msim_booleans(constant msim_booleans&);
  msim_booleans& operator=(const msim_booleans&) = default;
  template <class S>
  void operator=(this S& self, type_identity_t<msim_booleans> other);
#endif
  template <class S>
  MSIM_INLINE auto& operator[](this S&& self, int i) {
    return (&self.x)[i];
  }
  MSIM_INLINE msim_booleans operator!() const {
    msim_booleans result;
    for (int i = 0; i < N; i++) result[i] = !(*this)[i];
    return result;
  }
#define MSIM_BOOLEAN_OPERATOR(op)                                                  \
  friend MSIM_INLINE msim_booleans operator op(msim_booleans a, msim_booleans b) { \
    msim_booleans result;                                                          \
    for (int i = 0; i < N; i++) result[i] = bool(int(a[i]) op int(b[i]));          \
    return result;                                                                 \
  }
  MSIM_BOOLEAN_OPERATOR(&)
  MSIM_BOOLEAN_OPERATOR(|)
  MSIM_BOOLEAN_OPERATOR(^)
  MSIM_BOOLEAN_OPERATOR(&&)
  MSIM_BOOLEAN_OPERATOR(||)
  MSIM_BOOLEAN_OPERATOR(==)
  MSIM_BOOLEAN_OPERATOR(!=)
#undef MSIM_BOOLEAN_OPERATOR
};

template <int N>
struct msim_shape<msim_booleans<N>> {
  typedef bool element;
  static constexpr int count = N;
};
}  // namespace metal

typedef metal::msim_booleans<2> bool2;
typedef metal::msim_booleans<3> bool3;
typedef metal::msim_booleans<4> bool4;
namespace metal {
using ::bool2;
using ::bool3;
using ::bool4;
}  // namespace metal
