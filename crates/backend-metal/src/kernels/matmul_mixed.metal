// matmul_group of one row, whose third matrix is of another format than the first two: v beside q
// and k, in files that keep it finer.
//
// Grid: as matmul_few's.
template <typename W, typename V>
kernel void matmul_mixed(device const float* x [[buffer(0)]],
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
                         uint sg [[simdgroup_index_in_threadgroup]],
                         uint simdgroups [[simdgroups_per_threadgroup]]) {
    constexpr uint ROWS = 4;
    const uint taken = simdgroups * ROWS;
    const Matrix m = matrix_of(tg.x, taken, a, weight0, weight1, weight2, bias0, bias1, bias2,
                               y0, y1, y2);
    const Activations xs = {x, norm, a.has_norm != 0};
    const uint groups0 = (a.outputs0 + taken - 1) / taken;
    const uint groups1 = (a.outputs1 + taken - 1) / taken;
    // The same for the whole threadgroup.
    if (tg.x < groups0 + groups1) {
        rows_of<W, ROWS, 1>(m, xs, residual, a, rows, lane, sg, simdgroups);
    } else {
        rows_of<V, ROWS, 1>(m, xs, residual, a, rows, lane, sg, simdgroups);
    }
}
