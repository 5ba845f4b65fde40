// Relational functions (specification 6.6).
#pragma once
#pragma clang system_header
#include "common.h"

namespace metal {
MSIM_INLINE bool any(bool x) { return x; }
MSIM_INLINE bool any(bool2 x) { return x.x || x.y; }
MSIM_INLINE bool any(bool3 x) { return x.x || x.y || x.z; }
MSIM_INLINE bool any(bool4 x) { return x.x || x.y || x.z || x.w; }
MSIM_INLINE bool all(bool x) { return x; }
MSIM_INLINE bool all(bool2 x) { return x.x && x.y; }
MSIM_INLINE bool all(bool3 x) { return x.x && x.y && x.z; }
MSIM_INLINE bool all(bool4 x) { return x.x && x.y && x.z && x.w; }

#define MSIM_CLASSIFY_WIDTH(name, V, B)                             \
  MSIM_INLINE B name(V x) {                                         \
    B result;                                                       \
    for (int i = 0; i < msim_count<V>; i++) result[i] = name(x[i]); \
    return result;                                                  \
  }
#define MSIM_CLASSIFY(name, ...)                         \
  MSIM_INLINE bool name(float x) { return __VA_ARGS__; } \
  MSIM_INLINE bool name(half number) {                   \
    const float x = float(number);                       \
    return __VA_ARGS__;                                  \
  }                                                      \
  MSIM_CLASSIFY_WIDTH(name, float2, bool2)               \
  MSIM_CLASSIFY_WIDTH(name, float3, bool3)               \
  MSIM_CLASSIFY_WIDTH(name, float4, bool4)               \
  MSIM_CLASSIFY_WIDTH(name, half2, bool2)                \
  MSIM_CLASSIFY_WIDTH(name, half3, bool3)                \
  MSIM_CLASSIFY_WIDTH(name, half4, bool4)
MSIM_CLASSIFY(isfinite, __builtin_isfinite(x))
MSIM_CLASSIFY(isinf, __builtin_isinf(x))
MSIM_CLASSIFY(isnan, __builtin_isnan(x))
MSIM_CLASSIFY(signbit, __builtin_signbit(x))
#undef MSIM_CLASSIFY
// A half has its own smallest normal number.
MSIM_INLINE bool isnormal(float x) { return __builtin_isnormal(x); }
MSIM_INLINE bool isnormal(half x) {
  return __builtin_isfinite(float(x)) && __builtin_fabsf(float(x)) >= 0x1.0p-14f;
}
MSIM_CLASSIFY_WIDTH(isnormal, float2, bool2)
MSIM_CLASSIFY_WIDTH(isnormal, float3, bool3)
MSIM_CLASSIFY_WIDTH(isnormal, float4, bool4)
MSIM_CLASSIFY_WIDTH(isnormal, half2, bool2)
MSIM_CLASSIFY_WIDTH(isnormal, half3, bool3)
MSIM_CLASSIFY_WIDTH(isnormal, half4, bool4)
#undef MSIM_CLASSIFY_WIDTH

#define MSIM_ORDER(V, B)                                               \
  MSIM_INLINE B isunordered(V x, V y) { return isnan(x) || isnan(y); } \
  MSIM_INLINE B isordered(V x, V y) { return !(isnan(x) || isnan(y)); }
#define MSIM_ORDER_WIDTHS(T) \
  MSIM_ORDER(T, bool) MSIM_ORDER(T##2, bool2) MSIM_ORDER(T##3, bool3) MSIM_ORDER(T##4, bool4)
MSIM_FLOATS(MSIM_ORDER_WIDTHS)
#undef MSIM_ORDER_WIDTHS
#undef MSIM_ORDER

// b where c, else a.
#define MSIM_SELECT(V, B)                                                   \
  MSIM_INLINE V select(V a, V b, B c) {                                     \
    V result;                                                               \
    for (int i = 0; i < msim_count<V>; i++) result[i] = c[i] ? b[i] : a[i]; \
    return result;                                                          \
  }
#define MSIM_SELECT_WIDTHS(T)                                  \
  MSIM_INLINE T select(T a, T b, bool c) { return c ? b : a; } \
  MSIM_SELECT(T##2, bool2) MSIM_SELECT(T##3, bool3) MSIM_SELECT(T##4, bool4)
MSIM_ELEMENTS(MSIM_SELECT_WIDTHS)
MSIM_SELECT_WIDTHS(bool)
#undef MSIM_SELECT_WIDTHS
#undef MSIM_SELECT
}  // namespace metal
