// Matrices that few rows of activations are applied to, up to three in a launch.

struct Matrix {
    device const uchar* weight;
    device const float* bias;
    device float* y;
    uint outputs, row_bytes, has_bias, group;
};

// One of the three, by the threadgroup's place among those of all.
inline Matrix matrix_of(uint place, uint taken, constant FewArguments& a,
                        device const uchar* weight0, device const uchar* weight1,
                        device const uchar* weight2, device const float* bias0,
                        device const float* bias1, device const float* bias2, device float* y0,
                        device float* y1, device float* y2) {
    const uint end0 = (a.outputs0 + taken - 1) / taken;
    const uint end1 = end0 + (a.outputs1 + taken - 1) / taken;
    Matrix m = {weight0, bias0, y0, a.outputs0, a.row_bytes, a.has_bias0, place};
    if (place >= end1) {
        m = {weight2, bias2, y2, a.outputs2, a.row_bytes2, a.has_bias2, place - end1};
    } else if (place >= end0) {
        m = {weight1, bias1, y1, a.outputs1, a.row_bytes, a.has_bias1, place - end0};
    }
    return m;
}

// ROWS rows of a matrix, by one of the threadgroup's simdgroups.
template <typename W, uint ROWS, uint N>
inline void rows_of(Matrix m, Activations x, device const float* residual,
                    constant FewArguments& a, uint rows, uint lane, uint sg, uint simdgroups) {
    const uint first = (m.group * simdgroups + sg) * ROWS;
    if (first < m.outputs) {
        float sums[ROWS][N] = {}, squares[N] = {}, factors[N];
        lane_products<W, ROWS, N>(m.weight + ulong(first) * m.row_bytes, m.row_bytes,
                                  m.outputs - 1 - first, x, rows - 1, a.cols, lane, sums, squares);
        norm_factors(x.normed, a.eps, a.cols, squares, factors);
        sum_lanes<ROWS * N>(&sums[0][0]);
        for (uint r = 0; r < ROWS; r++) {
            for (uint n = 0; n < N; n++) {
                float sum = sums[r][n] * factors[n];
                const uint out = first + r;
                if (lane == 0 && out < m.outputs && n < rows) {
                    const uint at = n * m.outputs + out;
                    sum = m.has_bias != 0 ? sum + m.bias[out] : sum;
                    m.y[at] = a.has_residual != 0 ? sum + residual[at] : sum;
                }
            }
        }
    }
}
