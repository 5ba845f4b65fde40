// A simdgroup's 32 columns as a block of q8_0: the lane's byte, and the scale's bits.
struct Quantized {
    uchar value;
    ushort scale;
};

inline Quantized quantize(float x) {
    // The bits of |x| order as the numbers do; from 0x7F800000 on they are no number.
    const uint most = simd_max(as_type<uint>(x) & 0x7FFFFFFFu);
    const bool broken = most >= 0x7F800000u;
    const half rounded = half(as_type<float>(broken ? 0u : most) / 127.0f);
    const float step = float(rounded);
    const float inverse = step == 0.0f ? 0.0f : 1.0f / step;
    const float level = clamp(rint(x * inverse), -127.0f, 127.0f);
    Quantized q;
    q.value = broken ? uchar(0) : as_type<uchar>(char(level));
    q.scale = broken ? ushort(0x7E00) : as_type<ushort>(rounded);
    return q;
}

// Stores one column of a vector; `quantized` is that of the lane's 32 columns.
inline void store_column(uint kind, device uchar* page, uint vectors, uint head_dim, uint vector,
                         uint column, float x, Quantized quantized) {
    if (kind == 0) {
        CacheF32::put(page, head_dim, vector, column, x);
    } else if (kind == 1) {
        CacheF16::put(page, head_dim, vector, column, x);
    } else if (kind == 2) {
        CacheBF16::put(page, head_dim, vector, column, x);
    } else {
        const uint at = vector * head_dim + column;
        page[at] = quantized.value;
        if (column % 32 == 0) {
            ((device ushort*)(page + vectors * head_dim))[at / 32] = quantized.scale;
        }
    }
}
