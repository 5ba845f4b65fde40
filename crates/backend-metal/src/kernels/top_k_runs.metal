// top_k and argmax of long rows, in two launches: the largest elements of each run of 4096 columns,
// then the largest of these. So a row is read once, by as many threadgroups as it has runs.

// top_k_runs: the k largest elements of a run, in order, padded with NO_COLUMN; all NaN in a run
// with a NaN.
//
// Grid: x over runs, y over rows. Eight simdgroups a run; a thread keeps 16 of its columns.
kernel void top_k_runs(device const float* x [[buffer(0)]],
                       device uint* columns [[buffer(1)]],
                       device float* elements [[buffer(2)]],
                       constant SelectArguments& a [[buffer(3)]],
                       threadgroup float* room [[threadgroup(0)]],
                       uint3 tg [[threadgroup_position_in_grid]],
                       uint3 grid [[threadgroups_per_grid]],
                       uint t [[thread_index_in_threadgroup]],
                       uint lane [[thread_index_in_simdgroup]],
                       uint sg [[simdgroup_index_in_threadgroup]]) {
    const uint first = tg.x * 4096;
    const uint cols = min(a.cols - first, 4096u);
    device const float* run = x + ulong(tg.y) * a.cols + first;
    const bool broken = row_has_nan(run, cols, (threadgroup uint*)room, t, lane, sg);
    float values[16];
    for (uint i = 0; i < 16; i++) {
        const uint at = t + 256 * i;
        values[i] = at < cols ? run[at] : 0.0f;
    }
    const ulong to = (ulong(tg.y) * grid.x + tg.x) * a.k;
    Best last = none();
    for (uint rank = 0; rank < a.k; rank++) {
        Best mine = none();
        for (uint i = 0; i < 16; i++) {
            const uint at = t + 256 * i;
            if (at < cols && follows(values[i], at, last) && precedes(values[i], at, mine)) {
                mine.value = values[i];
                mine.column = at;
            }
        }
        const bool there = rank < cols;
        const Best next = group_best(mine, room, lane, sg);
        last = there ? next : last;
        if (t == 0) {
            columns[to + rank] = there ? first + last.column : NO_COLUMN;
            elements[to + rank] = broken ? as_type<float>(0x7FC00000u) : last.value;
        }
    }
}

// top_k_merge: the k largest of a row's runs.
//
// Grid: x 1, y over rows. Eight simdgroups a row.
kernel void top_k_merge(device const uint* columns [[buffer(0)]],
                        device const float* elements [[buffer(1)]],
                        device int* y [[buffer(2)]],
                        device float* values [[buffer(3)]],
                        constant MergeArguments& a [[buffer(4)]],
                        threadgroup float* room [[threadgroup(0)]],
                        uint3 tg [[threadgroup_position_in_grid]],
                        uint t [[thread_index_in_threadgroup]],
                        uint lane [[thread_index_in_simdgroup]],
                        uint sg [[simdgroup_index_in_threadgroup]]) {
    const ulong from = ulong(tg.y) * a.candidates;
    const bool broken =
        row_has_nan(elements + from, a.candidates, (threadgroup uint*)room, t, lane, sg);
    Best last = none();
    for (uint rank = 0; rank < a.k; rank++) {
        Best mine = none();
        for (uint i = t; i < a.candidates; i += 256) {
            const uint column = columns[from + i];
            const float value = elements[from + i];
            if (column != NO_COLUMN && follows(value, column, last) &&
                precedes(value, column, mine)) {
                mine.value = value;
                mine.column = column;
            }
        }
        last = group_best(mine, room, lane, sg);
        if (t == 0) {
            y[tg.y * a.k + rank] = broken ? -1 : int(last.column);
            if (a.has_values != 0) {
                values[tg.y * a.k + rank] = broken ? as_type<float>(0x7FC00000u) : last.value;
            }
        }
    }
}
