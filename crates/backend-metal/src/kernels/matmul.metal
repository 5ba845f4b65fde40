// matmul, matmul_group, matmul_add and norm_matmul of few rows (1 to 8): a mat-vec that reads each
// weight once. Of a norm before it the factor is applied to the sums; a residual is added to the
// first matrix's.
//
// Grid: x over groups of ROWS weight rows for each simdgroup, those of each matrix in turn, y over N
// activation rows, of which there are more only where many take this kernel all the same.
// Simdgroups have ROWS weight rows each; a lane takes every 32nd group of 16 columns, so a
// simdgroup reads a stretch of each row at once.

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
                       uint sg [[simdgroup_index_in_threadgroup]],
                       uint simdgroups [[simdgroups_per_threadgroup]]) {
    Matrix m = matrix_of(tg.x, simdgroups * ROWS, a, weight0, weight1, weight2, bias0, bias1,
                         bias2, y0, y1, y2);
    const uint before = tg.y * N;
    const ulong past = ulong(before) * m.outputs;
    m.y += past;
    const Activations xs = {x + ulong(before) * a.cols, norm, a.has_norm != 0};
    rows_of<W, ROWS, N>(m, xs, residual + past, a, rows - before, lane, sg, simdgroups);
}
