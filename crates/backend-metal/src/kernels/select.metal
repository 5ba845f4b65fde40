// softmax, argmax, top_k and route: reductions over a row, one threadgroup of 8 simdgroups each.
//
// Grid: x 1, y over rows. A row with a NaN has no largest element: columns -1, elements NaN.

constant uint NO_COLUMN = 0xFFFFFFFFu;

// Largest element after (value, column) in the order "larger value first, then lower column".
struct Best {
    float value;
    uint column;
};

inline bool row_has_nan(device const float* x, uint cols, threadgroup uint* room, uint t, uint lane,
                        uint sg) {
    uint first = NO_COLUMN;
    for (uint i = t; i < cols; i += 256) {
        first = is_nan(x[i]) ? min(first, i) : first;
    }
    return group_min(first, room, lane, sg, 8) != NO_COLUMN;
}

inline Best next_best(device const float* x, uint cols, Best last, threadgroup float* room, uint t,
                      uint lane, uint sg) {
    Best mine;
    mine.value = -INFINITY;
    mine.column = NO_COLUMN;
    for (uint i = t; i < cols; i += 256) {
        const float v = x[i];
        const bool after = last.column == NO_COLUMN || v < last.value ||
                           (v == last.value && i > last.column);
        // Columns rise, so among equals the lower stays.
        if (after && (mine.column == NO_COLUMN || v > mine.value)) {
            mine.value = v;
            mine.column = i;
        }
    }
    Best best;
    best.value = group_max(mine.value, room, lane, sg, 8);
    const uint column = mine.value == best.value ? mine.column : NO_COLUMN;
    best.column = group_min(column, (threadgroup uint*)room, lane, sg, 8);
    return best;
}

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
    Best none;
    none.value = 0.0f;
    none.column = NO_COLUMN;
    const Best best = next_best(row, a.cols, none, room, t, lane, sg);
    if (t == 0) {
        y[tg.y] = broken ? -1 : int(best.column);
    }
}

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
    Best last;
    last.value = 0.0f;
    last.column = NO_COLUMN;
    for (uint rank = 0; rank < a.k; rank++) {
        last = next_best(row, a.cols, last, room, t, lane, sg);
        if (t == 0) {
            columns[tg.y * a.k + rank] = broken ? -1 : int(last.column);
            elements[tg.y * a.k + rank] = broken ? as_type<float>(0x7FC00000u) : last.value;
        }
    }
}

// The experts of a token and their weights: those of a broken row are NaN, on experts that exist.
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
    Best last;
    last.value = 0.0f;
    last.column = NO_COLUMN;
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

kernel void softmax(device const float* x [[buffer(0)]],
                    device float* y [[buffer(1)]],
                    constant SelectArguments& a [[buffer(2)]],
                    threadgroup float* room [[threadgroup(0)]],
                    uint3 tg [[threadgroup_position_in_grid]],
                    uint t [[thread_index_in_threadgroup]],
                    uint lane [[thread_index_in_simdgroup]],
                    uint sg [[simdgroup_index_in_threadgroup]]) {
    const ulong at = ulong(tg.y) * a.cols;
    float most = -INFINITY;
    for (uint i = t; i < a.cols; i += 256) {
        most = max(most, x[at + i]);
    }
    most = group_max(most, room, lane, sg, 8);
    float sum = 0.0f;
    for (uint i = t; i < a.cols; i += 256) {
        const float e = exp(x[at + i] - most);
        y[at + i] = e;
        sum += e;
    }
    sum = group_sum(sum, room, lane, sg, 8);
    for (uint i = t; i < a.cols; i += 256) {
        y[at + i] = y[at + i] / sum;
    }
}
