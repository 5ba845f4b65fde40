// Kernels whose launches are looked at before they run.
#include <metal_stdlib>
using namespace metal;

struct Shape {
  uint a, b, c, d;
};

kernel void scale(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                  constant Shape& shape [[buffer(2)]], threadgroup float* s [[threadgroup(0)]],
                  ushort t [[thread_index_in_threadgroup]]) {
  s[t] = x[t] * shape.a;
  y[t] = s[t];
}

[[max_total_threads_per_threadgroup(64)]] kernel void at_most_64(
    device float* y [[buffer(1)]], ushort t [[thread_index_in_threadgroup]]) {
  y[t] = 1;
}

kernel void large_threadgroup(device float* y [[buffer(1)]],
                              ushort t [[thread_index_in_threadgroup]]) {
  threadgroup float s[5000];
  s[t] = 1;
  y[t] = s[t];
}
