// Accesses outside of what is bound or declared, or of what nobody wrote.
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

// expect: out-of-bounds read of 4 bytes past the end of buffer(0) 'x': offset 512, length 512
kernel void read_one_past_the_end(device const float* x [[buffer(0)]],
                                  device float* y [[buffer(1)]], constant uint& n [[buffer(2)]],
                                  ushort t [[thread_index_in_threadgroup]]) {
  float sum = 0;
  for (uint i = 0; i <= n; i++) sum += x[i];  // here
  if (t == 0) y[0] = sum;
}

// expect: out-of-bounds write of 4 bytes past the end of buffer(1) 'y': offset 512
kernel void write_past_the_end(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                               ushort t [[thread_index_in_threadgroup]]) {
  y[t + 1] = x[t];  // here
}

// expect: out-of-bounds before the start of buffer(0) 'x': offset -4
kernel void read_before_the_start(device const float* x [[buffer(0)]],
                                  device float* y [[buffer(1)]],
                                  ushort t [[thread_index_in_threadgroup]]) {
  y[t] = x[int(t) - 1];  // here
}

// expect: out-of-bounds read of 16 bytes past the end of buffer(0) 'x': offset 496, length 504
// launch: x=126
kernel void vector_half_past_the_end(device const float4* x [[buffer(0)]],
                                     device float* y [[buffer(1)]],
                                     ushort t [[thread_index_in_threadgroup]]) {
  if (t < 32) y[t] = x[t].x + x[t].w;  // here
}

// expect: out-of-bounds past the end of buffer(0) 'x'
// launch: x=64 slices
kernel void read_of_the_neighbour_slice(device const float* x [[buffer(0)]],
                                        device float* y [[buffer(1)]],
                                        ushort t [[thread_index_in_threadgroup]]) {
  y[t] = x[t];  // here
}

// expect: out-of-bounds buffer(1) 'y'
// launch: groups=2 y=200
kernel void last_threadgroup_past_the_end(device float* y [[buffer(1)]],
                                          uint i [[thread_position_in_grid]]) {
  y[i] = 1;  // here
}

// expect: out-of-bounds buffer(1) 'y'
kernel void atomic_past_the_end(device atomic_uint* y [[buffer(1)]],
                                ushort t [[thread_index_in_threadgroup]]) {
  atomic_fetch_add_explicit(y + 2 * t, 1, memory_order_relaxed);  // here
}

// expect: out-of-bounds buffer(0) 'x'
kernel void tile_past_the_end(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                              ushort simdgroup [[simdgroup_index_in_threadgroup]]) {
  simdgroup_float8x8 tile;
  simdgroup_load(tile, x + 64 * simdgroup, 8);  // here
  if (simdgroup == 0) simdgroup_store(tile, y, 8);
}

// expect: wild nothing is bound to
kernel void pointer_from_a_number(device float* y [[buffer(1)]], constant uint& n [[buffer(2)]],
                                  ushort t [[thread_index_in_threadgroup]]) {
  device const float* nowhere = (device const float*)(ulong(n) << 36);
  y[t] = nowhere[t];  // here
}

// expect: threadgroup-out-of-bounds threadgroup variable 's', which has 400 bytes
kernel void threadgroup_array_overrun(device const float* x [[buffer(0)]],
                                      device float* y [[buffer(1)]],
                                      ushort t [[thread_index_in_threadgroup]]) {
  threadgroup float s[100];
  threadgroup float* p = s;
  p[t] = x[t];  // here
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = p[t];
}

// expect: threadgroup-out-of-bounds of threadgroup variable 'a', which has 256 bytes
kernel void threadgroup_array_overrun_into_the_next(device const float* x [[buffer(0)]],
                                                    device float* y [[buffer(1)]],
                                                    ushort t [[thread_index_in_threadgroup]]) {
  threadgroup float a[64], b[64];
  if (t < 64) b[t] = 0;
  threadgroup float* p = a;
  p[t] = x[t];  // here
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = p[t] + b[t % 64];
}

// expect: threadgroup-out-of-bounds threadgroup variable
kernel void threadgroup_array_underrun(device const float* x [[buffer(0)]],
                                       device float* y [[buffer(1)]],
                                       ushort t [[thread_index_in_threadgroup]]) {
  threadgroup float s[128];
  threadgroup float* p = s;
  p[int(t) - 1] = x[t];  // here
  y[t] = 0;
}

// expect: threadgroup-out-of-bounds the [[threadgroup(0)]] argument, which has 256 bytes
// launch: local=256
kernel void threadgroup_argument_overrun(device const float* x [[buffer(0)]],
                                         device float* y [[buffer(1)]],
                                         threadgroup float* s [[threadgroup(0)]],
                                         ushort t [[thread_index_in_threadgroup]]) {
  s[t] = x[t];  // here
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = s[t];
}

// expect: threadgroup-out-of-bounds the [[threadgroup(0)]] argument
// launch: local=256 local1=512
kernel void threadgroup_argument_overrun_into_the_next(device const float* x [[buffer(0)]],
                                                       device float* y [[buffer(1)]],
                                                       threadgroup float* s [[threadgroup(0)]],
                                                       threadgroup float* r [[threadgroup(1)]],
                                                       ushort t [[thread_index_in_threadgroup]]) {
  r[t] = x[t];
  s[t] = x[t];  // here
  y[t] = r[t];
}

// expect: uninitialised threadgroup variable 's'
kernel void threadgroup_memory_nobody_wrote(device const float* x [[buffer(0)]],
                                            device float* y [[buffer(1)]],
                                            ushort t [[thread_index_in_threadgroup]]) {
  threadgroup float s[128];
  if (t > 0) s[t] = x[t];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = s[127 - t];  // here
}

// expect: uninitialised threadgroup variable 's'
// launch: groups=2
kernel void threadgroup_memory_of_the_last_threadgroup(device float* y [[buffer(1)]],
                                                       uint i [[thread_position_in_grid]],
                                                       uint group [[threadgroup_position_in_grid]],
                                                       ushort t [[thread_index_in_threadgroup]]) {
  threadgroup float s[128];
  if (group == 0) s[t] = t;
  if (i >= 128) y[t] = s[t];  // here
}

// expect: uninitialised read of threadgroup variable 's' at offset 2
kernel void half_of_a_word_written(device float* y [[buffer(1)]],
                                   ushort t [[thread_index_in_threadgroup]]) {
  threadgroup uint s[1];
  if (t == 0) *(threadgroup ushort*)s = 1;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = s[0];  // here
}

// expect: uninitialised buffer(1) 'y' at offset
// launch: poison
kernel void device_memory_nobody_wrote(device const float* x [[buffer(0)]],
                                       device float* y [[buffer(1)]],
                                       ushort t [[thread_index_in_threadgroup]]) {
  if (t < 100) y[t] = x[t];
  y[t] += 1;  // here
}

// silent
// launch: poison
kernel void device_memory_written_first(device const float* x [[buffer(0)]],
                                        device float* y [[buffer(1)]],
                                        ushort t [[thread_index_in_threadgroup]]) {
  y[t] = x[t];
  y[t] += 1;
}

// silent
// launch: x=64 slices
kernel void within_its_slice(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                             ushort t [[thread_index_in_threadgroup]]) {
  y[t] = x[t % 64];
}
