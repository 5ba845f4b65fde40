// Packed vectors, in every address space (specification 2.2.3).
#include <metal_stdlib>
using namespace metal;

#define EXPECT(...) if (!(__VA_ARGS__)) failed[t] = __LINE__

struct Record {
    packed_float3 position;
    float weight;
    packed_half4 colour;
    packed_uchar2 flags;
};
static_assert(sizeof(packed_float3) == 12 && alignof(packed_float3) == 4, "");
static_assert(sizeof(packed_half3) == 6 && alignof(packed_half3) == 2, "");
static_assert(sizeof(packed_char4) == 4 && alignof(packed_char4) == 1, "");
static_assert(sizeof(Record) == 28, "");

kernel void locals(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    packed_float3 a = packed_float3(1, 2, 3);
    const float3 plain = a;
    EXPECT(all(plain == float3(1, 2, 3)));
    EXPECT(a[1] == 2 && a.z == 3);
    a[0] = 5;
    a.y = 6;
    EXPECT(all(float3(a) == float3(5, 6, 3)));
    a = float3(7, 8, 9);
    a += float3(1);
    EXPECT(a.x == 8 && a.z == 10);
    EXPECT(all(a * 2 == float3(16, 18, 20)) && all(a + a == 2 * a) &&
        all(-a == float3(-8, -9, -10)));
    EXPECT(dot(float3(a), float3(1)) == 27);
    const packed_half4 h = half4(1, 2, 3, 4);
    EXPECT(half4(h).w == 4.0h);
    Record record = {a, 1, h, packed_uchar2(1, 2)};
    EXPECT(record.flags[1] == 2 && record.position[2] == 10);
}

kernel void in_threadgroup_memory(
    device uint* failed [[buffer(0)]],
    uint t [[thread_position_in_grid]])
{
    threadgroup packed_float3 shared[64];
    shared[t] = float3(t, t + 1, t + 2);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const float3 other = shared[63 - t];
    EXPECT(all(other == float3(63 - t, 64 - t, 65 - t)));
    const packed_float3 copy = shared[t];
    EXPECT(copy.z == t + 2 && shared[t][1] == t + 1);
}
