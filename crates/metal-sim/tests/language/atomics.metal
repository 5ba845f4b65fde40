// Atomics (specification 6.15).
#include <metal_stdlib>
#include <metal_atomic>
using namespace metal;

#define EXPECT(...) if (!(__VA_ARGS__)) failed[t] = __LINE__
#define RELAXED memory_order_relaxed

static_assert(sizeof(atomic_uint) == 4 && sizeof(atomic<float>) == 4 &&
    sizeof(atomic_ulong) == 8, "");

kernel void counting(
    device uint* failed [[buffer(0)]],
    uint t [[thread_position_in_grid]],
    uint threads [[threads_per_threadgroup]])
{
    threadgroup atomic_uint sum, most, least, bits;
    threadgroup atomic_int signed_sum;
    threadgroup atomic<float> float_sum;
    if (t == 0) {
        atomic_store_explicit(&sum, 0, RELAXED);
        atomic_store_explicit(&most, 0, RELAXED);
        atomic_store_explicit(&least, 1000, RELAXED);
        atomic_store_explicit(&bits, 0, RELAXED);
        atomic_store_explicit(&signed_sum, 0, RELAXED);
        atomic_store_explicit(&float_sum, 0, RELAXED);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    atomic_fetch_add_explicit(&sum, t, RELAXED);
    atomic_fetch_max_explicit(&most, t, RELAXED);
    atomic_fetch_min_explicit(&least, t, RELAXED);
    atomic_fetch_or_explicit(&bits, 1u << (t & 31), RELAXED);
    atomic_fetch_sub_explicit(&signed_sum, int(t), RELAXED);
    atomic_fetch_add_explicit(&float_sum, 0.5f, RELAXED);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    EXPECT(atomic_load_explicit(&sum, RELAXED) == threads * (threads - 1) / 2);
    EXPECT(atomic_load_explicit(&most, RELAXED) == threads - 1);
    EXPECT(atomic_load_explicit(&least, RELAXED) == 0);
    EXPECT(atomic_load_explicit(&bits, RELAXED) == 0xffffffffu);
    EXPECT(atomic_load_explicit(&signed_sum, RELAXED) == -int(threads * (threads - 1) / 2));
    EXPECT(atomic_load_explicit(&float_sum, RELAXED) == float(threads) / 2);
}

kernel void returned_values(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    threadgroup atomic_uint cells[64];
    threadgroup atomic_bool flags[64];
    threadgroup atomic_uint* cell = &cells[t];
    atomic_store_explicit(cell, 6, RELAXED);
    EXPECT(atomic_fetch_add_explicit(cell, 1, RELAXED) == 6);
    EXPECT(atomic_exchange_explicit(cell, 12, RELAXED) == 7);
    EXPECT(atomic_fetch_and_explicit(cell, 10, RELAXED) == 12);
    EXPECT(atomic_fetch_xor_explicit(cell, 1, RELAXED) == 8);
    uint expected = 3;
    EXPECT(!atomic_compare_exchange_weak_explicit(cell, &expected, 5, RELAXED, RELAXED));
    EXPECT(expected == 9);
    while (!atomic_compare_exchange_weak_explicit(cell, &expected, 5, RELAXED, RELAXED)) {}
    EXPECT(atomic_load_explicit(cell, RELAXED) == 5);
    atomic_store_explicit(&flags[t], true, RELAXED);
    EXPECT(atomic_exchange_explicit(&flags[t], false, RELAXED));
    EXPECT(!atomic_load_explicit(&flags[t], RELAXED));
}

kernel void in_device_memory(device uint* failed [[buffer(0)]],
    uint t [[thread_position_in_grid]]) {
    // Every thread adds to the last cell and takes it away again; zeros are what stays.
    device atomic_uint* cell = (device atomic_uint*)failed + 63;
    atomic_fetch_add_explicit(cell, t + 1, RELAXED);
    threadgroup_barrier(mem_flags::mem_device);
    const uint sum = atomic_load_explicit(cell, RELAXED);
    threadgroup_barrier(mem_flags::mem_device);
    atomic_fetch_sub_explicit(cell, t + 1, RELAXED);
    threadgroup_barrier(mem_flags::mem_device);
    EXPECT(sum == 64 * 65 / 2);
}
