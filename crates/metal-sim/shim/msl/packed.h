// Packed vectors (specification 2.2.3): aligned as one component is.
#pragma once
#pragma clang system_header
#include "boolean.h"

namespace metal {
template <class T, int N>
struct msim_packed_fields;
template <class T>
struct msim_packed_fields<T, 2> {
  T x, y;
};
template <class T>
struct msim_packed_fields<T, 3> {
  T x, y, z;
};
template <class T>
struct msim_packed_fields<T, 4> {
  T x, y, z, w;
};

template <class T, int N>
struct packed_vec : msim_packed_fields<T, N> {
  typedef vec<T, N> plain;
  packed_vec() = default;
  MSIM_INLINE packed_vec(plain value) {
    for (int i = 0; i < N; i++) (*this)[i] = value[i];
  }
  packed_vec(const packed_vec&) = default;
  packed_vec& operator=(const packed_vec&) = default;
#ifdef MSIM_STRICT
  packed_vec(device const packed_vec&);
  packed_vec(threadgroup const packed_vec&);
  packed_vec(constant packed_vec&);
#endif
  // Explicit objects: the same for an object in any address space.
  template <class S>
  MSIM_INLINE auto& operator[](this S&& self, int i) {
    return (&self.x)[i];
  }
  template <class S>
  MSIM_INLINE operator plain(this const S& self) {
    plain value;
    for (int i = 0; i < N; i++) value[i] = self[i];
    return value;
  }
  template <class S>
  MSIM_INLINE void operator=(this S& self, plain value) {
    for (int i = 0; i < N; i++) self[i] = value[i];
  }
#define MSIM_PACKED_ASSIGNMENT(op)                              \
  template <class S>                                            \
  MSIM_INLINE void operator op##=(this S & self, plain value) { \
    self = plain(self) op value;                                \
  }
  MSIM_PACKED_ASSIGNMENT(+)
  MSIM_PACKED_ASSIGNMENT(-)
  MSIM_PACKED_ASSIGNMENT(*)
  MSIM_PACKED_ASSIGNMENT(/)
#undef MSIM_PACKED_ASSIGNMENT
};

template <class T, int N>
struct msim_shape<packed_vec<T, N>> {
  typedef T element;
  static constexpr int count = N;
};

template <class T>
MSIM_INLINE T msim_plain(T value) {
  return value;
}
template <class T, int N>
MSIM_INLINE vec<T, N> msim_plain(packed_vec<T, N> value) {
  return value;
}
template <class T>
constexpr bool msim_is_packed = false;
template <class T, int N>
constexpr bool msim_is_packed<packed_vec<T, N>> = true;

#define MSIM_PACKED_OPERATOR(op)                                                            \
  template <class A, class B, enable_if_t<msim_is_packed<A> || msim_is_packed<B>, int> = 0> \
  MSIM_INLINE auto operator op(A a, B b) {                                                  \
    return msim_plain(a) op msim_plain(b);                                                  \
  }
MSIM_PACKED_OPERATOR(+)
MSIM_PACKED_OPERATOR(-)
MSIM_PACKED_OPERATOR(*)
MSIM_PACKED_OPERATOR(/)
MSIM_PACKED_OPERATOR(%)
MSIM_PACKED_OPERATOR(&)
MSIM_PACKED_OPERATOR(|)
MSIM_PACKED_OPERATOR(^)
MSIM_PACKED_OPERATOR(<<)
MSIM_PACKED_OPERATOR(>>)
MSIM_PACKED_OPERATOR(==)
MSIM_PACKED_OPERATOR(!=)
MSIM_PACKED_OPERATOR(<)
MSIM_PACKED_OPERATOR(<=)
MSIM_PACKED_OPERATOR(>)
MSIM_PACKED_OPERATOR(>=)
#undef MSIM_PACKED_OPERATOR

template <class T, int N>
MSIM_INLINE vec<T, N> operator-(packed_vec<T, N> value) {
  return -msim_plain(value);
}
}  // namespace metal

#define MSIM_PACKED_TYPES(T)                     \
  typedef metal::packed_vec<T, 2> packed_##T##2; \
  typedef metal::packed_vec<T, 3> packed_##T##3; \
  typedef metal::packed_vec<T, 4> packed_##T##4; \
  namespace metal {                              \
  using ::packed_##T##2;                         \
  using ::packed_##T##3;                         \
  using ::packed_##T##4;                         \
  }
MSIM_ELEMENTS(MSIM_PACKED_TYPES)
#undef MSIM_PACKED_TYPES
