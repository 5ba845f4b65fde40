// Integer functions (specification 6.4).
#pragma once
#pragma clang system_header
#include "common.h"

namespace metal {
template <class V>
using msim_if_integers = enable_if_t<msim_is_integer<msim_element<V>>, V>;
template <class T>
using msim_unsigned = __make_unsigned(T);
template <class T>
constexpr int msim_bits = int(sizeof(T) * 8);

// Twice as wide as T, so that sums and products are exact.
template <class T>
using msim_wide = conditional_t<(sizeof(T) < 8), conditional_t<__is_signed(T), long, ulong>,
                                conditional_t<__is_signed(T), __int128, unsigned __int128>>;

template <class T>
MSIM_INLINE T msim_saturated(msim_wide<T> value) {
  constexpr msim_wide<T> low = __is_signed(T) ? -(msim_wide<T>(1) << (msim_bits<T> - 1)) : 0;
  constexpr msim_wide<T> high = (msim_wide<T>(1) << (msim_bits<T> - __is_signed(T))) - 1;
  return T(value < low ? low : value > high ? high : value);
}

// Functions of one scalar type E, lifted to vectors V; other arguments convert to the first's type.
#define MSIM_INTEGER_1(name, ...)                                   \
  template <class V>                                                \
  MSIM_INLINE msim_if_integers<V> name(V value) {                   \
    typedef msim_element<V> E;                                      \
    return msim_each<V>([](E x) { return E(__VA_ARGS__); }, value); \
  }
#define MSIM_INTEGER_2(name, ...)                                                \
  template <class V>                                                             \
  MSIM_INLINE msim_if_integers<V> name(V first, type_identity_t<V> second) {     \
    typedef msim_element<V> E;                                                   \
    return msim_each<V>([](E x, E y) { return E(__VA_ARGS__); }, first, second); \
  }
#define MSIM_INTEGER_3(name, ...)                                                            \
  template <class V>                                                                         \
  MSIM_INLINE msim_if_integers<V> name(V first, type_identity_t<V> second,                   \
                                       type_identity_t<V> third) {                           \
    typedef msim_element<V> E;                                                               \
    return msim_each<V>([](E x, E y, E z) { return E(__VA_ARGS__); }, first, second, third); \
  }

template <class E>
MSIM_INLINE int msim_leading(E x) {
  return x ? __builtin_clzll(msim_unsigned<E>(x)) - (64 - msim_bits<E>) : msim_bits<E>;
}
template <class E>
MSIM_INLINE E msim_reversed(E x) {
  return E(__builtin_bitreverse64(msim_unsigned<E>(x)) >> (64 - msim_bits<E>));
}
template <class E>
MSIM_INLINE E msim_rotated(E x, E by) {
  const msim_unsigned<E> bits = x;
  const int left = int(msim_unsigned<E>(by) % msim_bits<E>);
  return left ? E(bits << left | bits >> (msim_bits<E> - left)) : x;
}

MSIM_INTEGER_1(clz, msim_leading(x))
MSIM_INTEGER_1(ctz, x ? __builtin_ctzll(msim_unsigned<E>(x)) : msim_bits<E>)
MSIM_INTEGER_1(popcount, __builtin_popcountll(msim_unsigned<E>(x)))
MSIM_INTEGER_1(reverse_bits, msim_reversed(x))
MSIM_INTEGER_2(addsat, msim_saturated<E>(msim_wide<E>(x) + y))
MSIM_INTEGER_2(subsat, __is_signed(E) || x > y ? msim_saturated<E>(msim_wide<E>(x) - y) : E(0))
MSIM_INTEGER_2(hadd, (msim_wide<E>(x) + y) >> 1)
MSIM_INTEGER_2(rhadd, (msim_wide<E>(x) + y + 1) >> 1)
MSIM_INTEGER_2(mulhi, msim_wide<E>(x) * y >> msim_bits<E>)
MSIM_INTEGER_2(rotate, msim_rotated(x, y))
MSIM_INTEGER_3(madhi, E(mulhi(x, y)) + z)
MSIM_INTEGER_3(madsat, msim_saturated<E>(msim_wide<E>(x) * y + z))

// |x - y| without overflow, as the unsigned type.
template <class E>
MSIM_INLINE enable_if_t<msim_count<E> == 1, msim_unsigned<E>> absdiff(E x, type_identity_t<E> y) {
  return x < y ? msim_unsigned<E>(y) - msim_unsigned<E>(x)
               : msim_unsigned<E>(x) - msim_unsigned<E>(y);
}
template <class T, int N>
MSIM_INLINE vec<msim_unsigned<T>, N> absdiff(vec<T, N> x, type_identity_t<vec<T, N>> y) {
  vec<msim_unsigned<T>, N> result;
  for (int i = 0; i < N; i++) result[i] = absdiff(T(x[i]), T(y[i]));
  return result;
}

// Products of the low 24 bits.
#define MSIM_MULTIPLY_24(T)                                            \
  MSIM_TYPED_2(mul24, T, T(uint(msim_low24(x)) * uint(msim_low24(y)))) \
  MSIM_TYPED_3(mad24, T, T(uint(msim_low24(x)) * uint(msim_low24(y)) + uint(z)))
MSIM_INLINE int msim_low24(int x) { return int(uint(x) << 8) >> 8; }
MSIM_INLINE uint msim_low24(uint x) { return x & 0xffffffu; }
MSIM_MULTIPLY_24(int)
MSIM_MULTIPLY_24(uint)
#undef MSIM_MULTIPLY_24

// Bit fields: `bits` bits from `offset` up; of no bits, nothing.
template <class E>
MSIM_INLINE msim_unsigned<E> msim_ones(uint offset, uint bits) {
  const ulong ones = bits >= 64 ? ~0ul : (1ul << bits) - 1;
  return msim_unsigned<E>(ones << offset);
}
template <class V>
MSIM_INLINE msim_if_integers<V> extract_bits(V value, uint offset, uint bits) {
  typedef msim_element<V> E;
  return msim_each<V>(
      [=](E x) {
        if (bits == 0) return E(0);
        const E high = E(msim_unsigned<E>(x) << (msim_bits<E> - offset - bits));
        return E(high >> (msim_bits<E> - bits));
      },
      value);
}
template <class V>
MSIM_INLINE msim_if_integers<V> insert_bits(V base, type_identity_t<V> insert, uint offset,
                                            uint bits) {
  typedef msim_element<V> E;
  return msim_each<V>(
      [=](E x, E y) {
        const msim_unsigned<E> mask = msim_ones<E>(offset, bits);
        const msim_unsigned<E> moved = msim_unsigned<E>(msim_unsigned<E>(y) << offset);
        return E((msim_unsigned<E>(x) & ~mask) | (moved & mask));
      },
      base, insert);
}
}  // namespace metal
