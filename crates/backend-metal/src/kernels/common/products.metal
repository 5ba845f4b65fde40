// The inner loop of kernels that read a weight straight into registers.

// Activations as they meet the weights: perhaps times a norm's weight, and then their squares are
// summed for the norm's factor, which the sums of products are multiplied by at the end.
struct Activations {
    device const float* x;
    device const float* norm;
    bool normed;
};

inline Activations plain(device const float* x) {
    Activations a = {x, x, false};
    return a;
}

// Four numbers. Rows of formats in blocks are whole vectors long; others need not be.
template <uint TAIL>
inline float4 four(device const float* x) {
    if (TAIL == 0) {
        return *(device const float4*)x;
    }
    return float4(x[0], x[1], x[2], x[3]);
}

// The 16 activations of a group; adds their squares to `squares`.
template <uint TAIL>
inline void sixteen(Activations a, ulong row, uint at, thread float4* x, thread float& squares) {
    for (uint i = 0; i < 4; i++) {
        x[i] = four<TAIL>(a.x + row + at + 4 * i);
    }
    if (a.normed) {
        for (uint i = 0; i < 4; i++) {
            squares += dot(x[i], x[i]);
            x[i] *= four<TAIL>(a.norm + at + 4 * i);
        }
    }
}

// Adds the products of a group to a sum: scale and offset stay outside the 16 products.
inline float add_products(float2 s, thread const float4* q, thread const float4* x, float sum) {
    const float4 p = fma(q[3], x[3], fma(q[2], x[2], fma(q[1], x[1], q[0] * x[0])));
    const float4 t = (x[0] + x[1]) + (x[2] + x[3]);
    const float products = (p.x + p.y) + (p.z + p.w);
    const float total = (t.x + t.y) + (t.z + t.w);
    return fma(s.x, products, fma(s.y, total, sum));
}

// One group of ROWS weight rows and N activation rows. Whichever is fewer registers is kept while
// the others pass: activations of up to two rows, or weights.
template <typename W, uint ROWS, uint N>
inline void group_products(device const uchar* w, uint row_bytes, uint last_w, Activations a,
                           uint last_x, uint cols, uint g, thread float (&sums)[ROWS][N],
                           thread float (&squares)[N]) {
    constexpr uint TAIL = uint(W::TAIL);
    if (N <= 2) {
        float4 x[N][4];
        for (uint n = 0; n < N; n++) {
            sixteen<TAIL>(a, ulong(min(n, last_x)) * cols, 16 * g, x[n], squares[n]);
        }
        for (uint r = 0; r < ROWS; r++) {
            float4 q[4];
            const float2 s = unpack_group<W>(w + ulong(min(r, last_w)) * row_bytes, g, q);
            for (uint n = 0; n < N; n++) {
                sums[r][n] = add_products(s, q, x[n], sums[r][n]);
            }
        }
    } else {
        float4 q[ROWS][4];
        float2 s[ROWS];
        for (uint r = 0; r < ROWS; r++) {
            s[r] = unpack_group<W>(w + ulong(min(r, last_w)) * row_bytes, g, q[r]);
        }
        for (uint n = 0; n < N; n++) {
            float4 x[4];
            sixteen<TAIL>(a, ulong(min(n, last_x)) * cols, 16 * g, x, squares[n]);
            for (uint r = 0; r < ROWS; r++) {
                sums[r][n] = add_products(s[r], q[r], x, sums[r][n]);
            }
        }
    }
}

// Products of ROWS weight rows with N activation rows, and the activations' squares, summed over
// the lane's columns. Rows past `last_w` and `last_x` repeat the last: their sums are not stored.
template <typename W, uint ROWS, uint N>
inline void lane_products(device const uchar* w, uint row_bytes, uint last_w, Activations a,
                          uint last_x, uint cols, uint lane, thread float (&sums)[ROWS][N],
                          thread float (&squares)[N]) {
    const uint groups = cols / 16;
    for (uint g = lane; g < groups; g += 32) {
        group_products<W, ROWS, N>(w, row_bytes, last_w, a, last_x, cols, g, sums, squares);
    }
    if (uint(W::TAIL) == 1) {
        for (uint i = groups * 16 + lane; i < cols; i += 32) {
            for (uint n = 0; n < N; n++) {
                float x = a.x[ulong(min(n, last_x)) * cols + i];
                if (a.normed) {
                    squares[n] = fma(x, x, squares[n]);
                    x *= a.norm[i];
                }
                for (uint r = 0; r < ROWS; r++) {
                    const float v = element<W>(w + ulong(min(r, last_w)) * row_bytes, i);
                    sums[r][n] = fma(v, x, sums[r][n]);
                }
            }
        }
    }
}

// Puts the simdgroup's sum in each of COUNT numbers' place: four at a time, as long as there are,
// so that they pass through the lanes together.
template <uint COUNT>
inline void sum_lanes(thread float* x) {
    constexpr uint WHOLE = COUNT / 4 * 4;
    for (uint i = 0; i < WHOLE; i += 4) {
        const float4 sums = simd_sum(float4(x[i], x[i + 1], x[i + 2], x[i + 3]));
        for (uint j = 0; j < 4; j++) {
            x[i + j] = sums[j];
        }
    }
    for (uint i = WHOLE; i < COUNT; i++) {
        x[i] = simd_sum(x[i]);
    }
}

// What the sums of each row of activations are multiplied by.
template <uint N>
inline void norm_factors(bool normed, float eps, uint cols, thread float (&squares)[N],
                         thread float (&factors)[N]) {
    if (normed) {
        sum_lanes<N>(squares);
    }
    for (uint n = 0; n < N; n++) {
        factors[n] = normed ? inverse_rms(squares[n], cols, eps) : 1.0f;
    }
}
