// Geometric functions (specification 6.8).
#include <metal_stdlib>
#include <metal_geometric>
using namespace metal;

#define EXPECT(...) if (!(__VA_ARGS__)) failed[t] = __LINE__

kernel void products(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    EXPECT(dot(float3(1, 2, 3), float3(4, 5, 6)) == 32 && dot(half2(1, 2), half2(3, 4)) == 11.0h);
    EXPECT(all(cross(float3(1, 0, 0), float3(0, 1, 0)) == float3(0, 0, 1)));
    EXPECT(all(cross(float3(1, 2, 3), float3(4, 5, 6)) == float3(-3, 6, -3)));
}

kernel void lengths(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    EXPECT(length(float2(3, 4)) == 5 && length_squared(float2(3, 4)) == 25);
    EXPECT(distance(float3(1, 1, 1), float3(1, 4, 5)) == 5);
    EXPECT(distance_squared(float2(0, 0), float2(1, 2)) == 5);
    EXPECT(all(normalize(float2(0, 2)) == float2(0, 1)) && fast::length(float2(6, 8)) == 10);
}

kernel void directions(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    EXPECT(all(reflect(float2(1, -1), float2(0, 1)) == float2(1, 1)));
    EXPECT(all(faceforward(float2(0, 1), float2(0, -1), float2(0, 1)) == float2(0, 1)));
    EXPECT(all(faceforward(float2(0, 1), float2(0, 1), float2(0, 1)) == float2(0, -1)));
    EXPECT(all(refract(float2(0, -1), float2(0, 1), 1.0) == float2(0, -1)));
    EXPECT(all(refract(float2(1, 0), float2(0, 1), 2.0) == float2(0)));
}
