// The largest elements of a row, one after the other, by a threadgroup of 8 simdgroups.
//
// A row with a NaN has no largest element.

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
