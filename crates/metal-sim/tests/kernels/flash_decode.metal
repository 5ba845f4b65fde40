// Attention of one position: a threadgroup a head, whose simdgroups share the positions before and
// combine what they found.
#include <metal_stdlib>
using namespace metal;

struct Attention {
  uint positions, kv_heads, heads_per_kv_head;
  float scale;
};

template <typename T, int D>
kernel void flash_decode(device const float* q [[buffer(0)]], device const T* k [[buffer(1)]],
                         device const T* v [[buffer(2)]], device float* out [[buffer(3)]],
                         constant Attention& attention [[buffer(4)]],
                         uint head [[threadgroup_position_in_grid]],
                         ushort lane [[thread_index_in_simdgroup]],
                         ushort simdgroup [[simdgroup_index_in_threadgroup]],
                         ushort simdgroups [[simdgroups_per_threadgroup]]) {
  constexpr int EACH = D / 32;
  threadgroup float sums[8][D], maxima[8], weights[8];
  const uint kv_head = head / attention.heads_per_kv_head;
  float query[EACH], sum[EACH];
  for (int e = 0; e < EACH; e++) {
    query[e] = q[head * D + lane * EACH + e] * attention.scale;
    sum[e] = 0;
  }
  float largest = -INFINITY, weight = 0;
  for (uint p = simdgroup; p < attention.positions; p += simdgroups) {
    const uint at = (p * attention.kv_heads + kv_head) * D + lane * EACH;
    float score = 0;
    for (int e = 0; e < EACH; e++) score += query[e] * float(k[at + e]);
    score = simd_sum(score);
    const float next = max(largest, score);
    const float old = exp(largest - next), fresh = exp(score - next);
    weight = weight * old + fresh;
    for (int e = 0; e < EACH; e++) sum[e] = sum[e] * old + fresh * float(v[at + e]);
    largest = next;
  }
  for (int e = 0; e < EACH; e++) sums[simdgroup][lane * EACH + e] = sum[e];
  if (lane == 0) {
    maxima[simdgroup] = largest;
    weights[simdgroup] = weight;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (simdgroup > 0) return;
  float all = -INFINITY, total = 0;
  for (ushort s = 0; s < simdgroups; s++) all = max(all, maxima[s]);
  for (ushort s = 0; s < simdgroups; s++) total += weights[s] * exp(maxima[s] - all);
  for (int e = 0; e < EACH; e++) {
    float value = 0;
    for (ushort s = 0; s < simdgroups; s++)
      value += sums[s][lane * EACH + e] * exp(maxima[s] - all);
    out[head * D + lane * EACH + e] = value / total;
  }
}

template [[host_name("flash_decode_f32_64")]] kernel void flash_decode<float, 64>(
    device const float*, device const float*, device const float*, device float*,
    constant Attention&, uint, ushort, ushort, ushort);
template [[host_name("flash_decode_f16_128")]] kernel void flash_decode<half, 128>(
    device const float*, device const half*, device const half*, device float*,
    constant Attention&, uint, ushort, ushort, ushort);
