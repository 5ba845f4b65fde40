// After a kernel's source: what generated code says about kernels and constants, for abi.h.
#pragma once
#pragma clang system_header
#include "types.h"
#include "runtime.h"

// What the source says about a parameter; its type says the rest.
struct msim_slot {
  msim_u32 kind, index;
  const char* name;
};

namespace metal {
constexpr bool msim_is_position(msim_u32 builtin) {
  return builtin < MSIM_B_THREAD_INDEX_IN_THREADGROUP || builtin == MSIM_B_GRID_ORIGIN;
}

// A value: a position or an index.
template <class A>
struct msim_argument {
  typedef msim_element<A> element;
  static_assert(__is_same(element, uint) || __is_same(element, ushort),
                "a kernel's parameter is a pointer, a reference, or a position or index of type "
                "uint, ushort, or a vector of these");
  static constexpr bool fits(msim_slot slot) {
    return slot.kind == MSIM_P_BUILTIN && (msim_count<A> == 1 || msim_is_position(slot.index));
  }
  static constexpr msim_parameter describe(msim_slot slot) {
    return {slot.kind, slot.index, slot.name, 0, 1, sizeof(A), alignof(A)};
  }
  static MSIM_INLINE A get(const msim_arguments* from, msim_slot slot) {
    const msim_u32* value = from->builtin[slot.index];
    if constexpr (msim_count<A> == 1) {
      return A(value[0]);
    } else {
      A result;
      for (int i = 0; i < msim_count<A>; i++) result[i] = element(value[i]);
      return result;
    }
  }
};

template <class T>
constexpr msim_u64 msim_size = sizeof(T);
template <class T>
constexpr msim_u64 msim_align = alignof(T);
#define MSIM_VOID_SIZE(T)              \
  template <>                          \
  constexpr msim_u64 msim_size<T> = 1; \
  template <>                          \
  constexpr msim_u64 msim_align<T> = 1;
MSIM_VOID_SIZE(void)
MSIM_VOID_SIZE(const void)
#undef MSIM_VOID_SIZE

// Which memory an address space means; all where spaces are not types.
template <class T>
constexpr bool msim_in_buffer = true;
template <class T>
constexpr bool msim_in_threadgroup = true;
#ifdef MSIM_STRICT
template <class T>
constexpr bool msim_in_buffer<threadgroup T> = false;
template <class T>
constexpr bool msim_in_threadgroup<device T> = false;
template <class T>
constexpr bool msim_in_threadgroup<constant T> = false;
#endif

template <class T, bool Reference>
struct msim_memory {
  static constexpr bool fits(msim_slot slot) {
    return slot.kind == MSIM_P_BUFFER ? msim_in_buffer<T>
                                      : slot.kind == MSIM_P_THREADGROUP && msim_in_threadgroup<T>;
  }
  static constexpr msim_parameter describe(msim_slot slot) {
    return {slot.kind,    slot.index,    slot.name, Reference, __is_const(T),
            msim_size<T>, msim_align<T>};
  }
  static MSIM_INLINE T* at(const msim_arguments* from, msim_slot slot) {
    return (T*)MSIM_ADDRESS(msim_memory_of(from, slot.kind, slot.index));
  }
};
template <class T>
struct msim_argument<T*> : msim_memory<T, false> {
  static MSIM_INLINE T* get(const msim_arguments* from, msim_slot slot) {
    return msim_argument::at(from, slot);
  }
};
template <class T>
struct msim_argument<T&> : msim_memory<T, true> {
  static MSIM_INLINE T& get(const msim_arguments* from, msim_slot slot) {
    return *msim_argument::at(from, slot);
  }
};

template <unsigned... I>
struct msim_indices {};
template <class T, T... I>
using msim_to_indices = msim_indices<I...>;

template <const msim_slot* Slots, class I, class... A>
struct msim_table;
template <const msim_slot* Slots, unsigned... I, class... A>
struct msim_table<Slots, msim_indices<I...>, A...> {
  static_assert((true && ... && msim_argument<A>::fits(Slots[I])),
                "a kernel's parameter does not have the type that its attribute needs: [[buffer]] "
                "device or constant memory, [[threadgroup]] threadgroup memory, an index a scalar");
  // One more than there are: an array has at least one element.
  static constexpr msim_parameter parameters[] = {msim_argument<A>::describe(Slots[I])...,
                                                  msim_parameter{}};
  template <void (*Function)(A...)>
  static MSIM_INLINE void call(const msim_arguments* from) {
    Function(msim_argument<A>::get(from, Slots[I])...);
  }
};
}  // namespace metal

template <class F, F Function, const msim_slot* Slots>
struct msim_wrap {
  static_assert(sizeof(F) == 0, "a kernel is a function that returns void");
};
template <class... A, void (*Function)(A...), const msim_slot* Slots>
struct msim_wrap<void (*)(A...), Function, Slots> {
  typedef metal::msim_table<
      Slots, __make_integer_seq<metal::msim_to_indices, unsigned, sizeof...(A)>, A...>
      table;
  static constexpr msim_u32 count = sizeof...(A);
  static constexpr const msim_parameter* parameters = table::parameters;
  static MSIM_INLINE const void* body() { return (const void*)Function; }
  __attribute__((no_sanitize("kernel-address", "undefined"))) static void call(
      const msim_arguments* from) {
    table::template call<Function>(from);
  }
};

#ifdef MSIM_CHECKED
#include "checked.h"
#define MSIM_IS_CHECKED 1
#else
#define MSIM_IS_CHECKED 0
#endif

#ifdef MSIM_STRICT
#define MSIM_LIBRARY(kernel_count, constant_count)
#else
MSIM_UNWATCHED static void msim_attach(const msim_host* host) { msim_runtime = host; }
// What MSIM_THREADGROUP notes; the linker names a section's borders.
extern "C" __attribute__((weak, visibility("hidden"))) const msim_variable
    __start_msim_variables[], __stop_msim_variables[];
// The one exported symbol, over the tables msim_kernels and msim_constants.
#define MSIM_LIBRARY(kernel_count, constant_count)                                     \
  extern "C" __attribute__((visibility("default"))) const msim_library msim_library_1; \
  const msim_library msim_library_1 = {                                                \
      MSIM_ABI,     MSIM_IS_CHECKED, msim_kernels, msim_constants,                     \
      kernel_count, constant_count,  __start_msim_variables, __stop_msim_variables,    \
      msim_attach};
#endif
