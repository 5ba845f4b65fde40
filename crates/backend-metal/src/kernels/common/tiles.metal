// Tiles of 32 activation rows by 64 weight rows on simdgroup matrices, by four simdgroups of 16 by
// 32 results each.
//
// Both operands are staged in threadgroup memory as T (half or float), 32 columns at a time: a
// thread unpacks one group of 16 weights, so every weight is unpacked once for 32 rows. Products
// are summed in float. The results take the same memory, for coalesced stores.

constant uint NO_ROW = 0xFFFFFFFFu;

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

// Leaves the tile's results in `room`, [32][64]. `from` has the rows of activations that the thread
// stages, NO_ROW for none: of the tile's row t / 32 and every fourth after it.
template <typename W, typename T>
inline void tile_products(device const float* x, thread const uint (&from)[8],
                          device const uchar* weight, uint row_bytes, uint outputs, uint cols,
                          uint w0, uint t, uint sg, threadgroup uchar* room) {
    constexpr uint STEP = 32, X_ROWS = 32, W_ROWS = 64;
    threadgroup T* xs = (threadgroup T*)room;
    threadgroup T* ws = xs + X_ROWS * STEP;
    const uint x_part = (sg / 2) * 16, w_part = (sg % 2) * 32;
    simdgroup_float8x8 sums[2][4];
    for (uint i = 0; i < 2; i++) {
        for (uint j = 0; j < 4; j++) {
            sums[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
        }
    }
    for (uint k0 = 0; k0 < cols; k0 += STEP) {
        const uint col = k0 + t % STEP;
        for (uint i = 0; i < 8; i++) {
            const bool inside = from[i] != NO_ROW && col < cols;
            xs[t + 128 * i] = T(inside ? x[ulong(from[i]) * cols + col] : 0.0f);
        }
        stage_weights<W, T>(weight, row_bytes, outputs, cols, w0 + t / 2, k0 / 16 + t % 2,
                            ws + t * 16);
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
    threadgroup float* results = (threadgroup float*)room;
    for (uint i = 0; i < 2; i++) {
        for (uint j = 0; j < 4; j++) {
            threadgroup float* to = results + (x_part + 8 * i) * W_ROWS + w_part + 8 * j;
            simdgroup_store(sums[i][j], to, W_ROWS);
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
}
