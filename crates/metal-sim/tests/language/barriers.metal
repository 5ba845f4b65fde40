// Threadgroup memory, barriers, and the built-in positions (specification 4.4, 5.2.3, 6.9.1).
#include <metal_stdlib>
using namespace metal;

#define EXPECT(...) if (!(__VA_ARGS__)) failed[t] = __LINE__

kernel void reversed(
    device uint* failed [[buffer(0)]],
    uint t [[thread_position_in_grid]],
    ushort lane [[thread_index_in_simdgroup]],
    ushort simdgroup [[simdgroup_index_in_threadgroup]])
{
    threadgroup uint first[64], grid[2][32];
    first[t] = t * 3;
    grid[simdgroup][lane] = t;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    EXPECT(first[63 - t] == (63 - t) * 3);
    EXPECT(grid[1 - simdgroup][lane] == (t ^ 32));
    threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
    first[63 - t] = t;
    threadgroup_barrier(mem_flags::mem_device_and_threadgroup);
    EXPECT(first[t] == 63 - t);
}

kernel void within_a_simdgroup(
    device uint* failed [[buffer(0)]],
    uint t [[thread_position_in_grid]])
{
    threadgroup uint shared[64];
    for (uint step = 1; step < 4; step++) {
        shared[t] = t * step;
        simdgroup_barrier(mem_flags::mem_threadgroup);
        EXPECT(shared[t ^ 31] == (t ^ 31) * step);
        simdgroup_barrier(mem_flags::mem_threadgroup);
    }
}

kernel void positions(
    device uint* failed [[buffer(0)]],
    uint t [[thread_position_in_grid]],
    uint in_threadgroup [[thread_position_in_threadgroup]],
    ushort threadgroup_at [[threadgroup_position_in_grid]],
    uint size [[threads_per_threadgroup]],
    uint dispatched [[dispatch_threads_per_threadgroup]],
    uint grid [[threads_per_grid]],
    uint groups [[threadgroups_per_grid]])
{
    EXPECT(in_threadgroup == t && threadgroup_at == 0 && size == 64 && dispatched == 64);
    EXPECT(grid == 64 && groups == 1);
}

kernel void indices(
    device uint* failed [[buffer(0)]],
    uint3 at [[thread_position_in_grid]],
    ushort3 size [[threads_per_threadgroup]],
    uint t [[thread_index_in_threadgroup]],
    ushort lane [[thread_index_in_simdgroup]],
    ushort simdgroup [[simdgroup_index_in_threadgroup]],
    uint simdgroups [[simdgroups_per_threadgroup]],
    ushort width [[threads_per_simdgroup]])
{
    EXPECT(all(at == uint3(t, 0, 0)) && all(size == ushort3(64, 1, 1)));
    EXPECT(lane == t % 32 && simdgroup == t / 32 && simdgroups == 2 && width == 32);
}

struct Pair {
    uint first;
    half2 second;
};

static uint sum(threadgroup const Pair* pairs, uint count) {
    uint total = 0;
    for (uint i = 0; i < count; i++) total += pairs[i].first + uint(pairs[i].second.y);
    return total;
}

kernel void structs_in_threadgroup_memory(
    device uint* failed [[buffer(0)]],
    uint t [[thread_position_in_grid]])
{
    threadgroup Pair pairs[64];
    pairs[t].first = t;
    pairs[t].second = half2(1, 2);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    EXPECT(sum(pairs, 64) == 63 * 32 + 128);
    const Pair copy = pairs[63 - t];
    EXPECT(copy.first == 63 - t && copy.second.x == 1.0h);
}
