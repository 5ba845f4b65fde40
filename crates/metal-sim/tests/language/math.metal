// Math and common functions (specification 6.3, 6.5).
#include <metal_stdlib>
#include <metal_math>
using namespace metal;

#define EXPECT(...) if (!(__VA_ARGS__)) failed[t] = __LINE__

static bool near(float x, float expected) {
    return fabs(x - expected) <= 4e-7f * max(1.0f, fabs(expected));
}

kernel void exponentials(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    EXPECT(near(exp(1.0), 2.71828183f) && exp2(10.0) == 1024 && near(exp10(2.0), 100));
    EXPECT(near(log(M_E_F), 1) && log2(8.0) == 3 && near(log10(1000.0), 3));
    EXPECT(near(pow(2, 0.5f), M_SQRT2_F) && powr(2.0, 3.0) == 8 && isnan(powr(-1.0, 2.0)));
    EXPECT(sqrt(16.0) == 4 && rsqrt(16.0) == 0.25f);
    EXPECT(fast::exp(0.0) == 1 && precise::exp(0.0) == 1 && precise::sqrt(4.0) == 2);
    EXPECT(all(exp2(float4(0, 1, 2, 3)) == float4(1, 2, 4, 8)) && exp2(3.0h) == 8.0h);
    EXPECT(fast::divide(1.0, 4.0) == 0.25f && divide(1.0h, 4.0h) == 0.25h);
}

kernel void trigonometry(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    EXPECT(near(sin(M_PI_2_F), 1) && near(cos(M_PI_F), -1) && near(tan(M_PI_4_F), 1));
    EXPECT(near(asin(1.0), M_PI_2_F) && near(acos(1.0), 0) && near(atan(1.0), M_PI_4_F));
    EXPECT(near(atan2(1.0, -1.0), 3 * M_PI_4_F));
    EXPECT(near(sinh(1.0), 1.17520119f) && near(cosh(1.0), 1.54308063f) &&
        near(tanh(0.5), 0.46211716f));
    EXPECT(near(asinh(1.0), 0.88137359f) && near(acosh(2.0), 1.3169579f) &&
        near(atanh(0.5), 0.54930614f));
    EXPECT(sinpi(1.0) == 0 && sinpi(0.5) == 1 && cospi(1.0) == -1 && near(tanpi(0.25), 1));
    float cosine;
    EXPECT(near(sincos(1.0, cosine), 0.84147098f) && near(cosine, 0.54030231f));
}

kernel void rounding(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    EXPECT(floor(-1.5) == -2 && ceil(-1.5) == -1 && trunc(-1.5) == -1);
    EXPECT(rint(2.5) == 2 && rint(3.5) == 4 && round(2.5) == 3 && round(-2.5) == -3);
    EXPECT(fract(1.75) == 0.75f && fract(-0.25) == 0.75f && fract(-1e-12f) < 1);
    EXPECT(fmod(5.5, 2.0) == 1.5f && fmod(-5.5, 2.0) == -1.5f);
    float whole;
    EXPECT(modf(-2.75, whole) == -0.75f && whole == -2);
    int exponent;
    EXPECT(frexp(12.0, exponent) == 0.75f && exponent == 4 && ilogb(12.0) == 3);
    EXPECT(ldexp(0.75, 4) == 12);
    int2 exponents;
    EXPECT(all(frexp(float2(12, 1), exponents) == float2(0.75f, 0.5f)) && exponents.y == 1);
    EXPECT(nextafter(1.0, 2.0) == 1 + FLT_EPSILON && nextafter(1.0h, 2.0h) == 1.0h + HALF_EPSILON);
    EXPECT(nextafter(0.0h, -1.0h) < 0.0h);
}

kernel void extremes(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    EXPECT(max(1.0, 2.0) == 2 && min(1.0, 2.0) == 1 && fmax(NAN, 2.0) == 2 && fmin(1.0, NAN) == 1);
    EXPECT(max3(1.0, 3.0, 2.0) == 3 && min3(1.0, 3.0, 2.0) == 1 && median3(1.0, 3.0, 2.0) == 2);
    EXPECT(fmax3(1.0, 3.0, 2.0) == 3 && fmin3(1.0, 3.0, 2.0) == 1 && fmedian3(3.0, 1.0, 2.0) == 2);
    EXPECT(clamp(5.0, 0.0, 1.0) == 1 && clamp(-3, -2, 2) == -2 && saturate(-1.0) == 0);
    EXPECT(all(clamp(float4(-1, 0.5f, 2, 1), 0.0, 1.0) == float4(0, 0.5f, 1, 1)));
    EXPECT(all(max(float4(1, 2, 3, 4), 2.5) == float4(2.5f, 2.5f, 3, 4)));
    EXPECT(max(1u, 2u) == 2 && min(short(1), short(-1)) == -1 && max(half(1), half(2)) == 2.0h);
    EXPECT(all(min(uchar4(1, 9, 3, 9), uchar4(5)) == uchar4(1, 5, 3, 5)));
}

kernel void common(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    EXPECT(mix(1.0, 3.0, 0.5) == 2 && all(mix(float2(0), float2(2, 4), 0.5) == float2(1, 2)));
    EXPECT(sign(-3.0) == -1 && sign(0.0) == 0 && sign(2.0h) == 1.0h && sign(NAN) == 0);
    EXPECT(step(1.0, 0.5) == 0 && step(1.0, 1.0) == 1);
    EXPECT(smoothstep(0.0, 1.0, 0.5) == 0.5f && smoothstep(0.0, 1.0, 2.0) == 1);
    EXPECT(fabs(-2.0) == 2 && abs(-2.0) == 2 && fdim(5.0, 3.0) == 2 && fdim(3.0, 5.0) == 0);
    EXPECT(copysign(2.0, -0.0) == -2 && fma(2.0, 3.0, 1.0) == 7);
    EXPECT(fma(0x1.000002p0f, 0x1.000002p0f, -0x1.000004p0f) == 0x1.0p-46f);
    EXPECT(all(fma(half2(1, 2), half2(3), half2(1)) == half2(4, 7)));
}

kernel void constants(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    EXPECT(isinf(INFINITY) && isnan(NAN) && isinf(HUGE_VALF) && MAXFLOAT == FLT_MAX);
    EXPECT(M_PI_H == half(M_PI_F) && HALF_MAX == 65504.0h && near(M_PI_F, 3.14159265f));
    EXPECT(INT_MAX == 2147483647 && UINT_MAX == 0xffffffffu && CHAR_MIN == -128 &&
        USHRT_MAX == 65535);
}
