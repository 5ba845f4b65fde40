// attention of many rows: 16 query rows of one head at once, on simdgroup matrices.
//
// Grid: x over query heads, y over work items. Four simdgroups. For each page of 32 positions:
// scores (16 x 32) by one 8 x 8 column of blocks a simdgroup; the online softmax with eight threads
// a row; then each simdgroup adds its own columns of the 16 x head_dim result, which stays in
// registers. K and V pass through threadgroup memory as T (half or float), 64 columns at a time, so
// any head size up to 64 * PARTS fits; queries and weights stay floats. Rescaling is a product with
// a diagonal matrix.
//
// All 16 rows meet in these products, and zero times NaN or infinity is NaN. So what is no finite
// number stays out of them: a value is staged as zero, and added at the end where a row sees it; a
// row that is NaN goes on as zeros, and its sum of weights says so.

// Places in the threadgroup's memory.
template <typename T, uint PARTS>
struct PrefillRoom {
    enum : uint {
        WIDTH = 64 * PARTS,
        KV = 16 * WIDTH * 4,
        SCORES = KV + 32 * 64 * sizeof(T),
        FADES = SCORES + 16 * 32 * 4,
        FACTORS = FADES + 2 * 64 * 4,
        STRANGE = FACTORS + 16 * 4
    };
};

// Four values of a cached vector, whatever the cache's type.
inline float4 cached(uint kind, device const uchar* page, uint vectors, uint head_dim, uint vector,
                     uint column) {
    if (kind == 0) {
        return CacheF32::four(page, vectors, head_dim, vector, column);
    }
    if (kind == 1) {
        return CacheF16::four(page, vectors, head_dim, vector, column);
    }
    if (kind == 2) {
        return CacheBF16::four(page, vectors, head_dim, vector, column);
    }
    return CacheQ8_0::four(page, vectors, head_dim, vector, column);
}

// Not infinite, and a number.
inline bool is_finite(float x) { return (as_type<uint>(x) & 0x7F800000u) != 0x7F800000u; }

// 64 columns of a page's positions `from..to`; zeros elsewhere, where a page may hold anything.
// Whether the thread came to something that is not finite.
template <typename T>
inline bool stage_page(uint kind, device const uchar* page, constant AttentionArguments& a,
                       uint kv_head, uint from, uint to, uint first, uint t, bool finite_alone,
                       threadgroup T* kv) {
    bool strange = false;
    for (uint i = t; i < 32 * 16; i += 128) {
        const uint p = i / 16, column = first + i % 16 * 4;
        float4 v = float4(0.0f);
        if (p >= from && p < to && column < a.head_dim) {
            v = cached(kind, page, a.kv_heads * 32, a.head_dim, kv_head * 32 + p, column);
        }
        for (uint c = 0; c < 4; c++) {
            const T x = T(v[c]);
            const bool finite = is_finite(float(x));
            strange = strange || !finite;
            kv[4 * i + c] = finite || !finite_alone ? x : T(0.0f);
        }
    }
    return strange;
}

// The sum of the values in a column that are not finite, at the positions `oldest..end`.
template <typename T>
inline float strange_values(device const uchar* values, device const int* table,
                            constant AttentionArguments& a, uint kv_head, uint oldest, uint end,
                            uint column) {
    float sum = 0.0f;
    for (uint p = oldest; p < end; p++) {
        device const uchar* page = values + ulong(table[p / 32]) * a.value_page_bytes;
        const float4 v = cached(a.value_kind, page, a.kv_heads * 32, a.head_dim,
                                kv_head * 32 + p % 32, column / 4 * 4);
        const float x = float(T(v[column % 4]));
        sum += is_finite(x) ? 0.0f : x;
    }
    return sum;
}

// A query row's maximum and sum, kept alike by the eight threads of the row.
struct RowState {
    float m, l;
};

// Four scores of the row become weights in their place; gives the factor of what was summed before.
inline float weigh(thread RowState& row, threadgroup float* scores,
                   constant AttentionArguments& a, uint tile, uint oldest, uint end, uint part) {
    float s[4];
    float most = LOWEST;
    for (uint i = 0; i < 4; i++) {
        const uint position = tile * 32 + 4 * part + i;
        const float scaled = scores[4 * part + i] * a.scale;
        const float capped =
            a.has_cap != 0 ? activation(uint(SOFT_CAP), scaled, a.soft_cap) : scaled;
        s[i] = position >= oldest && position < end ? capped : LOWEST;
        most = max(most, s[i]);
    }
    most = max(most, simd_shuffle_xor(most, 1));
    most = max(most, simd_shuffle_xor(most, 2));
    most = max(most, simd_shuffle_xor(most, 4));
    const float m = max(row.m, most);
    float w[4], sum = 0.0f;
    for (uint i = 0; i < 4; i++) {
        w[i] = s[i] == LOWEST ? 0.0f : exp(s[i] - m);
        sum += w[i];
    }
    sum += simd_shuffle_xor(sum, 1);
    sum += simd_shuffle_xor(sum, 2);
    sum += simd_shuffle_xor(sum, 4);
    const float fade = exp(row.m - m);
    const bool lost = is_nan(sum) || is_nan(fade);
    for (uint i = 0; i < 4; i++) {
        scores[4 * part + i] = lost ? 0.0f : w[i];
    }
    row.l = fma(row.l, fade, sum);
    row.m = m;
    return lost ? 0.0f : fade;
}

// Scores of one page: this simdgroup's 16 x 8.
template <typename T, uint PARTS>
inline void page_scores(device const uchar* page, constant AttentionArguments& a, uint kv_head,
                        uint from, uint to, uint t, uint sg, threadgroup const float* q,
                        threadgroup T* kv, threadgroup float* scores) {
    constexpr uint WIDTH = 64 * PARTS;
    simdgroup_float8x8 s[2];
    s[0] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    s[1] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    for (uint part = 0; part < PARTS; part++) {
        stage_page<T>(a.key_kind, page, a, kv_head, from, to, 64 * part, t, false, kv);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint k = 0; k < 64; k += 8) {
            simdgroup_float8x8 left;
            simdgroup_matrix<T, 8, 8> right;
            simdgroup_load(right, kv + 8 * sg * 64 + k, 64, ulong2(0, 0), true);
            for (uint i = 0; i < 2; i++) {
                simdgroup_load(left, q + 8 * i * WIDTH + 64 * part + k, WIDTH);
                simdgroup_multiply_accumulate(s[i], left, right, s[i]);
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    simdgroup_store(s[0], scores + 8 * sg, 32);
    simdgroup_store(s[1], scores + 8 * 32 + 8 * sg, 32);
    threadgroup_barrier(mem_flags::mem_threadgroup);
}

// The page's weighted values, added to what was before it: this simdgroup's 16 x 16 of each part.
// Whether the thread came to a value that is not finite.
template <typename T, uint PARTS>
inline bool page_values(device const uchar* page, constant AttentionArguments& a, uint kv_head,
                        uint from, uint to, uint t, uint sg, threadgroup const float* weights,
                        threadgroup const float* fades, threadgroup T* kv,
                        thread simdgroup_float8x8 (&sums)[PARTS][2][2]) {
    bool strange = false;
    for (uint part = 0; part < PARTS; part++) {
        strange = stage_page<T>(a.value_kind, page, a, kv_head, from, to, 64 * part, t, true, kv) ||
                  strange;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = 0; i < 2; i++) {
            simdgroup_float8x8 fade;
            simdgroup_load(fade, fades + 64 * i, 8);
            for (uint j = 0; j < 2; j++) {
                simdgroup_float8x8 before = sums[part][i][j];
                simdgroup_multiply(sums[part][i][j], fade, before);
                for (uint k = 0; k < 32; k += 8) {
                    simdgroup_float8x8 left;
                    simdgroup_matrix<T, 8, 8> right;
                    simdgroup_load(left, weights + 8 * i * 32 + k, 32);
                    simdgroup_load(right, kv + k * 64 + 16 * sg + 8 * j, 64);
                    simdgroup_multiply_accumulate(sums[part][i][j], left, right, sums[part][i][j]);
                }
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    return strange;
}

template <typename T, uint PARTS>
kernel void attention_prefill(device const float* q [[buffer(0)]],
                              device const int* positions [[buffer(1)]],
                              device const int* tables [[buffer(2)]],
                              device const int* work [[buffer(3)]],
                              device const uchar* keys [[buffer(4)]],
                              device const uchar* values [[buffer(5)]],
                              device const float* sinks [[buffer(6)]],
                              device float* y [[buffer(7)]],
                              device float* partials [[buffer(8)]],
                              constant AttentionArguments& a [[buffer(9)]],
                              threadgroup uchar* room [[threadgroup(0)]],
                              uint3 tg [[threadgroup_position_in_grid]],
                              uint t [[thread_index_in_threadgroup]],
                              uint sg [[simdgroup_index_in_threadgroup]]) {
    typedef PrefillRoom<T, PARTS> Room;
    constexpr uint WIDTH = 64 * PARTS;
    threadgroup float* qs = (threadgroup float*)room;
    threadgroup T* kv = (threadgroup T*)(room + uint(Room::KV));
    threadgroup float* scores = (threadgroup float*)(room + uint(Room::SCORES));
    threadgroup float* fades = (threadgroup float*)(room + uint(Room::FADES));
    threadgroup float* factors = (threadgroup float*)(room + uint(Room::FACTORS));
    threadgroup uint* stranges = (threadgroup uint*)(room + uint(Room::STRANGE));
    device const int* item = work + 6 * tg.y;
    const uint rows = uint(item[1]), first_row = uint(item[0]);
    // The same for the whole threadgroup, so all its threads meet at each barrier, or none comes.
    if (rows > 0) {
        for (uint i = t; i < 16 * WIDTH; i += 128) {
            const uint r = i / WIDTH, column = i % WIDTH;
            const bool inside = r < rows && column < a.head_dim;
            const ulong at = (ulong(first_row + r) * a.heads + tg.x) * a.head_dim + column;
            qs[i] = inside ? q[at] : 0.0f;
        }
        // The first page's barriers show both to all.
        fades[t] = 0.0f;
        // Eight threads a row; rows past the item's see nothing.
        const uint r = t / 8;
        const uint position = uint(positions[first_row + min(r, rows - 1)]);
        const uint oldest = position + 1 > a.window ? position + 1 - a.window : 0;
        const uint end = r < rows ? position + 1 : 0;
        const uint first_position = uint(positions[first_row]);
        const uint first_oldest =
            first_position + 1 > a.window ? first_position + 1 - a.window : 0;
        const uint start = max(uint(item[3]), first_oldest);
        const uint stop = min(uint(item[4]), uint(positions[first_row + rows - 1]) + 1);
        const uint kv_head = tg.x / (a.heads / a.kv_heads);
        device const int* table = tables + ulong(item[2]) * a.table_pages;
        RowState state;
        state.m = LOWEST;
        state.l = 0.0f;
        simdgroup_float8x8 sums[PARTS][2][2];
        for (uint part = 0; part < PARTS; part++) {
            for (uint i = 0; i < 4; i++) {
                sums[part][i / 2][i % 2] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
            }
        }
        bool strange = false;
        for (uint tile = start / 32; tile * 32 < stop; tile++) {
            const ulong page = ulong(table[tile]);
            const uint from = max(start, tile * 32) - tile * 32;
            const uint to = min(stop - tile * 32, 32u);
            page_scores<T, PARTS>(keys + page * a.key_page_bytes, a, kv_head, from, to, t, sg, qs,
                                  kv, scores);
            const float fade = weigh(state, scores + 32 * r, a, tile,
                                        max(oldest, start), min(end, stop), t % 8);
            if (t % 8 == 0) {
                fades[64 * (r / 8) + 9 * (r % 8)] = fade;
            }
            // The values' first barrier also shows weights and fades to all.
            strange = page_values<T, PARTS>(values + page * a.value_page_bytes, a, kv_head, from,
                                            to, t, sg, scores, fades, kv, sums) ||
                      strange;
        }
        const uint some = simd_max(strange ? 1u : 0u);
        if (t % 32 == 0) {
            stranges[sg] = some;
        }
        const bool whole = item[5] < 0, has_sink = a.has_sinks != 0;
        const uint slot = whole ? 0u : uint(item[5]) + r;
        device float* record = partials + (ulong(slot) * a.heads + tg.x) * (a.head_dim + 2);
        if (t % 8 == 0 && r < rows) {
            const float sink = has_sink ? sinks[tg.x] : 0.0f;
            factors[r] = whole ? finish_factor(state.m, state.l, has_sink, sink) : 1.0f;
            if (!whole) {
                record[0] = state.m;
                record[1] = state.l;
            }
        }
        threadgroup float* results = (threadgroup float*)kv;
        for (uint part = 0; part < PARTS; part++) {
            threadgroup_barrier(mem_flags::mem_threadgroup);
            for (uint i = 0; i < 4; i++) {
                threadgroup float* to = results + 8 * (i / 2) * 64 + 16 * sg + 8 * (i % 2);
                simdgroup_store(sums[part][i / 2][i % 2], to, 64);
            }
            threadgroup_barrier(mem_flags::mem_threadgroup);
            for (uint c = t % 8; c < 64; c += 8) {
                const uint column = 64 * part + c;
                if (r < rows && column < a.head_dim) {
                    float v = results[64 * r + c] * factors[r];
                    if ((stranges[0] | stranges[1] | stranges[2] | stranges[3]) != 0) {
                        v += strange_values<T>(values, table, a, kv_head, max(oldest, start),
                                               min(end, stop), column);
                    }
                    if (whole) {
                        y[(ulong(first_row + r) * a.heads + tg.x) * a.head_dim + column] = v;
                    } else {
                        record[2 + column] = v;
                    }
                }
            }
        }
    }
}
