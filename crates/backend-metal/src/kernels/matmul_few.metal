// matmul of few rows (1 to 8): a mat-vec that reads each weight once.
//
// Grid: x over groups of 2 * ROWS weight rows, y 1. Two simdgroups of ROWS weight rows each; a lane
// takes every 32nd group of 16 columns, so a simdgroup reads a stretch of each row at once. Scale
// and offset stay outside the sum of 16 products.

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

template <typename W, uint ROWS, uint N>
kernel void matmul_few(device const float* x [[buffer(0)]],
                       device const uchar* weight [[buffer(1)]],
                       device const float* bias [[buffer(2)]],
                       device float* y [[buffer(3)]],
                       constant MatmulArguments& a [[buffer(4)]],
                       constant uint& rows [[buffer(5)]],
                       uint3 tg [[threadgroup_position_in_grid]],
                       uint lane [[thread_index_in_simdgroup]],
                       uint sg [[simdgroup_index_in_threadgroup]]) {
    const uint first = (tg.x * 2 + sg) * ROWS;
    if (first < a.outputs) {
        float sums[ROWS][N] = {};
        lane_products<W, ROWS, N>(weight + ulong(first) * a.row_bytes, a.row_bytes,
                                  a.outputs - 1 - first, x, rows - 1, a.cols, lane, sums);
        for (uint r = 0; r < ROWS; r++) {
            for (uint n = 0; n < N; n++) {
                const float sum = simd_sum(sums[r][n]);
                const uint out = first + r;
                if (lane == 0 && out < a.outputs && n < rows) {
                    y[n * a.outputs + out] = a.has_bias != 0 ? sum + bias[out] : sum;
                }
            }
        }
    }
}
