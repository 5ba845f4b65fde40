// argmax: the column of each row's largest element; -1 in a row with a NaN.
//
// Grid: x 1, y over rows. Eight simdgroups a row.
kernel void argmax(device const float* x [[buffer(0)]],
                   device int* y [[buffer(1)]],
                   constant SelectArguments& a [[buffer(2)]],
                   threadgroup float* room [[threadgroup(0)]],
                   uint3 tg [[threadgroup_position_in_grid]],
                   uint t [[thread_index_in_threadgroup]],
                   uint lane [[thread_index_in_simdgroup]],
                   uint sg [[simdgroup_index_in_threadgroup]]) {
    device const float* row = x + ulong(tg.y) * a.cols;
    const bool broken = row_has_nan(row, a.cols, (threadgroup uint*)room, t, lane, sg);
    const Best best = next_best(row, a.cols, none(), room, t, lane, sg);
    if (t == 0) {
        y[tg.y] = broken ? -1 : int(best.column);
    }
}
