// matmul of many rows: a tile of 32 activation rows by 64 weight rows on simdgroup matrices.
//
// Grid: x over tiles of weight rows, y over tiles of activation rows. Four simdgroups of 16 by 32
// results each. Both operands are staged in threadgroup memory as T (half or float), 32 columns at a
// time: a thread unpacks one group of 16 weights, so every weight is unpacked once for 32 rows.
// Products are summed in float. The results pass through the same memory for coalesced stores.

// A thread's 16 weights of a step, zeros past the edges.
template <typename W, typename T>
inline void stage_weights(device const uchar* weight, uint row_bytes, uint outputs, uint cols,
                          uint row, uint group, threadgroup T* to) {
    float4 q[4] = {float4(0.0f), float4(0.0f), float4(0.0f), float4(0.0f)};
    if (row < outputs) {
        device const uchar* from = weight + ulong(row) * row_bytes;
        if (group < cols / 16) {
            const float2 s = unpack_group<W>(from, group, q);
            for (uint i = 0; i < 4; i++) {
                q[i] = fma(float4(s.x), q[i], float4(s.y));
            }
        } else if (uint(W::TAIL) == 1) {
            for (uint i = 16 * group; i < cols; i++) {
                q[i % 16 / 4][i % 4] = element<W>(from, i);
            }
        }
    }
    for (uint i = 0; i < 16; i++) {
        to[i] = T(q[i / 4][i % 4]);
    }
}

template <typename W, typename T>
kernel void matmul_many(device const float* x [[buffer(0)]],
                        device const uchar* weight [[buffer(1)]],
                        device const float* bias [[buffer(2)]],
                        device float* y [[buffer(3)]],
                        constant MatmulArguments& a [[buffer(4)]],
                        constant uint& rows [[buffer(5)]],
                        threadgroup uchar* room [[threadgroup(0)]],
                        uint3 tg [[threadgroup_position_in_grid]],
                        uint t [[thread_index_in_threadgroup]],
                        uint sg [[simdgroup_index_in_threadgroup]]) {
    constexpr uint STEP = 32, X_ROWS = 32, W_ROWS = 64;
    threadgroup T* xs = (threadgroup T*)room;
    threadgroup T* ws = xs + X_ROWS * STEP;
    const uint x0 = tg.y * X_ROWS, w0 = tg.x * W_ROWS;
    const uint x_part = (sg / 2) * 16, w_part = (sg % 2) * 32;
    simdgroup_float8x8 sums[2][4];
    for (uint i = 0; i < 2; i++) {
        for (uint j = 0; j < 4; j++) {
            sums[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
        }
    }
    for (uint k0 = 0; k0 < a.cols; k0 += STEP) {
        for (uint i = t; i < X_ROWS * STEP; i += 128) {
            const uint row = x0 + i / STEP, col = k0 + i % STEP;
            const bool inside = row < rows && col < a.cols;
            xs[i] = T(inside ? x[ulong(row) * a.cols + col] : 0.0f);
        }
        stage_weights<W, T>(weight, a.row_bytes, a.outputs, a.cols, w0 + t / 2, k0 / 16 + t % 2,
                            ws + t * 16);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint k = 0; k < STEP; k += 8) {
            simdgroup_matrix<T, 8, 8> left[2], right[4];
            for (uint i = 0; i < 2; i++) {
                simdgroup_load(left[i], xs + (x_part + 8 * i) * STEP + k, STEP);
            }
            for (uint j = 0; j < 4; j++) {
                simdgroup_load(right[j], ws + (w_part + 8 * j) * STEP + k, STEP, ulong2(0, 0), true);
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
    threadgroup float* results = (threadgroup float*)room;
    for (uint i = 0; i < 2; i++) {
        for (uint j = 0; j < 4; j++) {
            threadgroup float* to = results + (x_part + 8 * i) * W_ROWS + w_part + 8 * j;
            simdgroup_store(sums[i][j], to, W_ROWS);
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = t; i < X_ROWS * W_ROWS; i += 128) {
        const uint row = x0 + i / W_ROWS, out = w0 + i % W_ROWS;
        if (row < rows && out < a.outputs) {
            y[ulong(row) * a.outputs + out] = a.has_bias != 0 ? results[i] + bias[out] : results[i];
        }
    }
}
