// Simdgroup functions (specification 6.9.2).
#include <metal_stdlib>
#include <metal_simdgroup>
using namespace metal;

#define EXPECT(...) if (!(__VA_ARGS__)) failed[t] = __LINE__

kernel void reductions(
    device uint* failed [[buffer(0)]],
    uint t [[thread_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]])
{
    EXPECT(simd_sum(lane) == 496 && simd_sum(float(lane)) == 496 && simd_sum(half(1)) == 32.0h);
    EXPECT(simd_product(lane == 3 ? 5 : 1) == 5);
    EXPECT(simd_min(int(lane) - 7) == -7 && simd_max(ushort(lane)) == 31);
    EXPECT(simd_and(~(1u << lane)) == 0 && simd_or(1u << lane) == ~0u && simd_xor(lane) == 0);
    EXPECT(all(simd_sum(float2(lane, 1)) == float2(496, 32)));
    EXPECT(all(simd_max(short4(lane, -lane, 3, 4)) == short4(31, 0, 3, 4)));
    EXPECT(simd_sum(ulong(1) << 40) == ulong(32) << 40 && simd_min(char(lane)) == 0);
}

kernel void scans(
    device uint* failed [[buffer(0)]],
    uint t [[thread_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]])
{
    EXPECT(simd_prefix_inclusive_sum(lane) == lane * (lane + 1) / 2);
    EXPECT(simd_prefix_exclusive_sum(lane) == lane * (lane - 1) / 2);
    EXPECT(simd_prefix_inclusive_product(lane < 5 ? 2u : 1u) == 1u << min(lane + 1, 5u));
    EXPECT(simd_prefix_exclusive_product(lane < 5 ? 2.0f : 1.0f) == float(1u << min(lane, 5u)));
}

kernel void shuffles(
    device uint* failed [[buffer(0)]],
    uint t [[thread_position_in_grid]],
    ushort lane [[thread_index_in_simdgroup]])
{
    EXPECT(simd_shuffle(uint(lane), 31 - lane) == 31u - lane);
    EXPECT(simd_shuffle_xor(float(lane), 5) == float(lane ^ 5));
    EXPECT(simd_shuffle_up(uint(lane), 3) == (lane >= 3 ? lane - 3u : lane));
    EXPECT(simd_shuffle_down(uint(lane), 3) == (lane < 29 ? lane + 3u : lane));
    EXPECT(simd_shuffle_rotate_up(uint(lane), 3) == (lane + 29u) % 32);
    EXPECT(simd_shuffle_rotate_down(uint(lane), 3) == (lane + 3u) % 32);
    EXPECT(simd_broadcast(half(lane), 7) == 7.0h && simd_broadcast_first(uint(lane) + 4) == 4);
    const float4 moved = simd_shuffle(float4(lane, 0, 1, 2), ushort(9));
    EXPECT(all(moved == float4(9, 0, 1, 2)));
}

kernel void filling_shuffles(
    device uint* failed [[buffer(0)]],
    uint t [[thread_position_in_grid]],
    ushort lane [[thread_index_in_simdgroup]])
{
    // The filling continues the values: lanes 100…131 beside lanes 0…31.
    const uint up = simd_shuffle_and_fill_up(uint(lane), 100u + lane, 2);
    EXPECT(up == (lane < 2 ? 130u + lane : lane - 2u));
    const uint down = simd_shuffle_and_fill_down(uint(lane), 100u + lane, 2);
    EXPECT(down == (lane < 30 ? lane + 2u : 70u + lane));
    const uint base = lane & ~7u;
    const uint by_eights = simd_shuffle_and_fill_down(uint(lane), 100u + lane, 3, 8);
    EXPECT(by_eights == (lane % 8 < 5 ? lane + 3u : 100 + base + (lane + 3u) % 8));
}

kernel void votes(
    device uint* failed [[buffer(0)]],
    uint t [[thread_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]])
{
    const simd_vote odd = simd_ballot(lane % 2 == 1);
    EXPECT((simd_vote::vote_t)odd == 0xaaaaaaaau && odd.any() && !odd.all());
    EXPECT(simd_all(lane < 32) && !simd_all(lane < 31) && simd_any(lane == 9) &&
        !simd_any(lane > 31));
    EXPECT(ulong(simd_active_threads_mask()) == 0xffffffffu);
    EXPECT(simd_is_first() == (lane == 0) && !simd_is_helper_thread());
}
