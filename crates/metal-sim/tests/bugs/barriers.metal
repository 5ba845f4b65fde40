// Barriers that are missing, too weak, or not reached by all.
#include <metal_stdlib>
using namespace metal;

// expect: barrier-divergence reached by 100 of 128 threads; 28 had returned
// launch: n=100
kernel void early_return(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                         constant uint& n [[buffer(2)]], uint i [[thread_position_in_grid]],
                         ushort t [[thread_index_in_threadgroup]]) {
  threadgroup float s[128];
  if (i >= n) return;
  s[t] = x[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);  // here
  y[i] = s[t];
}

// expect: barrier-divergence threads
kernel void barrier_in_an_uneven_loop(device const float* x [[buffer(0)]],
                                      device float* y [[buffer(1)]],
                                      constant uint& n [[buffer(2)]],
                                      ushort t [[thread_index_in_threadgroup]]) {
  float sum = 0;
  for (uint i = t; i < n; i += 100) {
    sum += x[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);  // here
  }
  y[t] = sum;
}

// expect: barrier-divergence waits at threadgroup_barrier
kernel void two_different_barriers(device float* y [[buffer(1)]],
                                   ushort t [[thread_index_in_threadgroup]]) {
  if (t < 64)
    threadgroup_barrier(mem_flags::mem_threadgroup);  // here
  else
    threadgroup_barrier(mem_flags::mem_threadgroup);  // here
  y[t] = 1;
}

// expect: barrier-divergence reached by 64 of 128 threads
kernel void barrier_for_half(device float* y [[buffer(1)]],
                             ushort t [[thread_index_in_threadgroup]]) {
  if (t < 64) threadgroup_barrier(mem_flags::mem_threadgroup);  // here
  y[t] = 1;
}

static void meet() {
  threadgroup_barrier(mem_flags::mem_device);  // here
}

// expect: barrier-divergence reached by 96 of 128 threads
kernel void barrier_in_a_function_that_a_simdgroup_skips(
    device float* y [[buffer(1)]], ushort t [[thread_index_in_threadgroup]],
    ushort simdgroup [[simdgroup_index_in_threadgroup]]) {
  if (simdgroup != 2) meet();
  y[t] = 1;
}

// expect: race read of threadgroup variable 's' at offset
kernel void missing_barrier(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                            ushort t [[thread_index_in_threadgroup]]) {
  threadgroup float s[128];
  s[t] = 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  s[t] = x[t];      // here
  y[t] = s[127 - t];  // here
}

// expect: race threadgroup variable 's'
kernel void missing_second_barrier(device const float* x [[buffer(0)]],
                                   device float* y [[buffer(1)]],
                                   ushort t [[thread_index_in_threadgroup]]) {
  threadgroup float s[128];
  for (int i = 0; i < 2; i++) {
    s[t] = x[t] + i;  // here
    threadgroup_barrier(mem_flags::mem_threadgroup);
    y[t] = s[127 - t];  // here
  }
}

// expect: race threadgroup variable 's'
kernel void barrier_for_other_memory(device const float* x [[buffer(0)]],
                                     device float* y [[buffer(1)]],
                                     ushort t [[thread_index_in_threadgroup]]) {
  threadgroup float s[128];
  s[t] = 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  s[t] = x[t];  // here
  threadgroup_barrier(mem_flags::mem_device);
  y[t] = s[127 - t];  // here
}

// expect: race threadgroup variable 's'
kernel void barrier_for_no_memory(device const float* x [[buffer(0)]],
                                  device float* y [[buffer(1)]],
                                  ushort t [[thread_index_in_threadgroup]]) {
  threadgroup float s[128];
  s[t] = 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  s[t] = x[t];  // here
  threadgroup_barrier(mem_flags::mem_none);
  y[t] = s[127 - t];  // here
}

// expect: race buffer(1) 'y'
kernel void threadgroup_flag_for_device_memory(device const float* x [[buffer(0)]],
                                               device float* y [[buffer(1)]],
                                               ushort t [[thread_index_in_threadgroup]]) {
  y[t] = x[t];  // here
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t < 64) y[t] += y[t + 64];  // here
}

// expect: race threadgroup variable 's'
kernel void simdgroup_barrier_across_simdgroups(device const float* x [[buffer(0)]],
                                                device float* y [[buffer(1)]],
                                                ushort t [[thread_index_in_threadgroup]]) {
  threadgroup float s[128];
  s[t] = 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  s[t] = x[t];  // here
  simdgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = s[127 - t];  // here
}

// expect: race threadgroup variable 's'
kernel void no_simdgroup_barrier(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                                 ushort t [[thread_index_in_threadgroup]]) {
  threadgroup float s[128];
  s[t] = 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  s[t] = x[t];      // here
  y[t] = s[t ^ 1];  // here
}

// expect: race threadgroup variable 's'
kernel void simdgroup_barrier_for_other_memory(device const float* x [[buffer(0)]],
                                               device float* y [[buffer(1)]],
                                               ushort t [[thread_index_in_threadgroup]]) {
  threadgroup float s[128];
  s[t] = 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  s[t] = x[t];  // here
  simdgroup_barrier(mem_flags::mem_device);
  y[t] = s[t ^ 1];  // here
}

// expect: race threadgroup variable 's'
kernel void memory_used_again_without_a_barrier(device const float* x [[buffer(0)]],
                                                device float* y [[buffer(1)]],
                                                ushort t [[thread_index_in_threadgroup]]) {
  threadgroup float s[128];
  s[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float neighbour = s[(t + 1) % 128];  // here
  s[t] = neighbour;                          // here
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = s[t];
}

// silent
kernel void simdgroup_barrier_within_a_simdgroup(device const float* x [[buffer(0)]],
                                                 device float* y [[buffer(1)]],
                                                 ushort t [[thread_index_in_threadgroup]]) {
  threadgroup float s[128];
  s[t] = x[t];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = s[t ^ 31];
}

// silent
kernel void barrier_for_both_memories(device const float* x [[buffer(0)]],
                                      device float* y [[buffer(1)]],
                                      ushort t [[thread_index_in_threadgroup]]) {
  threadgroup float s[128];
  s[t] = x[t];
  y[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
  const float sum = s[127 - t] + y[127 - t];
  threadgroup_barrier(mem_flags::mem_device);
  y[t] = sum;
}
