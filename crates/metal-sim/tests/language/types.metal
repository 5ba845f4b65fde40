// Scalars, vectors, conversions (specification 2.1, 2.2, 2.12).
#include <metal_stdlib>
using namespace metal;

#define EXPECT(...) if (!(__VA_ARGS__)) failed[t] = __LINE__

kernel void sizes(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    static_assert(sizeof(char) == 1 && sizeof(short) == 2 && sizeof(int) == 4 &&
        sizeof(long) == 8, "");
    static_assert(sizeof(half) == 2 && sizeof(float) == 4 && sizeof(bfloat) == 2 &&
        sizeof(bool) == 1, "");
    static_assert(sizeof(size_t) == 8 && sizeof(ptrdiff_t) == 8 && sizeof(ulong) == 8, "");
    static_assert(sizeof(float2) == 8 && sizeof(float3) == 16 && sizeof(float4) == 16, "");
    static_assert(alignof(float3) == 16 && alignof(half4) == 8 && alignof(uchar2) == 2, "");
    static_assert(sizeof(bool2) == 2 && sizeof(bool3) == 4 && sizeof(bool4) == 4, "");
    static_assert(sizeof(int8_t) == 1 && sizeof(uint64_t) == 8, "");
    EXPECT(char(-1) < 0);
    EXPECT(uchar(255) == 255 && ushort(-1) == 65535);
}

kernel void literals(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    static_assert(is_same<decltype(1.0), float>::value, "unsuffixed literals are float");
    static_assert(is_same<decltype(1.0f), float>::value, "");
    static_assert(is_same<decltype(1.0h), half>::value, "");
    static_assert(is_same<decltype(1.0bf), bfloat>::value, "");
    static_assert(is_same<decltype(1.0h * 2.0h), half>::value, "");
    static_assert(is_same<decltype(1.0h * 2.0f), float>::value, "");
    EXPECT(0.1 == 0.1f);
    EXPECT(float(0.1h) == 0.0999755859375f);
}

kernel void half_arithmetic_rounds_each_step(
    device uint* failed [[buffer(0)]],
    uint t [[thread_position_in_grid]])
{
    // 2048 + 1 is not a half: each sum rounds to even again.
    const half big = half(2048 + t - t);
    EXPECT(big + 1.0h + 1.0h == 2048.0h);
    EXPECT(float(big) + 1.0f + 1.0f == 2050.0f);
    EXPECT(isinf(half(65504.0f + 32.0f * float(t + 1 - t))));
}

kernel void constructors(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    const float2 pair = float2(1, 2);
    const float4 a = float4(pair, 3, 4);
    EXPECT(a.x == 1 && a.y == 2 && a.z == 3 && a.w == 4);
    const float4 b = float4(0, a.yz, 5);
    EXPECT(b[0] == 0 && b[1] == 2 && b[2] == 3 && b[3] == 5);
    const float4 c = float4(7);
    EXPECT(all(c == float4(7, 7, 7, 7)));
    const half3 d = half3(a.xyz);
    EXPECT(d.z == 3.0h);
    const int4 e = int4(float4(1.9f, -1.9f, 2.5f, -0.5f));
    EXPECT(all(e == int4(1, -1, 2, 0)));
    const uchar4 f = uchar4(1, 2, 3, 4);
    EXPECT(all(uint4(f) == uint4(1, 2, 3, 4)));
    const ulong2 g = ulong2(f.xw);
    EXPECT(g.x == 1 && g.y == 4);
    const float3 h = float3(float2(1, 2), 3), i = float3(1, float2(2, 3));
    EXPECT(all(h == i));
    const float4 j = {1, 2, 3, 4};
    EXPECT(all(j == a));
    const bool2 k = bool2(true, t == 1000);
    EXPECT(k.x && !k.y);
    constexpr float4 table = float4(1, 2, 3, 4);
    EXPECT(table.w == 4);
    EXPECT(half(bfloat(2.5f)) == 2.5h && bfloat(half(2.5f)) == 2.5bf);
}

kernel void vector_templates(device uint* failed [[buffer(0)]],
    uint t [[thread_position_in_grid]]) {
    const vec<float, 4> a = float4(1, 2, 3, 4);
    const vec<half, 2> b = vec<half, 2>(a.xy);
    EXPECT(b.y == 2.0h);
    EXPECT(vec<int, 3>(1, 2, 3).z == 3);
}

template <typename T, int N>
T total(vec<T, N> v) {
    T sum = 0;
    for (int i = 0; i < N; i++) sum += v[i];
    return sum;
}

kernel void deduction_through_vec(device uint* failed [[buffer(0)]],
    uint t [[thread_position_in_grid]]) {
    EXPECT(total(float4(1, 2, 3, 4)) == 10);
    EXPECT(total(ushort3(1, 2, 3)) == 6);
}

kernel void swizzles(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    float4 a = float4(1, 2, 3, 4);
    EXPECT(all(a.wzyx == float4(4, 3, 2, 1)));
    EXPECT(all(a.xxyy == float4(1, 1, 2, 2)));
    EXPECT(all(a.rgb == float3(1, 2, 3)));
    a.xw = float2(8, 9);
    EXPECT(a.x == 8 && a.w == 9 && a.y == 2);
    a.xy = a.yx;
    EXPECT(a.x == 2 && a.y == 8);
    a[2] = 5;
    EXPECT(a.z == 5);
    a.y += 1;
    EXPECT(a.y == 9);
}

kernel void operators(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    const float4 a = float4(1, 2, 3, 4);
    EXPECT(all(a + 1 == float4(2, 3, 4, 5)));
    EXPECT(all(2 * a == float4(2, 4, 6, 8)));
    EXPECT(all(-a == float4(-1, -2, -3, -4)));
    EXPECT(all(a / a == float4(1)));
    const int4 i = int4(7, -7, 8, 1);
    EXPECT(all(i / 2 == int4(3, -3, 4, 0)));
    EXPECT(all(i % 3 == int4(1, -1, 2, 1)));
    const uint4 u = uint4(1, 2, 4, 8);
    EXPECT(all(u << 1 == uint4(2, 4, 8, 16)) && all(u >> 1 == uint4(0, 1, 2, 4)));
    EXPECT(all((u | 1u) == uint4(1, 3, 5, 9)) && all(~u == uint4(~1u, ~2u, ~4u, ~8u)));
    uint4 v = u;
    v ^= u;
    EXPECT(all(v == uint4(0)));
    const bool4 less = a < float4(2);
    EXPECT(less.x && !less.y && !less.z && !less.w);
    EXPECT(!all(less) && any(less) && all(!less || less));
}

kernel void reinterpretation(device uint* failed [[buffer(0)]],
    uint t [[thread_position_in_grid]]) {
    EXPECT(as_type<uint>(1.0f) == 0x3f800000u);
    EXPECT(as_type<ushort>(1.0h) == 0x3c00);
    EXPECT(as_type<ushort>(bfloat(1.0f)) == 0x3f80);
    EXPECT(as_type<half2>(0x40003c00u).x == 1.0h && as_type<half2>(0x40003c00u).y == 2.0h);
    EXPECT(all(as_type<uchar4>(0x04030201u) == uchar4(1, 2, 3, 4)));
    EXPECT(all(as_type<uint4>(float4(0)) == uint4(0)));
    EXPECT(as_type<uint>(as_type<short2>(0xdeadbeefu)) == 0xdeadbeefu);
}

kernel void casts(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    const half4 h = half4(1, 2, 3, 4);
    const float4 f = (float4)h;
    EXPECT(all(f == float4(1, 2, 3, 4)));
    EXPECT(all(-(float4)h * 2 == float4(-2, -4, -6, -8)));
    EXPECT(((float4)h).w == 4 && (half)f.y == 2.0h);
    EXPECT(all((uint4)float4(1, 2, 3, 4) == uint4(1, 2, 3, 4)));
    EXPECT(static_cast<bfloat>(2.0h) == 2.0bf && static_cast<float>(h.x) == 1.0f);
    EXPECT((bfloat)h.z == 3.0bf);
}

kernel void bfloats(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    const bfloat a = bfloat(1.0f + float(t - t));
    // 1 + 2^-8 lies between two bfloats and rounds to even.
    EXPECT(float(bfloat(1.00390625f)) == 1.0f);
    EXPECT(float(a + bfloat(0.5f)) == 1.5f);
    EXPECT(a < bfloat(2.0f) && -a == bfloat(-1.0f));
    const bfloat4 v = bfloat4(float4(1, 2, 3, 4));
    EXPECT(float(v.w) == 4 && all(float4(v) == float4(1, 2, 3, 4)));
    EXPECT(half4(v).z == 3.0h);
}
