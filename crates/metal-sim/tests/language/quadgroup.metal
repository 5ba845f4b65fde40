// Quadgroup functions (specification 6.9.3).
#include <metal_stdlib>
#include <metal_quadgroup>
using namespace metal;

#define EXPECT(...) if (!(__VA_ARGS__)) failed[t] = __LINE__

kernel void reductions(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    const uint base = t & ~3u;
    EXPECT(quad_sum(t) == 4 * base + 6 && quad_product(t % 4 + 1.0f) == 24);
    EXPECT(quad_min(t) == base && quad_max(half(t)) == half(base + 3));
    EXPECT(quad_and(t) == base && quad_or(t) == base + 3 && quad_xor(t) == 0);
    EXPECT(quad_prefix_inclusive_sum(1u) == t % 4 + 1 &&
        quad_prefix_exclusive_sum(2.0f) == t % 4 * 2.0f);
    EXPECT(quad_prefix_inclusive_product(2u) == 2u << t % 4);
    const int powers[4] = {1, 3, 9, 27};
    EXPECT(quad_prefix_exclusive_product(3) == powers[t % 4]);
}

kernel void shuffles(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    const uint base = t & ~3u, index = t & 3;
    EXPECT(quad_shuffle(t, ushort(3 - index)) == base + 3 - index);
    EXPECT(quad_shuffle_xor(t, 2) == (t ^ 2));
    EXPECT(quad_shuffle_up(t, 1) == (index >= 1 ? t - 1 : t));
    EXPECT(quad_shuffle_down(t, 1) == (index < 3 ? t + 1 : t));
    EXPECT(quad_shuffle_rotate_up(t, 1) == base + (index + 3) % 4);
    EXPECT(quad_shuffle_rotate_down(t, 1) == base + (index + 1) % 4);
    EXPECT(quad_shuffle_and_fill_up(t, 100 + t, 1) == (index == 0 ? 103 + base : t - 1));
    EXPECT(quad_shuffle_and_fill_down(t, 100 + t, 1) == (index == 3 ? 100 + base : t + 1));
    EXPECT(quad_broadcast(float(t), 2) == float(base + 2) && quad_broadcast_first(t) == base);
}

kernel void votes(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    EXPECT((quad_vote::vote_t)quad_ballot(t % 4 == 2) == 4);
    EXPECT(quad_all(true) && !quad_all(t % 4 != 1) && quad_any(t % 4 == 3) && !quad_any(false));
    EXPECT(quad_ballot(true).all() && quad_active_threads_mask().all());
    EXPECT(quad_is_first() == (t % 4 == 0) && !quad_is_helper_thread());
}
