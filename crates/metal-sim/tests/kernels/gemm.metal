// C = A B^T on simdgroup matrices: tiles of 64 x 32 by four simdgroups, 32 of the inner dimension
// at a time; edges are filled with zeros.
#include <metal_simdgroup_matrix>
#include <metal_stdlib>
using namespace metal;

struct Product {
  uint m, n, k;
};

template <typename T>
static void stage(threadgroup T* to, device const T* from, uint rows, uint first, uint limit,
                  uint column, uint columns, uint t) {
  for (uint i = t; i < rows * 32; i += 128) {
    const uint r = first + i / 32, c = column + i % 32;
    to[i] = r < limit && c < columns ? from[r * columns + c] : T(0);
  }
}

template <typename T>
kernel void gemm(device const T* a [[buffer(0)]], device const T* b [[buffer(1)]],
                 device float* c [[buffer(2)]], constant Product& product [[buffer(3)]],
                 threadgroup uchar* memory [[threadgroup(0)]],
                 uint2 tile [[threadgroup_position_in_grid]],
                 ushort t [[thread_index_in_threadgroup]],
                 ushort simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup T* left = (threadgroup T*)memory;
  threadgroup T* right = left + 64 * 32;
  const uint m = tile.y * 64, n = tile.x * 32;
  const uint row = simdgroup / 2 * 32, column = simdgroup % 2 * 16;
  simdgroup_float8x8 sums[4][2];
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 2; j++) sums[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);

  for (uint k = 0; k < product.k; k += 32) {
    stage(left, a, 64, m, product.m, k, product.k, t);
    stage(right, b, 32, n, product.n, k, product.k, t);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint inner = 0; inner < 32; inner += 8) {
      simdgroup_matrix<T, 8, 8> l[4], r[2];
      for (int i = 0; i < 4; i++) simdgroup_load(l[i], left + (row + 8 * i) * 32 + inner, 32);
      for (int j = 0; j < 2; j++)
        simdgroup_load(r[j], right + (column + 8 * j) * 32 + inner, 32, ulong2(0, 0), true);
      for (int i = 0; i < 4; i++)
        for (int j = 0; j < 2; j++)
          simdgroup_multiply_accumulate(sums[i][j], l[i], r[j], sums[i][j]);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }

  threadgroup float* result = (threadgroup float*)memory;
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 2; j++)
      simdgroup_store(sums[i][j], result + (row + 8 * i) * 32 + column + 8 * j, 32);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint i = t; i < 64 * 32; i += 128) {
    const uint r = m + i / 32, s = n + i % 32;
    if (r < product.m && s < product.n) c[r * product.n + s] = result[i];
  }
}

template [[host_name("gemm_f32")]] kernel void gemm<float>(
    device const float*, device const float*, device float*, constant Product&, threadgroup uchar*,
    uint2, ushort, ushort);
template [[host_name("gemm_f16")]] kernel void gemm<half>(
    device const half*, device const half*, device float*, constant Product&, threadgroup uchar*,
    uint2, ushort, ushort);
template [[host_name("gemm_bf16")]] kernel void gemm<bfloat>(
    device const bfloat*, device const bfloat*, device float*, constant Product&,
    threadgroup uchar*, uint2, ushort, ushort);
