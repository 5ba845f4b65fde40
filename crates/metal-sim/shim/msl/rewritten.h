// What the generator writes in place of declarations that plain C++ does not have: variables in
// threadgroup memory and function constants (specification 4.4, 5.8).
#pragma once
#pragma clang system_header
#include "runtime.h"
#include "traits.h"

// Around a function that differs from an earlier one in address spaces alone: where spaces are no
// types, the earlier one serves for both.
#ifdef MSIM_STRICT
#define MSIM_OF_ANOTHER_SPACE(...) __VA_ARGS__
#else
#define MSIM_OF_ANOTHER_SPACE(...)
#endif

#ifdef MSIM_STRICT
threadgroup void* msim_threadgroup_variable();
#define MSIM_THREADGROUP(id, type, name) \
  threadgroup type& name = *(threadgroup type*)msim_threadgroup_variable();
#define MSIM_CONSTANT(name, index, ...) extern constant __VA_ARGS__ name;
#define MSIM_TYPE(...) __VA_ARGS__
#define MSIM_DERIVED(name, type, ...) static constant MSIM_TYPE type name = __VA_ARGS__;
#define is_function_constant_defined(name) (sizeof(name) != 0)

#else

// Notes a variable in a section of the library. The label belongs to the kernel's code.
#ifdef __ELF__
#define MSIM_NOTE_VARIABLE(id, size, align)                                               \
  asm volatile(                                                                           \
      ".pushsection msim_variables,\"a\"\n\t.balign 4\n\t.long 0f - .\n\t"               \
      ".long %c0\n\t.long %c1\n\t.long %c2\n\t.popsection\n0:" ::"i"(msim_u32(id)),      \
      "i"(msim_u32(size)), "i"(msim_u32(align)))
#else
#define MSIM_NOTE_VARIABLE(id, size, align) (void)0
#endif
#define MSIM_THREADGROUP(id, type, name)                                                        \
  MSIM_NOTE_VARIABLE(id, sizeof(type), alignof(type));                                          \
  type& name =                                                                                  \
      *(metal::remove_cv_t<type>*)metal::msim_variable_memory(id, sizeof(type), alignof(type), #name);
// A value that the runtime writes before a launch; the kernel reads it by a constant name.
#define MSIM_CONSTANT(name, index, ...)                     \
  static metal::remove_cv_t<__VA_ARGS__> msim_value_##name; \
  static msim_u8 msim_is_set_##name;                        \
  static const metal::remove_cv_t<__VA_ARGS__>& name = msim_value_##name;
// A constant made of function constants: computed anew at each use.
#define MSIM_TYPE(...) __VA_ARGS__
#define MSIM_DERIVED(name, type, ...)                                   \
  static const struct {                                                 \
    MSIM_INLINE operator MSIM_TYPE type() const { return __VA_ARGS__; } \
  } name{};
#define is_function_constant_defined(name) (msim_is_set_##name != 0)
#endif
