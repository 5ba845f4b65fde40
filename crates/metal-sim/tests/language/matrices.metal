// Matrices (specification 2.3, 6.7).
#include <metal_stdlib>
using namespace metal;

#define EXPECT(...) if (!(__VA_ARGS__)) failed[t] = __LINE__

static_assert(sizeof(float4x4) == 64 && sizeof(half2x3) == 16 && sizeof(float3x3) == 48, "");
static_assert(sizeof(half4x4) == 32 && alignof(half4x4) == 8, "");

kernel void construction(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    const float2x3 a = float2x3(1, 2, 3, 4, 5, 6);
    EXPECT(all(a[0] == float3(1, 2, 3)) && a[1][2] == 6 && a[1].y == 5);
    const float2x3 b = float2x3(float3(1, 2, 3), float3(4, 5, 6));
    EXPECT(a == b);
    const float3x3 identity = float3x3(1);
    EXPECT(identity[1][1] == 1 && identity[0][1] == 0);
    half4x4 c = half4x4(float4x4(2));
    c[1] = half4(1, 2, 3, 4);
    c[2][3] = 9;
    EXPECT(c[0][0] == 2.0h && c[1][3] == 4.0h && c[2][3] == 9.0h);
}

kernel void products(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    const float2x2 a = float2x2(1, 2, 3, 4), b = float2x2(5, 6, 7, 8);
    EXPECT(a * b == float2x2(23, 34, 31, 46));
    EXPECT(all(a * float2(1, 1) == float2(4, 6)));
    EXPECT(all(float2(1, 1) * a == float2(3, 7)));
    EXPECT(a * 2 == float2x2(2, 4, 6, 8) && a + b == float2x2(6, 8, 10, 12) && -a == -1 * a);
    const float2x3 c = float2x3(1, 2, 3, 4, 5, 6);
    const float3x2 d = transpose(c);
    EXPECT(all(d[2] == float2(3, 6)));
    EXPECT(c * d == float3x3(17, 22, 27, 22, 29, 36, 27, 36, 45));
    EXPECT(d * c == float2x2(14, 32, 32, 77));
    float2x2 e = a;
    e *= b;
    e -= b;
    EXPECT(e == float2x2(18, 28, 24, 38));
}

kernel void determinants(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    EXPECT(determinant(float2x2(1, 2, 3, 4)) == -2);
    EXPECT(determinant(float3x3(2, 0, 1, 1, 3, 2, 1, 1, 1)) == 0);
    EXPECT(determinant(float4x4(2)) == 16);
    EXPECT(determinant(float3x3(2, 0, 1, 1, 3, 2, 1, 1, 4)) == 18);
}

kernel void in_threadgroup_memory(
    device uint* failed [[buffer(0)]],
    uint t [[thread_position_in_grid]])
{
    threadgroup half4x4 shared[64];
    shared[t] = half4x4(half(t));
    shared[t][0][3] = 1;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const half4x4 other = shared[63 - t];
    EXPECT(other[2][2] == half(63 - t) && other[0][3] == 1.0h && other[0][2] == 0.0h);
}
