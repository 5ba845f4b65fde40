// 8 x 8 matrices held by a simdgroup (specification 6.7). Two forms with the same results: spread, where
// each lane keeps and touches its own two elements, so that races are seen lane by lane; and gathered,
// for fast runs, where lane 0 keeps all 64 and the others have nothing to do.
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
  const uint lane = msim_thread.lane;
  return {(lane >> 4) * 4 + (lane >> 1 & 3), (lane >> 3 & 1) * 4 + (lane & 1) * 2};
}

// d = a·b + d, all float, each element by fused steps in the order of k.
MSIM_INLINE void msim_multiply(const float* a, const float* b, float* d) {
  typedef float row __attribute__((ext_vector_type(8), aligned(4)));
  for (int r = 0; r < 8; r++) {
    row sum = *(const row*)(d + 8 * r);
    for (int k = 0; k < 8; k++)
      sum = __builtin_elementwise_fma(row(a[8 * r + k]), *(const row*)(b + 8 * k), sum);
    *(row*)(d + 8 * r) = sum;
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
