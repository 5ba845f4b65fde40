// expert_matmul: each (token, rank) pair's activations times the matrix of its expert.
//
// Grid: x over groups of 2 * ROWS weight rows, y over pairs. The mat-vec of matmul_few, with the
// expert's matrix looked up first.
template <typename W, uint ROWS>
kernel void expert_matmul(device const float* x [[buffer(0)]],
                          device const int* experts [[buffer(1)]],
                          device const uchar* weight [[buffer(2)]],
                          device float* y [[buffer(3)]],
                          constant ExpertMatmulArguments& a [[buffer(4)]],
                          uint3 tg [[threadgroup_position_in_grid]],
                          uint lane [[thread_index_in_simdgroup]],
                          uint sg [[simdgroup_index_in_threadgroup]]) {
    const uint first = (tg.x * 2 + sg) * ROWS;
    if (first < a.outputs) {
        const uint expert = uint(experts[tg.y]);
        device const uchar* w =
            weight + (ulong(expert) * a.outputs + first) * ulong(a.row_bytes);
        float sums[ROWS][1] = {}, squares[1] = {};
        lane_products<W, ROWS, 1>(w, a.row_bytes, a.outputs - 1 - first,
                                  plain(x + ulong(tg.y / a.ranks) * a.cols), 0, a.cols, lane, sums,
                                  squares);
        sum_lanes<ROWS>(&sums[0][0]);
        for (uint r = 0; r < ROWS; r++) {
            const float sum = sums[r][0];
            if (lane == 0 && first + r < a.outputs) {
                y[ulong(tg.y) * a.outputs + first + r] = sum;
            }
        }
    }
}
