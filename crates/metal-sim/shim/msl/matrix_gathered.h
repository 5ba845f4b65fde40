// simdgroup_matrix kept by lane 0, for fast mode: no rendezvous but where a kernel asks for the
// elements of its lane.
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

  MSIM_INLINE simdgroup_matrix() : spread(false) {}
  MSIM_INLINE explicit simdgroup_matrix(T diagonal) : spread(false) {
    if (msim_lane() != 0) return;
    for (int i = 0; i < 64; i++) all[i] = i % 9 == 0 ? diagonal : T(0);
  }
  MSIM_INLINE thread storage_type& thread_elements() {
    if (!spread) msim_spread();
    return elements;
  }
  MSIM_INLINE const thread storage_type& thread_elements() const {
    return const_cast<simdgroup_matrix*>(this)->thread_elements();
  }
  MSIM_INLINE void msim_fill(T value) {
    spread = false;
    if (msim_lane() != 0) return;
    for (int i = 0; i < 64; i++) all[i] = value;
  }
  // Brings the elements back to lane 0 where lanes have them.
  MSIM_INLINE void msim_whole() const {
    if (__builtin_expect(spread, 0)) const_cast<simdgroup_matrix*>(this)->msim_gather();
  }

  __attribute__((noinline, nodebug)) void msim_spread() {
    msim_simdgroup* group = msim_group();
    float* shared = group->a[group->sequence & 1];
    if (msim_lane() == 0)
      for (int i = 0; i < 64; i++) shared[i] = float(all[i]);
    msim_sync(MSIM_MATRIX, 0, msim_site{"thread_elements", 1, 1});
    const msim_cell cell = msim_lane_cell();
    for (uint i = 0; i < 2; i++) elements[i] = T(shared[cell.row * 8 + cell.column + i]);
    spread = true;
  }
  __attribute__((noinline, nodebug)) void msim_gather() {
    msim_simdgroup* group = msim_group();
    float* shared = group->a[group->sequence & 1];
    const msim_cell cell = msim_lane_cell();
    for (uint i = 0; i < 2; i++) shared[cell.row * 8 + cell.column + i] = float(elements[i]);
    msim_sync(MSIM_MATRIX, 0, msim_site{"thread_elements", 2, 1});
    if (msim_lane() == 0)
      for (int i = 0; i < 64; i++) all[i] = T(shared[i]);
    spread = false;
  }

  T all[64];
  storage_type elements;
  bool spread;
};

template <class T>
MSIM_INLINE void simdgroup_load(thread simdgroup_matrix<T, 8, 8>& d, const T* source,
                                ulong elements_per_row = 8, ulong2 origin = ulong2{0, 0},
                                bool transpose = false) {
  d.spread = false;
  if (msim_lane() != 0) return;
  source += origin.y * elements_per_row + origin.x;
  for (uint r = 0; r < 8; r++)
    for (uint c = 0; c < 8; c++)
      d.all[transpose ? c * 8 + r : r * 8 + c] = source[r * elements_per_row + c];
}

template <class T>
MSIM_INLINE void simdgroup_store(thread const simdgroup_matrix<T, 8, 8>& a, T* target,
                                 ulong elements_per_row = 8, ulong2 origin = ulong2{0, 0},
                                 bool transpose = false) {
  a.msim_whole();
  if (msim_lane() != 0) return;
  target += origin.y * elements_per_row + origin.x;
  for (uint r = 0; r < 8; r++)
    for (uint c = 0; c < 8; c++)
      target[r * elements_per_row + c] = a.all[transpose ? c * 8 + r : r * 8 + c];
}

template <class D, class A, class B, class C>
MSIM_INLINE void simdgroup_multiply_accumulate(thread simdgroup_matrix<D, 8, 8>& d,
                                               thread const simdgroup_matrix<A, 8, 8>& a,
                                               thread const simdgroup_matrix<B, 8, 8>& b,
                                               thread const simdgroup_matrix<C, 8, 8>& c,
                                               msim_site = msim_site{}) {
  a.msim_whole();
  b.msim_whole();
  c.msim_whole();
  d.spread = false;
  if (msim_lane() != 0) return;
  msim_multiply(d.all, a.all, b.all, c.all);
}
}  // namespace metal
