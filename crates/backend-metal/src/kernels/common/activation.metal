// Activation functions, as docs/numerics.md writes them.

enum : uint { SILU = 0, GELU = 1, SOFT_CAP = 2 };

inline float activation(uint function, float x, float cap) {
    if (function == uint(SILU)) {
        return x / (1.0f + exp(-x));
    }
    if (function == uint(GELU)) {
        const float c1 = as_type<float>(0x3FCC422Au), c3 = as_type<float>(0x3D922279u);
        const float u = x * fma(c3, x * x, c1);
        return x / (1.0f + exp(-u));
    }
    return cap * (1.0f - 2.0f / (exp(2.0f * (x / cap)) + 1.0f));
}
