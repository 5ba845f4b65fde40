// route: the experts of a token and their weights; those of a row with a NaN are NaN, on experts
// that exist.
//
// Grid: x 1, y over rows. Eight simdgroups a row.
kernel void route(device const float* x [[buffer(0)]],
                  device int* experts [[buffer(1)]],
                  device float* weights [[buffer(2)]],
                  constant SelectArguments& a [[buffer(3)]],
                  threadgroup float* room [[threadgroup(0)]],
                  uint3 tg [[threadgroup_position_in_grid]],
                  uint t [[thread_index_in_threadgroup]],
                  uint lane [[thread_index_in_simdgroup]],
                  uint sg [[simdgroup_index_in_threadgroup]]) {
    device const float* row = x + ulong(tg.y) * a.cols;
    const bool broken = row_has_nan(row, a.cols, (threadgroup uint*)room, t, lane, sg);
    device float* out = weights + tg.y * a.k;
    Best last = none();
    float sum = 0.0f;
    for (uint rank = 0; rank < a.k; rank++) {
        last = next_best(row, a.cols, last, room, t, lane, sg);
        sum = rank == 0 ? last.value : sum + last.value;
        if (t == 0) {
            experts[tg.y * a.k + rank] = broken ? int(rank) : int(last.column);
            out[rank] = broken ? as_type<float>(0x7FC00000u) : last.value;
        }
    }
    // One thread wrote the weights, and the same one divides them.
    if (t == 0 && a.normalize != 0) {
        for (uint rank = 0; rank < a.k; rank++) {
            out[rank] = out[rank] / sum;
        }
    }
}
