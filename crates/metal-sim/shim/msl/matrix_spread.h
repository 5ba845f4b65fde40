// simdgroup_matrix with two elements a lane, for strict and checked mode.
#pragma once
#pragma clang system_header
#include "simdgroup_matrix.h"

namespace metal {
template <class T, int Columns, int Rows>
struct simdgroup_matrix {
  static_assert(Columns == 8 && Rows == 8, "a simdgroup_matrix has 8 columns and 8 rows");
  static_assert(msim_is_float<T> || __is_same(T, bfloat),
                "a simdgroup_matrix is of float, half or bfloat");
  typedef T storage_type __attribute__((ext_vector_type(2)));

  simdgroup_matrix() thread = default;
  MSIM_INLINE explicit simdgroup_matrix(T diagonal) {
    const msim_cell cell = msim_lane_cell();
    elements[0] = cell.row == cell.column ? diagonal : T(0);
    elements[1] = cell.row == cell.column + 1 ? diagonal : T(0);
  }
  MSIM_INLINE thread storage_type& thread_elements() { return elements; }
  MSIM_INLINE const thread storage_type& thread_elements() const { return elements; }
  MSIM_INLINE void msim_fill(T value) { elements = storage_type(value); }

  storage_type elements;
};

// The place of this lane's element i in memory.
MSIM_INLINE ulong msim_offset(uint i, ulong stride, ulong2 origin, bool transpose) {
  const msim_cell cell = msim_lane_cell();
  const uint row = transpose ? cell.column + i : cell.row;
  const uint column = transpose ? cell.row : cell.column + i;
  return (origin.y + row) * stride + origin.x + column;
}

#define MSIM_MATRIX_LOAD(space)                                                             \
  template <class T>                                                                        \
  MSIM_INLINE void simdgroup_load(thread simdgroup_matrix<T, 8, 8>& d, space T* source,     \
                                  ulong elements_per_row = 8, ulong2 origin = ulong2{0, 0}, \
                                  bool transpose = false, msim_site site = MSIM_HERE) {     \
    msim_uniform((const void*)MSIM_ADDRESS(source), elements_per_row, site);                \
    for (uint i = 0; i < 2; i++)                                                            \
      d.elements[i] = source[msim_offset(i, elements_per_row, origin, transpose)];          \
  }
MSIM_READABLE_SPACES(MSIM_MATRIX_LOAD)
#undef MSIM_MATRIX_LOAD

#define MSIM_MATRIX_STORE(space)                                                             \
  template <class T>                                                                         \
  MSIM_INLINE void simdgroup_store(simdgroup_matrix<T, 8, 8> a, space T* target,             \
                                   ulong elements_per_row = 8, ulong2 origin = ulong2{0, 0}, \
                                   bool transpose = false, msim_site site = MSIM_HERE) {     \
    msim_uniform((const void*)MSIM_ADDRESS(target), elements_per_row, site);        \
    for (uint i = 0; i < 2; i++)                                                             \
      target[msim_offset(i, elements_per_row, origin, transpose)] = a.elements[i];           \
  }
MSIM_WRITABLE_SPACES(MSIM_MATRIX_STORE)
#undef MSIM_MATRIX_STORE

// This lane's two elements of a·b + c.
MSIM_COLLECTIVE float2 msim_multiply_spread(float2 a, float2 b, float2 c, msim_site site) {
  msim_simdgroup* group = msim_group();
  const msim_u64 sequence = group->sequence;
  const uint parity = uint(sequence & 1);
  const msim_cell cell = msim_lane_cell();
  float* d = group->d[parity];
  for (uint i = 0; i < 2; i++) {
    const uint at = cell.row * 8 + cell.column + i;
    group->a[parity][at] = a[i];
    group->b[parity][at] = b[i];
    d[at] = c[i];
  }
  msim_sync(MSIM_MATRIX, 0, site);
  if (group->matrix_at[parity] != sequence + 1) {
    msim_multiply(d, group->a[parity], group->b[parity], d);
    group->matrix_at[parity] = sequence + 1;
  }
  const uint at = cell.row * 8 + cell.column;
  return float2{d[at], d[at + 1]};
}

template <class D, class A, class B, class C>
MSIM_INLINE void simdgroup_multiply_accumulate(thread simdgroup_matrix<D, 8, 8>& d,
                                               thread const simdgroup_matrix<A, 8, 8>& a,
                                               thread const simdgroup_matrix<B, 8, 8>& b,
                                               thread const simdgroup_matrix<C, 8, 8>& c,
                                               msim_site site = MSIM_HERE) {
  typedef typename simdgroup_matrix<D, 8, 8>::storage_type storage;
  d.elements = msim_make<storage>(msim_multiply_spread(msim_make<float2>(a.elements),
                                                       msim_make<float2>(b.elements),
                                                       msim_make<float2>(c.elements), site));
}
}  // namespace metal
