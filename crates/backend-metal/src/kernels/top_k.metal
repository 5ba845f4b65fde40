// top_k: the k largest elements of each row; columns -1 and elements NaN in a row with a NaN.
//
// Grid: x 1, y over rows. Eight simdgroups a row.
kernel void top_k(device const float* x [[buffer(0)]],
                  device int* columns [[buffer(1)]],
                  device float* elements [[buffer(2)]],
                  constant SelectArguments& a [[buffer(3)]],
                  threadgroup float* room [[threadgroup(0)]],
                  uint3 tg [[threadgroup_position_in_grid]],
                  uint t [[thread_index_in_threadgroup]],
                  uint lane [[thread_index_in_simdgroup]],
                  uint sg [[simdgroup_index_in_threadgroup]]) {
    device const float* row = x + ulong(tg.y) * a.cols;
    const bool broken = row_has_nan(row, a.cols, (threadgroup uint*)room, t, lane, sg);
    Best last = none();
    for (uint rank = 0; rank < a.k; rank++) {
        last = next_best(row, a.cols, last, room, t, lane, sg);
        if (t == 0) {
            columns[tg.y * a.k + rank] = broken ? -1 : int(last.column);
            elements[tg.y * a.k + rank] = broken ? as_type<float>(0x7FC00000u) : last.value;
        }
    }
}
