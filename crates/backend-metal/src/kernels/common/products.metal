// The inner loop of kernels that read a weight straight into registers.

// Four activations. Rows of formats in blocks are whole vectors long; others need not be.
template <uint TAIL>
inline float4 four(device const float* x) {
    if (TAIL == 0) {
        return *(device const float4*)x;
    }
    return float4(x[0], x[1], x[2], x[3]);
}

// Products of ROWS weight rows with N activation rows, summed over the lane's columns. Rows past
// `last_w` and `last_x` repeat the last: their sums are not stored.
template <typename W, uint ROWS, uint N>
inline void lane_products(device const uchar* w, uint row_bytes, uint last_w, device const float* x,
                          uint last_x, uint cols, uint lane, thread float (&sums)[ROWS][N]) {
    const uint groups = cols / 16;
    for (uint g = lane; g < groups; g += 32) {
        for (uint r = 0; r < ROWS; r++) {
            float4 q[4];
            const ulong at = ulong(min(r, last_w)) * row_bytes;
            const float2 s = unpack_group<W>(w + at, g, q);
            for (uint n = 0; n < N; n++) {
                device const float* xs = x + ulong(min(n, last_x)) * cols + 16 * g;
                const float4 a = four<W::TAIL>(xs), b = four<W::TAIL>(xs + 4);
                const float4 c = four<W::TAIL>(xs + 8), d = four<W::TAIL>(xs + 12);
                const float4 p = fma(q[3], d, fma(q[2], c, fma(q[1], b, q[0] * a)));
                const float4 t = (a + b) + (c + d);
                const float products = (p.x + p.y) + (p.z + p.w);
                const float total = (t.x + t.y) + (t.z + t.w);
                sums[r][n] = fma(s.x, products, fma(s.y, total, sums[r][n]));
            }
        }
    }
    if (uint(W::TAIL) == 1) {
        for (uint i = groups * 16 + lane; i < cols; i += 32) {
            for (uint r = 0; r < ROWS; r++) {
                const float v = element<W>(w + ulong(min(r, last_w)) * row_bytes, i);
                for (uint n = 0; n < N; n++) {
                    const float a = x[ulong(min(n, last_x)) * cols + i];
                    sums[r][n] = fma(v, a, sums[r][n]);
                }
            }
        }
    }
}
