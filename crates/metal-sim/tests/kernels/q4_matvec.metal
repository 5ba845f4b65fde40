// y = W x, with W in blocks of 32 weights: a half scale and 16 bytes, whose low nibbles are the
// first 16 weights and whose high ones are the rest, each minus 8.
#include <metal_stdlib>
using namespace metal;

struct Block {
  half scale;
  uchar nibbles[16];
};

struct Matrix {
  uint rows, columns;
};

constant uint ROWS [[function_constant(0)]];

// Each simdgroup takes ROWS rows; two lanes share a block.
kernel void q4_matvec(device const Block* w [[buffer(0)]], device const float* x [[buffer(1)]],
                      device float* y [[buffer(2)]], constant Matrix& matrix [[buffer(3)]],
                      uint threadgroup_index [[threadgroup_position_in_grid]],
                      ushort lane [[thread_index_in_simdgroup]],
                      ushort simdgroup [[simdgroup_index_in_threadgroup]],
                      ushort simdgroups [[simdgroups_per_threadgroup]]) {
  const uint blocks = matrix.columns / 32;
  const uint first = (threadgroup_index * simdgroups + simdgroup) * ROWS;
  const uint half_of_block = 8 * (lane & 1);
  for (uint row = first; row < min(first + ROWS, matrix.rows); row++) {
    float sum = 0;
    for (uint b = lane / 2; b < blocks; b += 16) {
      device const Block& block = w[row * blocks + b];
      device const float* values = x + b * 32 + half_of_block;
      float part = 0;
      for (uint i = 0; i < 8; i++) {
        const uchar two = block.nibbles[half_of_block + i];
        part += values[i] * (int(two & 15) - 8) + values[i + 16] * (int(two >> 4) - 8);
      }
      sum += float(block.scale) * part;
    }
    sum = simd_sum(sum);
    if (lane == 0) y[row] = sum;
  }
}
