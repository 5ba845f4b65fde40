// Parts of an online softmax, and how they are put together.

// Below every score, and above -inf, so that differences stay numbers.
static constant float LOWEST = -1e30f;

// Positions whose results are put together in order, shared out or not.
constant uint PARTITION = 512;

// Maximum and sum of two parts, and the factors of their accumulators.
struct Merged {
    float m, l, a, b;
};

inline Merged merge(float m1, float l1, float m2, float l2) {
    Merged r;
    r.m = max(m1, m2);
    r.a = exp(m1 - r.m);
    r.b = exp(m2 - r.m);
    r.l = fma(l1, r.a, l2 * r.b);
    return r;
}

// The sink's share, and the division by the sum.
inline float finish_factor(float m, float l, bool has_sink, float sink) {
    if (!has_sink) {
        return 1.0f / l;
    }
    const Merged r = merge(m, l, sink, 1.0f);
    return r.a / r.l;
}
