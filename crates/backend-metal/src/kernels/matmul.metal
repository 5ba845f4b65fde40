// matmul, matmul_group, matmul_add and norm_matmul of few rows (1 to 8): a mat-vec that reads each
// weight once. Of a norm before it the factor is applied to the sums; a residual is added to the
// first matrix's.
//
// Grid: x over groups of 2 * ROWS weight rows, those of each matrix in turn, y 1. Two simdgroups of
// ROWS weight rows each; a lane takes every 32nd group of 16 columns, so a simdgroup reads a
// stretch of each row at once.

// One of up to three matrices that are applied to the same activations.
struct Matrix {
    device const uchar* weight;
    device const float* bias;
    device float* y;
    uint outputs, has_bias, group;
};

template <typename W, uint ROWS, uint N>
kernel void matmul_few(device const float* x [[buffer(0)]],
                       device const uchar* weight0 [[buffer(1)]],
                       device const uchar* weight1 [[buffer(2)]],
                       device const uchar* weight2 [[buffer(3)]],
                       device const float* bias0 [[buffer(4)]],
                       device const float* bias1 [[buffer(5)]],
                       device const float* bias2 [[buffer(6)]],
                       device float* y0 [[buffer(7)]],
                       device float* y1 [[buffer(8)]],
                       device float* y2 [[buffer(9)]],
                       device const float* norm [[buffer(10)]],
                       device const float* residual [[buffer(11)]],
                       constant FewArguments& a [[buffer(12)]],
                       constant uint& rows [[buffer(13)]],
                       uint3 tg [[threadgroup_position_in_grid]],
                       uint lane [[thread_index_in_simdgroup]],
                       uint sg [[simdgroup_index_in_threadgroup]]) {
    constexpr uint TAKEN = 2 * ROWS;
    const uint end0 = (a.outputs0 + TAKEN - 1) / TAKEN;
    const uint end1 = end0 + (a.outputs1 + TAKEN - 1) / TAKEN;
    Matrix m = {weight0, bias0, y0, a.outputs0, a.has_bias0, tg.x};
    if (tg.x >= end1) {
        m = {weight2, bias2, y2, a.outputs2, a.has_bias2, tg.x - end1};
    } else if (tg.x >= end0) {
        m = {weight1, bias1, y1, a.outputs1, a.has_bias1, tg.x - end0};
    }
    const uint first = (m.group * 2 + sg) * ROWS;
    if (first < m.outputs) {
        float sums[ROWS][N] = {}, squares[N] = {}, factors[N];
        const Activations xs = {x, norm, a.has_norm != 0};
        lane_products<W, ROWS, N>(m.weight + ulong(first) * a.row_bytes, a.row_bytes,
                                  m.outputs - 1 - first, xs, rows - 1, a.cols, lane, sums, squares);
        norm_factors(xs.normed, a.eps, a.cols, squares, factors);
        for (uint r = 0; r < ROWS; r++) {
            for (uint n = 0; n < N; n++) {
                float sum = simd_sum(sums[r][n]) * factors[n];
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
