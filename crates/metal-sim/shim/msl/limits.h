// numeric_limits (specification 6.11), and the constants of <metal_math> (6.5) and <metal_limits>.
#pragma once
#pragma clang system_header
#include "types.h"

namespace metal {
// By the name that Apple's headers have: published kernels specialise it for their own types.
template <class T>
struct _numeric_limits_impl {
  static constexpr bool is_specialized = false;
};

template <class T>
struct msim_integer_limits {
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = T(-1) < T(0);
  static constexpr bool is_integer = true;
  static constexpr bool is_exact = true;
  static constexpr bool has_infinity = false;
  static constexpr bool has_quiet_NaN = false;
  static constexpr int digits = __is_same(T, bool) ? 1 : int(sizeof(T) * 8 - is_signed);
  static constexpr int digits10 = digits * 643 / 2136;
  static constexpr int max_digits10 = 0;
  static constexpr int radix = 2;
  static constexpr T max() { return T(~ulong(0) >> (64 - digits)); }
  static constexpr T min() { return is_signed ? T(-max() - 1) : T(0); }
  static constexpr T lowest() { return min(); }
  static constexpr T epsilon() { return T(0); }
  static constexpr T round_error() { return T(0); }
  static constexpr T infinity() { return T(0); }
  static constexpr T quiet_NaN() { return T(0); }
  static constexpr T signaling_NaN() { return T(0); }
  static constexpr T denorm_min() { return T(0); }
};

// digits: of the significand; exponents as <float.h> counts them.
template <class T, int Digits, int MinExponent, int MaxExponent>
struct msim_float_limits {
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool has_infinity = true;
  static constexpr bool has_quiet_NaN = true;
  static constexpr int digits = Digits;
  static constexpr int digits10 = (Digits - 1) * 643 / 2136;
  static constexpr int max_digits10 = 2 + Digits * 643 / 2136;
  static constexpr int radix = 2;
  static constexpr int min_exponent = MinExponent;
  static constexpr int max_exponent = MaxExponent;
  static constexpr T min() { return T(power(MinExponent - 1)); }
  static constexpr T max() { return T((2 - power(1 - Digits)) * power(MaxExponent - 1)); }
  static constexpr T lowest() { return -max(); }
  static constexpr T epsilon() { return T(power(1 - Digits)); }
  static constexpr T round_error() { return T(0.5f); }
  static constexpr T infinity() { return T(__builtin_inff()); }
  static constexpr T quiet_NaN() { return T(__builtin_nanf("")); }
  static constexpr T signaling_NaN() { return T(__builtin_nansf("")); }
  static constexpr T denorm_min() { return T(power(MinExponent - Digits)); }

 private:
  static constexpr float power(int exponent) {
    float value = 1;
    for (; exponent > 0; exponent--) value *= 2;
    for (; exponent < 0; exponent++) value /= 2;
    return value;
  }
};

#define MSIM_LIMITS(T) \
  template <>          \
  struct _numeric_limits_impl<T> : msim_integer_limits<T> {};
MSIM_INTEGERS(MSIM_LIMITS)
MSIM_LIMITS(int8_t)
MSIM_LIMITS(bool)
#undef MSIM_LIMITS
template <>
struct _numeric_limits_impl<float> : msim_float_limits<float, 24, -125, 128> {};
template <>
struct _numeric_limits_impl<half> : msim_float_limits<half, 11, -13, 16> {};
template <>
struct _numeric_limits_impl<bfloat> : msim_float_limits<bfloat, 8, -125, 128> {};

template <class T>
struct numeric_limits : _numeric_limits_impl<remove_cv_t<T>> {};
}  // namespace metal

#define CHAR_BIT 8
#define SCHAR_MAX 127
#define SCHAR_MIN (-128)
#define CHAR_MAX SCHAR_MAX
#define CHAR_MIN SCHAR_MIN
#define UCHAR_MAX 255
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define USHRT_MAX 65535
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295u
#define LONG_MAX 9223372036854775807l
#define LONG_MIN (-9223372036854775807l - 1)
#define ULONG_MAX 18446744073709551615ul

#define FLT_DIG 6
#define FLT_MANT_DIG 24
#define FLT_MAX_10_EXP 38
#define FLT_MAX_EXP 128
#define FLT_MIN_10_EXP (-37)
#define FLT_MIN_EXP (-125)
#define FLT_RADIX 2
#define FLT_MAX 0x1.fffffep127f
#define FLT_MIN 0x1.0p-126f
#define FLT_EPSILON 0x1.0p-23f
#define FLT_DECIMAL_DIG 9
#define HALF_DIG 2
#define HALF_MANT_DIG 11
#define HALF_MAX_10_EXP 4
#define HALF_MAX_EXP 16
#define HALF_MIN_10_EXP (-4)
#define HALF_MIN_EXP (-13)
#define HALF_RADIX 2
#define HALF_MAX ((half)0x1.ffcp15f)
#define HALF_MIN ((half)0x1.0p-14f)
#define HALF_EPSILON ((half)0x1.0p-10f)
#define HALF_DECIMAL_DIG 5
#define BFLT_DIG 2
#define BFLT_MANT_DIG 8
#define BFLT_MAX_EXP 128
#define BFLT_MIN_EXP (-125)
#define BFLT_MAX ((bfloat)0x1.fep127f)
#define BFLT_MIN ((bfloat)0x1.0p-126f)
#define BFLT_EPSILON ((bfloat)0x1.0p-7f)

#define HUGE_VALF __builtin_inff()
#define HUGE_VALH ((half)__builtin_inff())
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define MAXFLOAT FLT_MAX
#define MAXHALF HALF_MAX
#define FP_ILOGB0 INT_MIN
#define FP_ILOGBNAN INT_MIN

#define M_E_F 2.71828182845904523536f
#define M_LOG2E_F 1.44269504088896340736f
#define M_LOG10E_F 0.434294481903251827651f
#define M_LN2_F 0.693147180559945309417f
#define M_LN10_F 2.30258509299404568402f
#define M_PI_F 3.14159265358979323846f
#define M_PI_2_F 1.57079632679489661923f
#define M_PI_4_F 0.785398163397448309616f
#define M_1_PI_F 0.318309886183790671538f
#define M_2_PI_F 0.636619772367581343076f
#define M_2_SQRTPI_F 1.12837916709551257390f
#define M_SQRT2_F 1.41421356237309504880f
#define M_SQRT1_2_F 0.707106781186547524401f
#define M_E_H ((half)M_E_F)
#define M_LOG2E_H ((half)M_LOG2E_F)
#define M_LOG10E_H ((half)M_LOG10E_F)
#define M_LN2_H ((half)M_LN2_F)
#define M_LN10_H ((half)M_LN10_F)
#define M_PI_H ((half)M_PI_F)
#define M_PI_2_H ((half)M_PI_2_F)
#define M_PI_4_H ((half)M_PI_4_F)
#define M_1_PI_H ((half)M_1_PI_F)
#define M_2_PI_H ((half)M_2_PI_F)
#define M_2_SQRTPI_H ((half)M_2_SQRTPI_F)
#define M_SQRT2_H ((half)M_SQRT2_F)
#define M_SQRT1_2_H ((half)M_SQRT1_2_F)
