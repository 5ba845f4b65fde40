// Geometric functions (specification 6.8).
#pragma once
#pragma clang system_header
#include "math.h"

namespace metal {
#define MSIM_GEOMETRY(T, V)                                                                   \
  MSIM_INLINE T dot(V x, V y) {                                                               \
    T sum = x[0] * y[0];                                                                      \
    for (int i = 1; i < msim_count<V>; i++) sum += x[i] * y[i];                               \
    return sum;                                                                               \
  }                                                                                           \
  MSIM_INLINE T length_squared(V x) { return dot(x, x); }                                     \
  MSIM_INLINE T length(V x) { return sqrt(dot(x, x)); }                                       \
  MSIM_INLINE T distance_squared(V x, V y) { return length_squared(x - y); }                  \
  MSIM_INLINE T distance(V x, V y) { return length(x - y); }                                  \
  MSIM_INLINE V normalize(V x) { return x * rsqrt(dot(x, x)); }                               \
  MSIM_INLINE V faceforward(V n, V i, V reference) { return dot(reference, i) < 0 ? n : -n; } \
  MSIM_INLINE V reflect(V i, V n) { return i - T(2) * dot(n, i) * n; }                        \
  MSIM_INLINE V refract(V i, V n, T eta) {                                                    \
    const T cosine = dot(n, i);                                                               \
    const T k = T(1) - eta * eta * (T(1) - cosine * cosine);                                  \
    return k < 0 ? V(T(0)) : eta * i - (eta * cosine + sqrt(k)) * n;                          \
  }
#define MSIM_GEOMETRY_WIDTHS(T)            \
  MSIM_GEOMETRY(T, T##2)                   \
  MSIM_GEOMETRY(T, T##3)                   \
  MSIM_GEOMETRY(T, T##4)                   \
  MSIM_INLINE T##3 cross(T##3 x, T##3 y) { \
    return x.yzx * y.zxy - x.zxy * y.yzx;  \
  }
MSIM_FLOATS(MSIM_GEOMETRY_WIDTHS)
#undef MSIM_GEOMETRY_WIDTHS
#undef MSIM_GEOMETRY

#define MSIM_NAMES(X)                                                      \
  X(cross) X(distance) X(distance_squared) X(dot) X(faceforward) X(length) \
  X(length_squared) X(normalize) X(reflect) X(refract)
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
