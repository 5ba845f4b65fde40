// Functions of integers and floats alike, and common functions (specification 6.3, 6.4).
#pragma once
#pragma clang system_header
#include "lift.h"

namespace metal {
#define MSIM_INTEGER_COMMON(T)                                \
  MSIM_TYPED_2(min, T, y < x ? y : x)                         \
  MSIM_TYPED_2(max, T, x < y ? y : x)                         \
  MSIM_TYPED_3(min3, T, min(x, min(y, z)))                    \
  MSIM_TYPED_3(max3, T, max(x, max(y, z)))                    \
  MSIM_TYPED_3(median3, T, max(min(x, y), min(max(x, y), z))) \
  MSIM_TYPED_3(clamp, T, min(max(x, y), z))
MSIM_INTEGERS(MSIM_INTEGER_COMMON)
#undef MSIM_INTEGER_COMMON
#define MSIM_INTEGER_ABS(T) MSIM_TYPED_1(abs, T, x < 0 ? T(-x) : x)
MSIM_SIGNED(MSIM_INTEGER_ABS)
#undef MSIM_INTEGER_ABS
#define MSIM_UNSIGNED_ABS(T) MSIM_TYPED_1(abs, T, x)
MSIM_UNSIGNED(MSIM_UNSIGNED_ABS)
#undef MSIM_UNSIGNED_ABS

// Of a number and a NaN, the number.
MSIM_FLOAT_2(fmin, __builtin_fminf(x, y))
MSIM_FLOAT_2(fmax, __builtin_fmaxf(x, y))
MSIM_FLOAT_2(min, __builtin_fminf(x, y))
MSIM_FLOAT_2(max, __builtin_fmaxf(x, y))
MSIM_FLOAT_3(min3, fmin(x, fmin(y, z)))
MSIM_FLOAT_3(max3, fmax(x, fmax(y, z)))
MSIM_FLOAT_3(fmin3, fmin(x, fmin(y, z)))
MSIM_FLOAT_3(fmax3, fmax(x, fmax(y, z)))
MSIM_FLOAT_3(median3, fmax(fmin(x, y), fmin(fmax(x, y), z)))
MSIM_FLOAT_3(fmedian3, fmax(fmin(x, y), fmin(fmax(x, y), z)))

MSIM_FLOAT_3(clamp, fmin(fmax(x, y), z))
MSIM_FLOAT_1(saturate, fmin(fmax(x, 0.0f), 1.0f))
MSIM_FLOAT_3(mix, x + (y - x) * z)
MSIM_FLOAT_1(sign, x > 0 ? 1.0f : x < 0 ? -1.0f : x == 0 ? x : 0.0f)
MSIM_FLOAT_2(step, y < x ? 0.0f : 1.0f)
MSIM_INLINE float smoothstep(float low, float high, float x) {
  const float t = saturate((x - low) / (high - low));
  return t * t * (3 - 2 * t);
}
MSIM_INLINE half smoothstep(half low, half high, half x) {
  return half(smoothstep(float(low), float(high), float(x)));
}
MSIM_WIDTHS_3(smoothstep, float)
MSIM_WIDTHS_3(smoothstep, half)
}  // namespace metal
