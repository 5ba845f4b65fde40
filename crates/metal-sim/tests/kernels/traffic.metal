// Kernels whose reads and writes can be counted by hand.
#include <metal_stdlib>
using namespace metal;

// Each value once.
kernel void copy(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                 uint i [[thread_position_in_grid]]) {
  y[i] = x[i];
}

// Every 16th value: one of each line.
kernel void stride(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
  y[i] = x[16 * i];
}

// All values by every threadgroup, through threadgroup memory.
kernel void all_by_each(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                        uint i [[thread_position_in_grid]],
                        ushort t [[thread_index_in_threadgroup]]) {
  threadgroup float s[32];
  float sum = 0;
  for (uint first = 0; first < 128; first += 32) {
    s[t] = x[first + t];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sum += s[31 - t];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  y[i] = sum;
}

// Half of each line by each of two threadgroups.
kernel void half_lines(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                       uint i [[thread_position_in_grid]], uint group [[threadgroup_position_in_grid]],
                       ushort t [[thread_index_in_threadgroup]]) {
  y[i] = x[t / 8 * 16 + t % 8 + 8 * group];
}
