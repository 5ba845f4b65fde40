// Relational functions (specification 6.6).
#include <metal_stdlib>
#include <metal_relational>
using namespace metal;

#define EXPECT(...) if (!(__VA_ARGS__)) failed[t] = __LINE__

kernel void classes(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    const float zero = float(t - t);
    EXPECT(isnan(zero / zero) && isinf(1 / zero) && isfinite(zero) && !isnormal(zero));
    EXPECT(isnormal(1.0) && !isnormal(1e-40f) && isnormal(1.0h) &&
        !isnormal(as_type<half>(ushort(1))));
    EXPECT(signbit(-0.0) && !signbit(0.0) && signbit(-1.0h));
    EXPECT(isordered(1.0, 2.0) && isunordered(1.0, NAN));
    const bool4 nan = isnan(float4(1, NAN, 2, NAN));
    EXPECT(!nan.x && nan.y && !nan.z && nan.w && !all(nan) && any(nan));
    EXPECT(all(isunordered(half2(NAN, 1), half2(1, NAN))));
}

kernel void selection(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    EXPECT(select(1.0, 2.0, true) == 2 && select(1, 2, false) == 1);
    const float4 a = float4(1, 2, 3, 4);
    EXPECT(all(select(a, -a, a > 2) == float4(1, 2, -3, -4)));
    EXPECT(all(select(uchar2(1, 2), uchar2(3, 4), bool2(true, false)) == uchar2(3, 2)));
    EXPECT(all((a > 2 ? a : float4(0)) == float4(0, 0, 3, 4)));
    EXPECT(any(a == 4) && !any(a == 5) && all(a > 0) && !all(a > 1));
}
