// Macros that declare a function for every width of a type. Overloads, not templates: a scalar then
// converts to a vector, an integer to float, and what is ambiguous in the language is so here.
#pragma once
#pragma clang system_header
#include "construct.h"

#define MSIM_1(name, V)                                             \
  MSIM_INLINE V name(V x) {                                         \
    V result;                                                       \
    for (int i = 0; i < msim_count<V>; i++) result[i] = name(x[i]); \
    return result;                                                  \
  }
#define MSIM_2(name, V)                                                   \
  MSIM_INLINE V name(V x, V y) {                                          \
    V result;                                                             \
    for (int i = 0; i < msim_count<V>; i++) result[i] = name(x[i], y[i]); \
    return result;                                                        \
  }
#define MSIM_3(name, V)                                                         \
  MSIM_INLINE V name(V x, V y, V z) {                                           \
    V result;                                                                   \
    for (int i = 0; i < msim_count<V>; i++) result[i] = name(x[i], y[i], z[i]); \
    return result;                                                              \
  }
#define MSIM_WIDTHS_1(name, T) MSIM_1(name, T##2) MSIM_1(name, T##3) MSIM_1(name, T##4)
#define MSIM_WIDTHS_2(name, T) MSIM_2(name, T##2) MSIM_2(name, T##3) MSIM_2(name, T##4)
#define MSIM_WIDTHS_3(name, T) MSIM_3(name, T##2) MSIM_3(name, T##3) MSIM_3(name, T##4)

// A function of float, half and their vectors, by an expression over float.
#define MSIM_FLOAT_1(name, ...)                                  \
  MSIM_INLINE float name(float x) { return __VA_ARGS__; }        \
  MSIM_INLINE half name(half x) { return half(name(float(x))); } \
  MSIM_WIDTHS_1(name, float) MSIM_WIDTHS_1(name, half)
#define MSIM_FLOAT_2(name, ...)                                                    \
  MSIM_INLINE float name(float x, float y) { return __VA_ARGS__; }                 \
  MSIM_INLINE half name(half x, half y) { return half(name(float(x), float(y))); } \
  MSIM_WIDTHS_2(name, float) MSIM_WIDTHS_2(name, half)
#define MSIM_FLOAT_3(name, ...)                                             \
  MSIM_INLINE float name(float x, float y, float z) { return __VA_ARGS__; } \
  MSIM_INLINE half name(half x, half y, half z) {                           \
    return half(name(float(x), float(y), float(z)));                        \
  }                                                                         \
  MSIM_WIDTHS_3(name, float) MSIM_WIDTHS_3(name, half)

// A function of one scalar type and its vectors, by an expression over the type.
#define MSIM_TYPED_1(name, T, ...)                \
  MSIM_INLINE T name(T x) { return __VA_ARGS__; } \
  MSIM_WIDTHS_1(name, T)
#define MSIM_TYPED_2(name, T, ...)                     \
  MSIM_INLINE T name(T x, T y) { return __VA_ARGS__; } \
  MSIM_WIDTHS_2(name, T)
#define MSIM_TYPED_3(name, T, ...)                          \
  MSIM_INLINE T name(T x, T y, T z) { return __VA_ARGS__; } \
  MSIM_WIDTHS_3(name, T)
