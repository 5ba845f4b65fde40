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

#define MSIM_THREADGROUP(id, type, name)                                                        \
  type& name = *(metal::remove_cv_t<type>*)msim_runtime->threadgroup_variable(id, sizeof(type), \
                                                                              alignof(type), #name);
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
