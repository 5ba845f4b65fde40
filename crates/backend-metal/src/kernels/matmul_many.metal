// matmul and matmul_add of many rows: tiles on simdgroup matrices.
//
// Grid: x over tiles of 64 weight rows, y over tiles of 32 activation rows. Four simdgroups a tile.
template <typename W, typename T>
kernel void matmul_many(device const float* x [[buffer(0)]],
                        device const uchar* weight [[buffer(1)]],
                        device const float* bias [[buffer(2)]],
                        device float* y [[buffer(3)]],
                        device const float* residual [[buffer(4)]],
                        constant MatmulArguments& a [[buffer(5)]],
                        constant uint& rows [[buffer(6)]],
                        threadgroup uchar* room [[threadgroup(0)]],
                        uint3 tg [[threadgroup_position_in_grid]],
                        uint t [[thread_index_in_threadgroup]],
                        uint sg [[simdgroup_index_in_threadgroup]]) {
    const uint x0 = tg.y * 32, w0 = tg.x * 64;
    uint from[8];
    for (uint i = 0; i < 8; i++) {
        const uint row = x0 + t / 32 + 4 * i;
        from[i] = row < rows ? row : NO_ROW;
    }
    tile_products<W, T>(x, from, weight, a.row_bytes, a.outputs, a.cols, w0, t, sg, room);
    threadgroup const float* results = (threadgroup const float*)room;
    for (uint i = t; i < 32 * 64; i += 128) {
        const uint row = x0 + i / 64, out = w0 + i % 64;
        if (row < rows && out < a.outputs) {
            const ulong at = ulong(row) * a.outputs + out;
            const float sum = a.has_bias != 0 ? results[i] + bias[out] : results[i];
            y[at] = a.has_residual != 0 ? sum + residual[at] : sum;
        }
    }
}
