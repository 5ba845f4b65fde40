// gate_up of few rows: both mat-vecs and the activation in one launch. Of a norm before it the
// factor is applied to the sums.
//
// Grid: as matmul_few's; a simdgroup takes the same rows of both matrices.
template <typename W, uint ROWS, uint N>
kernel void gate_up(device const float* x [[buffer(0)]],
                    device const uchar* gate [[buffer(1)]],
                    device const uchar* up [[buffer(2)]],
                    device const float* gate_bias [[buffer(3)]],
                    device const float* up_bias [[buffer(4)]],
                    device float* y [[buffer(5)]],
                    device const float* norm [[buffer(6)]],
                    constant GateUpArguments& a [[buffer(7)]],
                    constant uint& rows [[buffer(8)]],
                    uint3 tg [[threadgroup_position_in_grid]],
                    uint lane [[thread_index_in_simdgroup]],
                    uint sg [[simdgroup_index_in_threadgroup]],
                    uint simdgroups [[simdgroups_per_threadgroup]]) {
    const uint first = (tg.x * simdgroups + sg) * ROWS;
    if (first < a.outputs) {
        float gates[ROWS][N] = {}, ups[ROWS][N] = {};
        float squares[N] = {}, again[N] = {}, factors[N];
        const uint before = tg.y * N, left = rows - before;
        const Activations xs = {x + ulong(before) * a.cols, norm, a.has_norm != 0};
        const ulong at = ulong(first) * a.row_bytes;
        const uint last = a.outputs - 1 - first;
        lane_products<W, ROWS, N>(gate + at, a.row_bytes, last, xs, left - 1, a.cols, lane, gates,
                                  squares);
        lane_products<W, ROWS, N>(up + at, a.row_bytes, last, xs, left - 1, a.cols, lane, ups,
                                  again);
        norm_factors(xs.normed, a.eps, a.cols, squares, factors);
        sum_lanes<ROWS * N>(&gates[0][0]);
        sum_lanes<ROWS * N>(&ups[0][0]);
        for (uint r = 0; r < ROWS; r++) {
            for (uint n = 0; n < N; n++) {
                float g = gates[r][n] * factors[n];
                float u = ups[r][n] * factors[n];
                const uint out = first + r;
                if (lane == 0 && out < a.outputs && n < left) {
                    g = a.has_gate_bias != 0 ? g + gate_bias[out] : g;
                    u = a.has_up_bias != 0 ? u + up_bias[out] : u;
                    y[ulong(before + n) * a.outputs + out] = activation(a.function, g, a.factor) * u;
                }
            }
        }
    }
}
