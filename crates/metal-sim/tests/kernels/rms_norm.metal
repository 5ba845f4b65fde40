// y = x / sqrt(mean(x^2) + eps) * w, by row.
#include <metal_stdlib>
using namespace metal;

struct Norm {
  uint length;
  float eps;
};

// One simdgroup a row.
template <typename T>
kernel void by_simdgroup(device const T* x [[buffer(0)]], device const float* w [[buffer(1)]],
                         device T* y [[buffer(2)]], constant Norm& norm [[buffer(3)]],
                         uint row [[threadgroup_position_in_grid]],
                         uint lane [[thread_index_in_simdgroup]]) {
  device const T* from = x + row * norm.length;
  device T* to = y + row * norm.length;
  float squares = 0;
  for (uint i = lane; i < norm.length; i += 32) squares += float(from[i]) * float(from[i]);
  const float scale = rsqrt(simd_sum(squares) / norm.length + norm.eps);
  for (uint i = lane; i < norm.length; i += 32) to[i] = T(float(from[i]) * scale * w[i]);
}

template [[host_name("by_simdgroup_f32")]] kernel void by_simdgroup<float>(
    device const float*, device const float*, device float*, constant Norm&, uint, uint);
template [[host_name("by_simdgroup_f16")]] kernel void by_simdgroup<half>(
    device const half*, device const float*, device half*, constant Norm&, uint, uint);

// One threadgroup a row, four values at a time.
kernel void by_threadgroup(device const float4* x [[buffer(0)]],
                           device const float4* w [[buffer(1)]], device float4* y [[buffer(2)]],
                           constant Norm& norm [[buffer(3)]],
                           uint row [[threadgroup_position_in_grid]],
                           ushort t [[thread_index_in_threadgroup]],
                           ushort threads [[threads_per_threadgroup]],
                           ushort lane [[thread_index_in_simdgroup]],
                           ushort simdgroup [[simdgroup_index_in_threadgroup]],
                           ushort simdgroups [[simdgroups_per_threadgroup]]) {
  threadgroup float partial[32];
  const uint length = norm.length / 4;
  device const float4* from = x + row * length;
  float squares = 0;
  for (uint i = t; i < length; i += threads) squares += dot(from[i], from[i]);
  squares = simd_sum(squares);
  if (lane == 0) partial[simdgroup] = squares;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  squares = simd_sum(lane < simdgroups ? partial[lane] : 0.0f);
  const float scale = rsqrt(squares / norm.length + norm.eps);
  for (uint i = t; i < length; i += threads) y[row * length + i] = from[i] * scale * w[i];
}
