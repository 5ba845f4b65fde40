// Collectives that the lanes of a simdgroup do not reach alike.
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

// expect: simd-divergence
kernel void half_of_the_lanes(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                              ushort t [[thread_index_in_threadgroup]],
                              ushort lane [[thread_index_in_simdgroup]]) {
  float v = x[t];
  if (lane < 16) v = simd_sum(v);  // here
  y[t] = v;
}

// expect: simd-divergence while another lane of its simdgroup waits at a
kernel void two_collectives(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                            ushort t [[thread_index_in_threadgroup]],
                            ushort lane [[thread_index_in_simdgroup]]) {
  float v = x[t];
  if (lane & 1)
    v = simd_sum(v);  // here
  else
    v = simd_max(v);  // here
  y[t] = v;
}

// expect: simd-divergence
kernel void lanes_returned_before(device const float* x [[buffer(0)]],
                                  device float* y [[buffer(1)]],
                                  ushort t [[thread_index_in_threadgroup]]) {
  if (t >= 100) return;
  y[t] = simd_sum(x[t]);  // here
}

// expect: simd-divergence
kernel void collective_in_an_uneven_loop(device const float* x [[buffer(0)]],
                                         device float* y [[buffer(1)]],
                                         ushort t [[thread_index_in_threadgroup]],
                                         ushort lane [[thread_index_in_simdgroup]]) {
  float sum = 0;
  for (ushort i = lane; i < 40; i += 32) sum += simd_sum(x[i]);  // here
  y[t] = sum;
}

// expect: simd-divergence
kernel void shuffle_under_a_condition(device const float* x [[buffer(0)]],
                                      device float* y [[buffer(1)]],
                                      ushort t [[thread_index_in_threadgroup]],
                                      ushort lane [[thread_index_in_simdgroup]]) {
  float v = x[t];
  if (lane != 7) v = simd_shuffle_xor(v, 1);  // here
  y[t] = v;
}

// expect: simd-divergence
kernel void vote_under_a_condition(device const float* x [[buffer(0)]],
                                   device float* y [[buffer(1)]],
                                   ushort t [[thread_index_in_threadgroup]]) {
  y[t] = x[t] > 3 && simd_any(x[t] > 5);  // here
}

// expect: simd-divergence
kernel void simdgroup_barrier_for_half(device float* y [[buffer(1)]],
                                       ushort t [[thread_index_in_threadgroup]],
                                       ushort lane [[thread_index_in_simdgroup]]) {
  if (lane < 16) simdgroup_barrier(mem_flags::mem_threadgroup);  // here
  y[t] = 1;
}

// expect: simd-divergence the others wait at a threadgroup_barrier
kernel void collective_against_barrier(device const float* x [[buffer(0)]],
                                       device float* y [[buffer(1)]],
                                       ushort t [[thread_index_in_threadgroup]],
                                       ushort lane [[thread_index_in_simdgroup]]) {
  float v = x[t];
  if (lane < 16)
    v = simd_sum(v);  // here
  else
    threadgroup_barrier(mem_flags::mem_threadgroup);
  y[t] = v;
}

// expect: inactive-lane
// launch: threads=40
kernel void shuffle_from_a_missing_lane(device const float* x [[buffer(0)]],
                                        device float* y [[buffer(1)]],
                                        ushort t [[thread_index_in_threadgroup]],
                                        ushort lane [[thread_index_in_simdgroup]]) {
  y[t] = simd_shuffle(x[t], ushort((lane + 8) % 32));  // here
}

// expect: inactive-lane
// launch: threads=40
kernel void broadcast_from_a_missing_lane(device const float* x [[buffer(0)]],
                                          device float* y [[buffer(1)]],
                                          ushort t [[thread_index_in_threadgroup]]) {
  y[t] = simd_broadcast(x[t], 20);  // here
}

// expect: inactive-lane
kernel void shuffle_from_lane_forty(device const float* x [[buffer(0)]],
                                    device float* y [[buffer(1)]],
                                    ushort t [[thread_index_in_threadgroup]]) {
  y[t] = simd_shuffle(x[t], 40);  // here
}

// expect: simd-divergence different pointers or strides
kernel void tile_pointer_of_each_lane(device const float* x [[buffer(0)]],
                                      device float* y [[buffer(1)]],
                                      ushort lane [[thread_index_in_simdgroup]],
                                      ushort simdgroup [[simdgroup_index_in_threadgroup]]) {
  simdgroup_float8x8 tile;
  simdgroup_load(tile, x + lane, 8);
  simdgroup_barrier(mem_flags::mem_none);
  if (simdgroup == 0) simdgroup_store(tile, y, 8);
}

// expect: simd-divergence different pointers or strides
// launch: x=1024
kernel void tile_stride_of_each_lane(device const float* x [[buffer(0)]],
                                     device float* y [[buffer(1)]],
                                     ushort lane [[thread_index_in_simdgroup]],
                                     ushort simdgroup [[simdgroup_index_in_threadgroup]]) {
  simdgroup_float8x8 tile;
  simdgroup_load(tile, x, 8 + lane);
  simdgroup_barrier(mem_flags::mem_none);
  if (simdgroup == 0) simdgroup_store(tile, y, 8);
}

// silent
// launch: threads=40
kernel void sum_of_an_incomplete_simdgroup(device const float* x [[buffer(0)]],
                                           device float* y [[buffer(1)]],
                                           ushort t [[thread_index_in_threadgroup]]) {
  y[t] = simd_sum(x[t]);
}

// silent
kernel void whole_simdgroups_apart(device const float* x [[buffer(0)]],
                                   device float* y [[buffer(1)]],
                                   ushort t [[thread_index_in_threadgroup]],
                                   ushort simdgroup [[simdgroup_index_in_threadgroup]]) {
  float v = x[t];
  if (simdgroup == 1)
    v = simd_sum(v);
  else if (simdgroup == 2)
    v = simd_shuffle_xor(v, 3);
  y[t] = v;
}
