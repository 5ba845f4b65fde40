// Simdgroup matrices (specification 6.7).
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

#define EXPECT(...) if (!(__VA_ARGS__)) failed[t] = __LINE__

// a[row][column] = row * 8 + column, b = a / 8, both in the threadgroup memory of a simdgroup.
template <typename T, typename U>
static void fill(threadgroup T* a, threadgroup U* b, uint lane) {
    for (uint i = lane; i < 64; i += 32) {
        a[i] = T(i);
        b[i] = U(float(i) / 8);
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
}

static float product(uint row, uint column) {
    float sum = 0;
    for (uint k = 0; k < 8; k++) sum += float(row * 8 + k) * (float(k * 8 + column) / 8);
    return sum;
}

kernel void multiplication(
    device uint* failed [[buffer(0)]],
    uint t [[thread_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]])
{
    threadgroup float as[2][64], bs[2][64], ds[2][64];
    threadgroup float* a = as[simdgroup];
    threadgroup float* b = bs[simdgroup];
    threadgroup float* d = ds[simdgroup];
    fill(a, b, lane);
    simdgroup_float8x8 left, right, result = make_filled_simdgroup_matrix<float, 8, 8>(1);
    simdgroup_load(left, a, 8);
    simdgroup_load(right, b);
    simdgroup_multiply_accumulate(result, left, right, result);
    simdgroup_store(result, d, 8);
    simdgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = lane; i < 64; i += 32) EXPECT(d[i] == product(i / 8, i % 8) + 1);
    simdgroup_barrier(mem_flags::mem_threadgroup);
    simdgroup_multiply(result, left, simdgroup_float8x8(2));
    simdgroup_store(result, d, 8, ulong2(0, 0), true);
    simdgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = lane; i < 64; i += 32) EXPECT(d[i] == 2 * a[i % 8 * 8 + i / 8]);
}

kernel void mixed_types(
    device uint* failed [[buffer(0)]],
    uint t [[thread_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]])
{
    threadgroup half as[2][64];
    threadgroup bfloat bs[2][64];
    threadgroup float ds[2][64];
    fill(as[simdgroup], bs[simdgroup], lane);
    simdgroup_half8x8 left;
    simdgroup_bfloat8x8 right;
    simdgroup_float8x8 result(0);
    simdgroup_load(left, as[simdgroup], 8);
    simdgroup_load(right, bs[simdgroup], 8);
    simdgroup_multiply_accumulate(result, left, right, result);
    simdgroup_store(result, ds[simdgroup], 8);
    simdgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = lane; i < 64; i += 32) EXPECT(ds[simdgroup][i] == product(i / 8, i % 8));
}

kernel void origins_and_strides(
    device uint* failed [[buffer(0)]],
    uint t [[thread_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]])
{
    // 16 x 16 of which the middle is read, as it is and transposed.
    threadgroup float wide[2][256], out[2][64];
    for (uint i = lane; i < 256; i += 32) wide[simdgroup][i] = float(i);
    simdgroup_barrier(mem_flags::mem_threadgroup);
    simdgroup_float8x8 tile;
    simdgroup_load(tile, wide[simdgroup], 16, ulong2(4, 3), true);
    simdgroup_store(tile, out[simdgroup], 8);
    simdgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = lane; i < 64; i += 32) {
        const uint row = 3 + i % 8, column = 4 + i / 8;
        EXPECT(out[simdgroup][i] == float(row * 16 + column));
    }
}

kernel void elements_of_a_lane(
    device uint* failed [[buffer(0)]],
    uint t [[thread_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]],
    uint simdgroup [[simdgroup_index_in_threadgroup]])
{
    threadgroup float as[2][64], bs[2][64];
    fill(as[simdgroup], bs[simdgroup], lane);
    simdgroup_float8x8 m;
    simdgroup_load(m, as[simdgroup], 8);
    // Every element is in exactly one lane.
    EXPECT(simd_sum(m.thread_elements()[0] + m.thread_elements()[1]) == 2016);
    m.thread_elements()[0] += 100;
    m.thread_elements()[1] += 100;
    simdgroup_barrier(mem_flags::mem_threadgroup);
    simdgroup_store(m, as[simdgroup], 8);
    simdgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = lane; i < 64; i += 32) EXPECT(as[simdgroup][i] == float(i) + 100);
}
