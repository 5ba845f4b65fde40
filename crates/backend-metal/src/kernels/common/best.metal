// The largest elements of a row, one after the other, by a threadgroup of 8 simdgroups.
//
// A row with a NaN has no largest element.

static constant uint NO_COLUMN = 0xFFFFFFFFu;

// Largest element after (value, column) in the order "larger value first, then lower column".
struct Best {
    float value;
    uint column;
};

// Before the first.
inline Best none() {
    Best best = {0.0f, NO_COLUMN};
    return best;
}

inline bool follows(float value, uint column, Best last) {
    return last.column == NO_COLUMN || value < last.value ||
           (value == last.value && column > last.column);
}

inline bool precedes(float value, uint column, Best other) {
    return other.column == NO_COLUMN || value > other.value ||
           (value == other.value && column < other.column);
}

inline bool row_has_nan(device const float* x, uint cols, threadgroup uint* room, uint t, uint lane,
                        uint sg) {
    uint first = NO_COLUMN;
    for (uint i = t; i < cols; i += 256) {
        first = is_nan(x[i]) ? min(first, i) : first;
    }
    return group_min(first, room, lane, sg, 8) != NO_COLUMN;
}

// The best of all threads' best.
inline Best group_best(Best mine, threadgroup float* room, uint lane, uint sg) {
    const float value = mine.column == NO_COLUMN ? -INFINITY : mine.value;
    Best best;
    best.value = group_max(value, room, lane, sg, 8);
    const uint column = value == best.value ? mine.column : NO_COLUMN;
    best.column = group_min(column, (threadgroup uint*)room, lane, sg, 8);
    return best;
}

inline Best next_best(device const float* x, uint cols, Best last, threadgroup float* room, uint t,
                      uint lane, uint sg) {
    Best mine = none();
    for (uint i = t; i < cols; i += 256) {
        if (follows(x[i], i, last) && precedes(x[i], i, mine)) {
            mine.value = x[i];
            mine.column = i;
        }
    }
    return group_best(mine, room, lane, sg);
}
