// Kernels that are launched one after the other.
#include <metal_stdlib>
using namespace metal;

kernel void twice(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  y[i] = 2 * x[i];
}

kernel void astray(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
  y[i + 64] = x[i];
}
