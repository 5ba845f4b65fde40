// Adds up to 128 floats, with a barrier forgotten: `metal-sim run` finds it.
#include <metal_stdlib>
using namespace metal;

kernel void sum(device const float* x [[buffer(0)]],
                device float* y [[buffer(1)]],
                constant uint& count [[buffer(2)]],
                uint t [[thread_index_in_threadgroup]],
                uint lane [[thread_index_in_simdgroup]],
                uint sg [[simdgroup_index_in_threadgroup]]) {
  threadgroup float parts[4];
  float part = simd_sum(t < count ? x[t] : 0);
  if (lane == 0) parts[sg] = part;
  if (t == 0) y[0] = parts[0] + parts[1] + parts[2] + parts[3];
}
