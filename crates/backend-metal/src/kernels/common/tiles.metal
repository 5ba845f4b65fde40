// Tiles of 32 activation rows by 64 weight rows on simdgroup matrices, by four simdgroups of 16 by
// 32 results each.
//
// Both operands are staged in threadgroup memory as T (half or float), 32 columns at a time: a
// thread unpacks one group of 16 weights, so every weight is unpacked once for 32 rows. Products
// are summed in float. The results take the same memory, for coalesced stores.
//
// Half reaches from 2^-14 to 65504 with all its bits. Rows of activations that lie elsewhere, and
// rows of weights that may lie above, are brought there by a power of two in a second pass over the
// tile, which few tiles need: what is staged is looked at on the way, so that the others cost
// nothing more.

static constant uint NO_ROW = 0xFFFFFFFFu;

inline void put_four(threadgroup float* to, float4 x) { *(threadgroup float4*)to = x; }
inline void put_four(threadgroup half* to, float4 x) { *(threadgroup half4*)to = half4(x); }

// A thread's 16 weights of a step times `scale`, zeros past the edges. `most` gets the bits of what
// no weight of a group is above: formats whose scale is outside have no number above 128.
template <typename W, typename T>
inline void stage_weights(device const uchar* weight, uint row_bytes, uint outputs, uint cols,
                          uint row, uint group, float scale, thread uint& most,
                          threadgroup T* to) {
    float4 q[4] = {float4(0.0f), float4(0.0f), float4(0.0f), float4(0.0f)};
    if (row < outputs) {
        device const uchar* from = weight + ulong(row) * row_bytes;
        if (group < cols / 16) {
            const float2 s = unpack_group<W>(from, group, q) * scale;
            const uint bound = as_type<uint>(fma(fabs(s.x), 128.0f, fabs(s.y)));
            most = max(most, bound & 0x7FFFFFFFu);
            for (uint i = 0; i < 4; i++) {
                q[i] = fma(float4(s.x), q[i], float4(s.y));
            }
        } else if (uint(W::TAIL) == 1) {
            for (uint i = 16 * group; i < cols; i++) {
                q[i % 16 / 4][i % 4] = element<W>(from, i);
            }
        }
    }
    for (uint i = 0; i < 4; i++) {
        put_four(to + 4 * i, q[i]);
    }
}

// The power of two for a row whose largest element has these bits: 1 where half holds it well, and
// where it is zero or no number.
inline float row_scale(uint most) {
    // From 2^-10 to below 2^15.
    const uint exponent = most >> 23u;
    const bool fits = exponent == 0u || exponent == 255u || (exponent >= 117u && exponent < 142u);
    return fits ? 1.0f : as_type<float>(min(268u - exponent, 227u) << 23u);
}

// The power of two for a row of weights that are no larger than these bits: 1 where half holds it.
inline float weight_scale(uint most) {
    // From 2^15 on.
    const uint exponent = most >> 23u;
    const bool fits = exponent == 255u || exponent < 142u;
    return fits ? 1.0f : as_type<float>((268u - exponent) << 23u);
}

// What the operands of a pass are multiplied by: each row of activations, and the thread's row of
// weights.
struct Scales {
    bool scaled;
    threadgroup const float* x;
    float weight;
};

// One pass over the columns. `most` gets the largest bits of the rows that the thread stages, and
// at last of its row of weights.
template <typename W, typename T>
inline void tile_pass(device const float* x, thread const uint (&from)[8],
                      device const uchar* weight, uint row_bytes, uint outputs, uint cols, uint w0,
                      uint t, uint sg, Scales scales, threadgroup uchar* room,
                      thread uint (&most)[9],
                      thread simdgroup_float8x8 (&sums)[2][4]) {
    constexpr uint STEP = 32, X_ROWS = 32;
    threadgroup T* xs = (threadgroup T*)room;
    threadgroup T* ws = xs + X_ROWS * STEP;
    const uint x_part = (sg / 2) * 16, w_part = (sg % 2) * 32;
    for (uint i = 0; i < 8; i++) {
        sums[i / 4][i % 4] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    }
    for (uint k0 = 0; k0 < cols; k0 += STEP) {
        const uint col = k0 + t % STEP;
        for (uint i = 0; i < 8; i++) {
            const bool inside = from[i] != NO_ROW && col < cols;
            const float v = inside ? x[ulong(from[i]) * cols + col] : 0.0f;
            most[i] = max(most[i], as_type<uint>(v) & 0x7FFFFFFFu);
            xs[t + 128 * i] = T(scales.scaled ? v * scales.x[t / 32 + 4 * i] : v);
        }
        stage_weights<W, T>(weight, row_bytes, outputs, cols, w0 + t / 2, k0 / 16 + t % 2,
                            scales.weight, most[8], ws + t * 16);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint k = 0; k < STEP; k += 8) {
            simdgroup_matrix<T, 8, 8> left[2], right[4];
            for (uint i = 0; i < 2; i++) {
                simdgroup_load(left[i], xs + (x_part + 8 * i) * STEP + k, STEP);
            }
            for (uint j = 0; j < 4; j++) {
                threadgroup const T* column = ws + (w_part + 8 * j) * STEP + k;
                simdgroup_load(right[j], column, STEP, ulong2(0, 0), true);
            }
            for (uint i = 0; i < 2; i++) {
                for (uint j = 0; j < 4; j++) {
                    simdgroup_multiply_accumulate(sums[i][j], left[i], right[j], sums[i][j]);
                }
            }
        }
        // The next step, and the results, take the staging memory again.
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}

// Leaves the tile's results in `room`, [32][64]; a thread may use those at t, t + 128, …. `from`
// has the rows of activations that the thread stages, NO_ROW for none: of the tile's row t / 32 and
// every fourth after it.
template <typename W, typename T>
inline void tile_products(device const float* x, thread const uint (&from)[8],
                          device const uchar* weight, uint row_bytes, uint outputs, uint cols,
                          uint w0, uint t, uint sg, threadgroup uchar* room) {
    constexpr uint X_ROWS = 32, W_ROWS = 64;
    threadgroup float* results = (threadgroup float*)room;
    // Half alone has scales, of activations and of weights: behind what is staged, where results
    // come later.
    threadgroup float* scales = (threadgroup float*)(room + (X_ROWS + W_ROWS) * 32 * sizeof(T));
    threadgroup float* weight_scales = scales + X_ROWS;
    Scales all = {false, scales, 1.0f};
    uint most[9] = {};
    simdgroup_float8x8 sums[2][4];
    tile_pass<W, T>(x, from, weight, row_bytes, outputs, cols, w0, t, sg, all, room, most, sums);
    if (sizeof(T) == 2) {
        for (uint i = 0; i < 8; i++) {
            const uint bits = simd_max(most[i]);
            if (t % 32 == 0) {
                scales[t / 32 + 4 * i] = row_scale(bits);
            }
        }
        // Two threads stage a row of weights.
        all.weight = weight_scale(max(most[8], simd_shuffle_xor(most[8], 1)));
        if (t % 2 == 0) {
            weight_scales[t / 2] = all.weight;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        // A lane looks at three rows, so all simdgroups come to the same answer.
        const bool fit = scales[t % 32] == 1.0f && weight_scales[t % 32] == 1.0f &&
                         weight_scales[t % 32 + 32] == 1.0f;
        all.scaled = simd_max(fit ? 0u : 1u) != 0;
        if (all.scaled) {
            tile_pass<W, T>(x, from, weight, row_bytes, outputs, cols, w0, t, sg, all, room, most,
                            sums);
        }
    }
    // Of the rows whose results this thread looks at.
    float divisors[16];
    for (uint i = 0; i < 16; i++) {
        divisors[i] =
            all.scaled ? scales[t / W_ROWS + 2 * i] * weight_scales[t % W_ROWS] : 1.0f;
    }
    // Results take the scales' place.
    if (sizeof(T) == 2) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    for (uint i = 0; i < 2; i++) {
        for (uint j = 0; j < 4; j++) {
            threadgroup float* to =
                results + ((sg / 2) * 16 + 8 * i) * W_ROWS + (sg % 2) * 32 + 8 * j;
            simdgroup_store(sums[i][j], to, W_ROWS);
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = 0; all.scaled && i < 16; i++) {
        results[t + 128 * i] /= divisors[i];
    }
}
