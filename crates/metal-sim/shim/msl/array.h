// array<T, N> (specification 2.13).
#pragma once
#pragma clang system_header
#include "traits.h"

namespace metal {
template <class T, size_t N>
struct array {
  T elements[N];

  // Explicit objects: the same for an object in any address space.
  template <class S>
  MSIM_INLINE constexpr auto& operator[](this S&& self, size_t i) {
    return self.elements[i];
  }
  template <class S>
  MSIM_INLINE constexpr auto data(this S& self) {
    return &self.elements[0];
  }
  template <class S>
  MSIM_INLINE constexpr auto begin(this S& self) {
    return &self.elements[0];
  }
  template <class S>
  MSIM_INLINE constexpr auto end(this S& self) {
    return &self.elements[0] + N;
  }
  template <class S>
  MSIM_INLINE constexpr size_t size(this const S&) {
    return N;
  }
  template <class S>
  MSIM_INLINE constexpr bool empty(this const S&) {
    return N == 0;
  }
};
}  // namespace metal
