// Accesses that nothing orders.
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

// expect: race threadgroup variable 's'
kernel void all_write_one_place(device float* y [[buffer(1)]],
                                ushort t [[thread_index_in_threadgroup]]) {
  threadgroup float s;
  s = t;  // here
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = s;
}

// expect: race by another threadgroup
// launch: groups=2 x=256
kernel void sum_over_threadgroups(device const float* x [[buffer(0)]],
                                  device float* y [[buffer(1)]],
                                  uint i [[thread_position_in_grid]],
                                  ushort t [[thread_index_in_threadgroup]]) {
  y[t] += x[i];  // here
}

// expect: race by another threadgroup
// launch: groups=2 x=256 y=256
kernel void neighbours_in_place(device float* y [[buffer(1)]],
                                uint i [[thread_position_in_grid]],
                                uint n [[threads_per_grid]]) {
  const float next = y[(i + 128) % n];  // here
  y[i] = next;                          // here
}

// expect: race by another threadgroup
// launch: groups=4 y=512
kernel void last_threadgroup_reads_all(device float* y [[buffer(1)]],
                                       uint i [[thread_position_in_grid]],
                                       uint group [[threadgroup_position_in_grid]]) {
  if (group < 3)
    y[i] = i;  // here
  else
    y[i] = y[i - 128];  // here
}

// expect: race buffer(1) 'y'
kernel void plain_and_atomic(device float* y [[buffer(1)]],
                             ushort t [[thread_index_in_threadgroup]]) {
  device atomic_uint* count = (device atomic_uint*)y;
  if (t == 0)
    y[0] = 0;  // here
  else
    atomic_fetch_add_explicit(count, 1, memory_order_relaxed);  // here
}

// expect: race buffer(1) 'y'
// launch: groups=2
kernel void atomic_then_plain_read(device float* y [[buffer(1)]],
                                   ushort t [[thread_index_in_threadgroup]]) {
  device atomic_uint* count = (device atomic_uint*)y;
  if (t == 0) atomic_fetch_add_explicit(count, 1, memory_order_relaxed);  // here
  threadgroup_barrier(mem_flags::mem_device);
  if (t == 1) y[1] = y[0];  // here
}

// expect: race threadgroup variable 'nibbles'
kernel void two_threads_a_byte(device float* y [[buffer(1)]],
                               ushort t [[thread_index_in_threadgroup]]) {
  threadgroup uchar nibbles[64];
  if (t < 64) nibbles[t] = 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  nibbles[t / 2] |= (t & 1) << (4 * (t & 1));  // here
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = nibbles[t / 2];
}

// expect: race buffer(1) 'y'
kernel void two_simdgroups_store_one_tile(device const float* x [[buffer(0)]],
                                          device float* y [[buffer(1)]],
                                          ushort simdgroup [[simdgroup_index_in_threadgroup]]) {
  simdgroup_float8x8 tile;
  simdgroup_load(tile, x, 8);
  if (simdgroup < 2) simdgroup_store(tile, y, 8);  // here
}

// expect: race threadgroup variable 's'
kernel void tile_loaded_before_it_is_stored(device const float* x [[buffer(0)]],
                                            device float* y [[buffer(1)]],
                                            ushort t [[thread_index_in_threadgroup]],
                                            ushort simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float s[64];
  if (t < 64) s[t] = x[t];  // here
  simdgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_float8x8 tile;
  simdgroup_load(tile, s, 8);  // here
  if (simdgroup == 0) simdgroup_store(tile, y, 8);
}

// expect: race buffer(1) 'y'
kernel void halves_that_overlap(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                                ushort t [[thread_index_in_threadgroup]]) {
  device half* halves = (device half*)y;
  if (t < 127) {
    halves[t] = half(x[t]);      // here
    halves[t + 1] = half(x[t]);  // here
  }
}

// silent
// launch: groups=2 x=256
kernel void atomic_sum_over_threadgroups(device const float* x [[buffer(0)]],
                                         device float* y [[buffer(1)]],
                                         uint i [[thread_position_in_grid]],
                                         ushort t [[thread_index_in_threadgroup]]) {
  atomic_fetch_add_explicit((device atomic_float*)y + t, x[i], memory_order_relaxed);
}

// silent
// launch: groups=2 y=256
kernel void bytes_side_by_side(device float* y [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  ((device uchar*)y)[i] = uchar(i);
}

// silent
kernel void atomic_counter_of_a_threadgroup(device float* y [[buffer(1)]],
                                            ushort t [[thread_index_in_threadgroup]]) {
  threadgroup atomic_uint count;
  if (t == 0) atomic_store_explicit(&count, 0, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = atomic_load_explicit(&count, memory_order_relaxed);
}
