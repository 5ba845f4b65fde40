// expert_gate_up: both mat-vecs of each (token, rank) pair's expert, and the activation.
//
// Grid: x over groups of 2 * ROWS weight rows, y over pairs. As gate_up, with the expert's matrices
// looked up first.
template <typename W, uint ROWS>
kernel void expert_gate_up(device const float* x [[buffer(0)]],
                           device const int* experts [[buffer(1)]],
                           device const uchar* gate [[buffer(2)]],
                           device const uchar* up [[buffer(3)]],
                           device float* y [[buffer(4)]],
                           constant ExpertGateUpArguments& a [[buffer(5)]],
                           uint3 tg [[threadgroup_position_in_grid]],
                           uint lane [[thread_index_in_simdgroup]],
                           uint sg [[simdgroup_index_in_threadgroup]]) {
    const uint first = (tg.x * 2 + sg) * ROWS;
    if (first < a.outputs) {
        const uint expert = uint(experts[tg.y]);
        const ulong at = (ulong(expert) * a.outputs + first) * ulong(a.row_bytes);
        const uint last = a.outputs - 1 - first;
        const Activations xs = plain(x + ulong(tg.y / a.ranks) * a.cols);
        float gates[ROWS][1] = {}, ups[ROWS][1] = {}, squares[1] = {};
        lane_products<W, ROWS, 1>(gate + at, a.row_bytes, last, xs, 0, a.cols, lane, gates,
                                  squares);
        lane_products<W, ROWS, 1>(up + at, a.row_bytes, last, xs, 0, a.cols, lane, ups, squares);
        sum_lanes<ROWS>(&gates[0][0]);
        sum_lanes<ROWS>(&ups[0][0]);
        for (uint r = 0; r < ROWS; r++) {
            const float g = gates[r][0], u = ups[r][0];
            if (lane == 0 && first + r < a.outputs) {
                const ulong to = ulong(tg.y) * a.outputs + first + r;
                y[to] = activation(a.function, g, a.factor) * u;
            }
        }
    }
}
