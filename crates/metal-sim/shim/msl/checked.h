// The compiler's hooks of a checked build (kernel-address and undefined-behaviour sanitizers),
// handed to the runtime. They are defined here, so that a library needs no symbol of the process.
#pragma once
#pragma clang system_header
#include "runtime.h"

#define MSIM_HOOK extern "C" MSIM_UNWATCHED __attribute__((used, noinline))
#define MSIM_CALLER MSIM_ADDRESS(__builtin_return_address(0))

// A thread's own stack needs no watching: a hook runs on it too, so it is told by its address.
#define MSIM_ACCESS(address, size, bits)                                                       \
  if (((address) ^ MSIM_ADDRESS(__builtin_frame_address(0))) >> MSIM_STACK_BITS && (size) > 0) \
  msim_runtime->access(address, size, bits, MSIM_CALLER)

// The compiler calls these where it knows an alignment, and the last two where it knows too little.
#define MSIM_ACCESS_HOOKS(size)                                   \
  MSIM_HOOK void __asan_load##size##_noabort(msim_u64 address) {  \
    MSIM_ACCESS(address, size, MSIM_READ | MSIM_ALIGNED);         \
  }                                                               \
  MSIM_HOOK void __asan_store##size##_noabort(msim_u64 address) { \
    MSIM_ACCESS(address, size, MSIM_WRITE | MSIM_ALIGNED);        \
  }
MSIM_ACCESS_HOOKS(1)
MSIM_ACCESS_HOOKS(2)
MSIM_ACCESS_HOOKS(4)
MSIM_ACCESS_HOOKS(8)
MSIM_ACCESS_HOOKS(16)
MSIM_HOOK void __asan_loadN_noabort(msim_u64 address, msim_u64 size) {
  MSIM_ACCESS(address, size, MSIM_READ);
}
MSIM_HOOK void __asan_storeN_noabort(msim_u64 address, msim_u64 size) {
  MSIM_ACCESS(address, size, MSIM_WRITE);
}
MSIM_HOOK void __asan_handle_no_return(void) {}

// Copies and fills by the compiler.
MSIM_HOOK void* __asan_memcpy(void* to, const void* from, msim_u64 size) {
  MSIM_ACCESS(MSIM_ADDRESS(from), size, MSIM_READ);
  MSIM_ACCESS(MSIM_ADDRESS(to), size, MSIM_WRITE);
  return __builtin_memcpy(to, from, size);
}
MSIM_HOOK void* __asan_memmove(void* to, const void* from, msim_u64 size) {
  MSIM_ACCESS(MSIM_ADDRESS(from), size, MSIM_READ);
  MSIM_ACCESS(MSIM_ADDRESS(to), size, MSIM_WRITE);
  return __builtin_memmove(to, from, size);
}
MSIM_HOOK void* __asan_memset(void* to, int value, msim_u64 size) {
  MSIM_ACCESS(MSIM_ADDRESS(to), size, MSIM_WRITE);
  return __builtin_memset(to, value, size);
}

// The front of what the compiler tells of undefined behaviour: where it stands.
struct msim_undefined_data {
  msim_site site;
};
// A hook that goes on, and its form that does not.
#define MSIM_UNDEFINED(name, what, parameters, value)                 \
  MSIM_HOOK void __ubsan_handle_##name parameters {                   \
    msim_runtime->undefined(what, value, data->site, 0, MSIM_CALLER); \
  }                                                                   \
  MSIM_HOOK void __ubsan_handle_##name##_abort parameters {           \
    msim_runtime->undefined(what, value, data->site, 1, MSIM_CALLER); \
  }
MSIM_UNDEFINED(out_of_bounds, "index out of bounds", (msim_undefined_data * data, msim_u64 index),
               index)
MSIM_UNDEFINED(shift_out_of_bounds, "shift out of bounds",
               (msim_undefined_data * data, msim_u64, msim_u64 by), by)
MSIM_UNDEFINED(divrem_overflow, "division by zero or overflow",
               (msim_undefined_data * data, msim_u64, msim_u64 divisor), divisor)
MSIM_UNDEFINED(type_mismatch_v1, "misaligned address",
               (msim_undefined_data * data, msim_u64 address), address)
MSIM_UNDEFINED(alignment_assumption, "misaligned address",
               (msim_undefined_data * data, msim_u64 address, msim_u64, msim_u64), address)
MSIM_UNDEFINED(float_cast_overflow, "conversion of a float out of range",
               (msim_undefined_data * data, msim_u64 value), value)
MSIM_HOOK void __ubsan_handle_builtin_unreachable(msim_undefined_data* data) {
  msim_runtime->undefined("unreachable code reached", 0, data->site, 1, MSIM_CALLER);
}
MSIM_HOOK void __ubsan_handle_missing_return(msim_undefined_data* data) {
  msim_runtime->undefined("end of a function without a return", 0, data->site, 1, MSIM_CALLER);
}
#undef MSIM_UNDEFINED
