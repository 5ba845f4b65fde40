// Words, scalar types and literals of the language (specification 2.1, 2.11, 4).
#pragma once
#pragma clang system_header
#include "../abi.h"

// abi.h's words, before some of them are the language's.
inline msim_u8* msim_memory_of(const msim_arguments* from, msim_u32 kind, msim_u32 index) {
  return kind == MSIM_P_BUFFER ? from->buffer[index] : from->threadgroup[index];
}

// Strict: address spaces are distinct types. Else they are plain memory, which sanitizers can see.
#ifdef MSIM_STRICT
#define device __attribute__((address_space(1)))
#define constant const __attribute__((address_space(2)))
#define threadgroup __attribute__((address_space(3)))
#else
#define device
#define constant const
#define threadgroup
#endif
#define thread
#define kernel
#define METAL_FUNC inline __attribute__((always_inline))

// `nodebug`: whatever happens in a function of the library is shown at the kernel's line.
#define MSIM_INLINE inline __attribute__((always_inline, nodebug))

// Where a collective stands; a default argument, so that it is the caller's place.
#define MSIM_HERE \
  msim_site { __builtin_FILE(), __builtin_LINE(), __builtin_COLUMN() }

// X once for each address space that can be read, or written; spaces that are one type appear once.
#ifdef MSIM_STRICT
#define MSIM_READABLE_SPACES(X, ...) \
  X(const device, ##__VA_ARGS__) X(const threadgroup, ##__VA_ARGS__)
#define MSIM_WRITABLE_SPACES(X, ...) X(device, ##__VA_ARGS__) X(threadgroup, ##__VA_ARGS__)
#else
#define MSIM_READABLE_SPACES(X, ...) X(const, ##__VA_ARGS__)
#define MSIM_WRITABLE_SPACES(X, ...) X(, ##__VA_ARGS__)
#endif

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef unsigned long size_t;
typedef long ptrdiff_t;
typedef _Float16 half;
typedef __bf16 bfloat;

// 1.0h; clang knows no other such suffix, so the generator writes 1.0H and 1.0bf in other ways.
constexpr half operator""h(long double value) { return (half)value; }

// X(type) for the scalar types that have vectors.
#define MSIM_SIGNED(X) X(char) X(short) X(int) X(long)
#define MSIM_UNSIGNED(X) X(uchar) X(ushort) X(uint) X(ulong)
#define MSIM_INTEGERS(X) MSIM_SIGNED(X) MSIM_UNSIGNED(X)
#define MSIM_FLOATS(X) X(float) X(half)
#define MSIM_ELEMENTS(X) MSIM_INTEGERS(X) MSIM_FLOATS(X) X(bfloat)

namespace metal {
using ::bfloat;
using ::half;
using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::int8_t;
using ::ptrdiff_t;
using ::size_t;
using ::uchar;
using ::uint;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::uint8_t;
using ::ulong;
using ::ushort;
}  // namespace metal
