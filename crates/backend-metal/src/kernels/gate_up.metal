// gate_up of few rows: both mat-vecs and the activation in one launch.
//
// Grid: as matmul_few's; a simdgroup takes the same rows of both matrices.
template <typename W, uint ROWS, uint N>
kernel void gate_up(device const float* x [[buffer(0)]],
                    device const uchar* gate [[buffer(1)]],
                    device const uchar* up [[buffer(2)]],
                    device const float* gate_bias [[buffer(3)]],
                    device const float* up_bias [[buffer(4)]],
                    device float* y [[buffer(5)]],
                    constant GateUpArguments& a [[buffer(6)]],
                    constant uint& rows [[buffer(7)]],
                    uint3 tg [[threadgroup_position_in_grid]],
                    uint lane [[thread_index_in_simdgroup]],
                    uint sg [[simdgroup_index_in_threadgroup]]) {
    const uint first = (tg.x * 2 + sg) * ROWS;
    if (first < a.outputs) {
        float gates[ROWS][N] = {}, ups[ROWS][N] = {};
        const ulong at = ulong(first) * a.row_bytes;
        const uint last = a.outputs - 1 - first;
        lane_products<W, ROWS, N>(gate + at, a.row_bytes, last, x, rows - 1, a.cols, lane, gates);
        lane_products<W, ROWS, N>(up + at, a.row_bytes, last, x, rows - 1, a.cols, lane, ups);
        for (uint r = 0; r < ROWS; r++) {
            for (uint n = 0; n < N; n++) {
                float g = simd_sum(gates[r][n]), u = simd_sum(ups[r][n]);
                const uint out = first + r;
                if (lane == 0 && out < a.outputs && n < rows) {
                    g = a.has_gate_bias != 0 ? g + gate_bias[out] : g;
                    u = a.has_up_bias != 0 ? u + up_bias[out] : u;
                    y[n * a.outputs + out] = activation(a.function, g, a.factor) * u;
                }
            }
        }
    }
}
