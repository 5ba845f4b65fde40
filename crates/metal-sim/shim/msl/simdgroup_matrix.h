// 8 x 8 matrices held by a simdgroup (specification 6.7). Two forms with the same results: spread,
// where each lane keeps and touches its own two elements, so that races are seen lane by lane; and
// gathered, for fast runs, where lane 0 keeps all 64 and the others have nothing to do.
#pragma once
#pragma clang system_header
#include "construct.h"
#include "exchange.h"

namespace metal {
// Row and first of two columns that a lane keeps; the layout that Apple's GPUs are known to have.
struct msim_cell {
  uint row, column;
};
MSIM_INLINE msim_cell msim_lane_cell() {
  const uint lane = msim_lane();
  return {(lane >> 4) * 4 + (lane >> 1 & 3), (lane >> 3 & 1) * 4 + (lane & 1) * 2};
}

typedef float msim_floats __attribute__((ext_vector_type(8)));
template <class T>
MSIM_INLINE msim_floats msim_row(const T* from) {
  typedef T elements __attribute__((ext_vector_type(8)));
  elements row;
  __builtin_memcpy(&row, from, sizeof(row));
  return __builtin_convertvector(row, msim_floats);
}

// d = a·b + c in float, each element by fused steps in the order of k; d may be c.
template <class D, class A, class B, class C>
MSIM_COLLECTIVE void msim_multiply(D* d, const A* a, const B* b, const C* c) {
  msim_floats right[8];
  for (int k = 0; k < 8; k++) right[k] = msim_row(b + 8 * k);
  for (int r = 0; r < 8; r++) {
    const msim_floats left = msim_row(a + 8 * r);
    msim_floats sum = msim_row(c + 8 * r);
    for (int k = 0; k < 8; k++)
      sum = __builtin_elementwise_fma(msim_floats(left[k]), right[k], sum);
    for (int i = 0; i < 8; i++) d[8 * r + i] = D(sum[i]);
  }
}

template <class T, int Columns, int Rows = Columns>
struct simdgroup_matrix;
}  // namespace metal

#if defined(MSIM_CHECKED) || defined(MSIM_STRICT)
#include "matrix_spread.h"
#else
#include "matrix_gathered.h"
#endif

namespace metal {
typedef simdgroup_matrix<float, 8, 8> simdgroup_float8x8;
typedef simdgroup_matrix<half, 8, 8> simdgroup_half8x8;
typedef simdgroup_matrix<bfloat, 8, 8> simdgroup_bfloat8x8;

template <class T, int Columns, int Rows = Columns>
MSIM_INLINE simdgroup_matrix<T, Columns, Rows> make_filled_simdgroup_matrix(T value) {
  simdgroup_matrix<T, Columns, Rows> result;
  result.msim_fill(value);
  return result;
}

template <class D, class A, class B>
MSIM_INLINE void simdgroup_multiply(thread simdgroup_matrix<D, 8, 8>& d,
                                    thread const simdgroup_matrix<A, 8, 8>& a,
                                    thread const simdgroup_matrix<B, 8, 8>& b,
                                    msim_site site = MSIM_HERE) {
  simdgroup_multiply_accumulate(d, a, b, make_filled_simdgroup_matrix<D, 8, 8>(D(0)), site);
}
}  // namespace metal
