// Math functions (specification 6.5). `fast` and `precise` are the same here: to a unit or so of
// the last place of float; Apple's fast forms are less exact.
#pragma once
#pragma clang system_header
#include "common.h"
#include "limits.h"

namespace metal {
MSIM_FLOAT_1(acos, __builtin_acosf(x))
MSIM_FLOAT_1(acosh, __builtin_acoshf(x))
MSIM_FLOAT_1(asin, __builtin_asinf(x))
MSIM_FLOAT_1(asinh, __builtin_asinhf(x))
MSIM_FLOAT_1(atan, __builtin_atanf(x))
MSIM_FLOAT_1(atanh, __builtin_atanhf(x))
MSIM_FLOAT_1(ceil, __builtin_ceilf(x))
MSIM_FLOAT_1(cos, __builtin_cosf(x))
MSIM_FLOAT_1(cosh, __builtin_coshf(x))
MSIM_FLOAT_1(exp, __builtin_expf(x))
MSIM_FLOAT_1(exp2, __builtin_exp2f(x))
MSIM_FLOAT_1(exp10, __builtin_exp10f(x))
MSIM_FLOAT_1(fabs, __builtin_fabsf(x))
MSIM_FLOAT_1(abs, __builtin_fabsf(x))
MSIM_FLOAT_1(floor, __builtin_floorf(x))
MSIM_FLOAT_1(log, __builtin_logf(x))
MSIM_FLOAT_1(log2, __builtin_log2f(x))
MSIM_FLOAT_1(log10, __builtin_log10f(x))
MSIM_FLOAT_1(rint, __builtin_nearbyintf(x))
MSIM_FLOAT_1(round, __builtin_roundf(x))
MSIM_FLOAT_1(rsqrt, 1.0f / __builtin_sqrtf(x))
MSIM_FLOAT_1(sin, __builtin_sinf(x))
MSIM_FLOAT_1(sinh, __builtin_sinhf(x))
MSIM_FLOAT_1(sqrt, __builtin_sqrtf(x))
MSIM_FLOAT_1(tan, __builtin_tanf(x))
MSIM_FLOAT_1(tanh, __builtin_tanhf(x))
MSIM_FLOAT_1(trunc, __builtin_truncf(x))
// Whole and half turns come out exact: x - 2·round(x/2) is, and what is left is within ±1/2.
MSIM_INLINE float msim_turn(float x) { return x - 2 * __builtin_nearbyintf(x / 2); }
MSIM_INLINE float msim_sine_of(float x) {
  return float(__builtin_sin(3.14159265358979323846l * x));
}
MSIM_INLINE float msim_sinpi(float x) {
  const float turn = msim_turn(x);
  return msim_sine_of(__builtin_fabsf(turn) > 0.5f ? __builtin_copysignf(1, turn) - turn : turn);
}
MSIM_FLOAT_1(sinpi, msim_sinpi(x))
MSIM_FLOAT_1(cospi, msim_sine_of(0.5f - __builtin_fabsf(msim_turn(x))))
MSIM_FLOAT_1(tanpi, sinpi(x) / cospi(x))
MSIM_FLOAT_1(fract, __builtin_fminf(x - __builtin_floorf(x), 0x1.fffffep-1f))

MSIM_FLOAT_2(atan2, __builtin_atan2f(x, y))
MSIM_FLOAT_2(copysign, __builtin_copysignf(x, y))
MSIM_FLOAT_2(divide, x / y)
MSIM_FLOAT_2(fdim, __builtin_fdimf(x, y))
MSIM_FLOAT_2(fmod, __builtin_fmodf(x, y))
MSIM_FLOAT_2(pow, __builtin_powf(x, y))
// powr: of a negative x, a NaN.
MSIM_FLOAT_2(powr, x < 0 ? NAN : __builtin_powf(x, y))
MSIM_FLOAT_3(fma, __builtin_fmaf(x, y, z))

MSIM_INLINE float nextafter(float x, float y) { return __builtin_nextafterf(x, y); }
MSIM_INLINE half nextafter(half x, half y) {
  if (x != x || y != y) return half(NAN);
  if (x == y) return y;
  if (x == 0) return y > 0 ? as_type<half>(ushort(1)) : as_type<half>(ushort(0x8001));
  const ushort bits = as_type<ushort>(x);
  return as_type<half>(ushort((x < y) == (x > 0) ? bits + 1 : bits - 1));
}
MSIM_WIDTHS_2(nextafter, float)
MSIM_WIDTHS_2(nextafter, half)

// Functions with an integer or a second result.
#define MSIM_SPLIT_FUNCTIONS(V, I)                                                          \
  MSIM_INLINE I ilogb(V x) {                                                                \
    return msim_each<I>([](float e) { return __builtin_ilogbf(e); }, x);                    \
  }                                                                                         \
  MSIM_INLINE V ldexp(V x, I k) {                                                           \
    typedef msim_element<V> E;                                                              \
    return msim_each<V>([](E e, int n) { return E(__builtin_ldexpf(float(e), n)); }, x, k); \
  }                                                                                         \
  MSIM_INLINE V frexp(V x, thread I& exponent) {                                            \
    V result;                                                                               \
    for (int i = 0; i < msim_count<V>; i++) {                                               \
      int power = 0;                                                                        \
      msim_at(result, i) = msim_element<V>(__builtin_frexpf(float(msim_at(x, i)), &power)); \
      msim_at(exponent, i) = power;                                                         \
    }                                                                                       \
    return result;                                                                          \
  }                                                                                         \
  MSIM_INLINE V modf(V x, thread V& whole) {                                                \
    whole = trunc(x);                                                                       \
    return copysign(V(x - whole), x);                                                       \
  }                                                                                         \
  MSIM_INLINE V sincos(V x, thread V& cosine) {                                             \
    cosine = cos(x);                                                                        \
    return sin(x);                                                                          \
  }
// Component i of a vector, or the scalar itself; by the bytes, as components have no reference.
template <class V>
MSIM_INLINE msim_element<V>& msim_at(V& value, int i) {
  return ((msim_element<V>*)&value)[i];
}
#define MSIM_SPLIT(T)              \
  MSIM_SPLIT_FUNCTIONS(T, int)     \
  MSIM_SPLIT_FUNCTIONS(T##2, int2) \
  MSIM_SPLIT_FUNCTIONS(T##3, int3) \
  MSIM_SPLIT_FUNCTIONS(T##4, int4)
MSIM_FLOATS(MSIM_SPLIT)
#undef MSIM_SPLIT
#undef MSIM_SPLIT_FUNCTIONS

#define MSIM_NAMES(X)                                                                              \
  X(abs) X(acos) X(acosh) X(asin) X(asinh) X(atan) X(atan2) X(atanh) X(ceil) X(clamp) X(copysign)  \
  X(cos) X(cosh) X(cospi) X(divide) X(exp) X(exp10) X(exp2) X(fabs) X(fdim) X(floor) X(fma)        \
  X(fmax) X(fmax3) X(fmedian3) X(fmin) X(fmin3) X(fmod) X(fract) X(frexp) X(ilogb) X(ldexp) X(log) \
  X(log10) X(log2) X(max) X(max3) X(median3) X(min) X(min3) X(mix) X(modf) X(nextafter) X(pow)     \
  X(powr) X(rint) X(round) X(rsqrt) X(saturate) X(sign) X(sin) X(sincos) X(sinh) X(sinpi)          \
  X(smoothstep) X(sqrt) X(step) X(tan) X(tanh) X(tanpi) X(trunc)
#define MSIM_USE(name) using metal::name;
namespace fast {
MSIM_NAMES(MSIM_USE)
}
namespace precise {
MSIM_NAMES(MSIM_USE)
}
#undef MSIM_USE
#undef MSIM_NAMES
}  // namespace metal
