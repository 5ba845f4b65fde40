#include <metal_stdlib>
using namespace metal;

constant uint factor [[function_constant(0)]];

kernel void scale(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                  constant uint& n [[buffer(2)]], uint i [[thread_position_in_grid]]) {
  if (i < n) y[i] = x[i] * float(factor);
}

kernel void increment(device float* y [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  y[i] += 1;
}

// Each simdgroup's values in reverse, through threadgroup memory.
kernel void reverse(device float* y [[buffer(0)]], threadgroup float* staged [[threadgroup(0)]],
                    uint i [[thread_position_in_grid]],
                    uint lane [[thread_index_in_threadgroup]]) {
  staged[lane] = y[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = staged[31 - lane];
}
