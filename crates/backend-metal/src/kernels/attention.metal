// attention: online softmax over the pages of the cache, one threadgroup for a query row and head.
//
// Grid: x over query heads, y over work items, z over the 16 rows of an item. Four simdgroups share
// out the pages of the item's positions. Within a page of 32 positions four lanes take a position's
// score together, so that a load reads 64 bytes of K; then each lane sums its own columns of V.
// Items with a slot leave (maximum, sum, accumulator) of one partition for attention_combine; the
// others put theirs together here, in the same way and order, so that either gives the same bits.
// COLS bounds the columns of a lane: 32 * COLS >= head_dim.

// The score of the position that the lane's group of four looks at.
template <typename K>
inline float score(device const uchar* page, uint vectors, uint head_dim, uint vector, uint part,
                   threadgroup const float* q) {
    float s = 0.0f;
    for (uint column = 4 * part; column < head_dim; column += 16) {
        const float4 k = K::four(page, vectors, head_dim, vector, column);
        s = fma(k.x, q[column], s);
        s = fma(k.y, q[column + 1], s);
        s = fma(k.z, q[column + 2], s);
        s = fma(k.w, q[column + 3], s);
    }
    s += simd_shuffle_xor(s, 1);
    return s + simd_shuffle_xor(s, 2);
}

// What a simdgroup knows of the positions it has seen; `acc` holds columns lane, lane + 32, …
template <uint COLS>
struct Running {
    float m, l;
    float acc[COLS];
};

// One page's visible positions `from..to`, which are the same for all lanes.
template <typename K, typename V, uint COLS>
inline void attend(thread Running<COLS>& now, device const uchar* keys, device const uchar* values,
                   constant AttentionArguments& a, uint kv_head, uint from, uint to, uint lane,
                   threadgroup const float* q, threadgroup float* weights) {
    const uint vectors = a.kv_heads * 32;
    float mine = LOWEST;
    for (uint i = 0; i < 4; i++) {
        const uint vector = kv_head * 32 + 8 * i + lane / 4;
        float s = score<K>(keys, vectors, a.head_dim, vector, lane % 4, q) * a.scale;
        s = a.has_cap != 0 ? activation(uint(SOFT_CAP), s, a.soft_cap) : s;
        // Lane p keeps position p: it comes from the group of four that took it.
        const float moved = simd_shuffle(s, ushort(lane % 8 * 4));
        mine = lane / 8 == i ? moved : mine;
    }
    const bool seen = lane >= from && lane < to;
    mine = seen ? mine : LOWEST;
    const float m = max(now.m, simd_max(mine));
    const float weight = seen ? exp(mine - m) : 0.0f;
    const float fade = exp(now.m - m);
    now.m = m;
    now.l = fma(now.l, fade, simd_sum(weight));
    weights[lane] = weight;
    simdgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = 0; i < COLS; i++) {
        const uint column = lane + 32 * i;
        if (column < a.head_dim) {
            float sum = now.acc[i] * fade;
            for (uint p = from; p < to; p++) {
                const uint vector = kv_head * 32 + p;
                const float v = V::one(values, vectors, a.head_dim, vector, column);
                sum = fma(weights[p], v, sum);
            }
            now.acc[i] = sum;
        }
    }
    // The next page takes the weights' place.
    simdgroup_barrier(mem_flags::mem_threadgroup);
}

template <typename K, typename V, uint COLS>
kernel void attention(device const float* q [[buffer(0)]],
                      device const int* positions [[buffer(1)]],
                      device const int* tables [[buffer(2)]],
                      device const int* work [[buffer(3)]],
                      device const uchar* keys [[buffer(4)]],
                      device const uchar* values [[buffer(5)]],
                      device const float* sinks [[buffer(6)]],
                      device float* y [[buffer(7)]],
                      device float* partials [[buffer(8)]],
                      constant AttentionArguments& a [[buffer(9)]],
                      threadgroup float* room [[threadgroup(0)]],
                      uint3 tg [[threadgroup_position_in_grid]],
                      uint t [[thread_index_in_threadgroup]],
                      uint lane [[thread_index_in_simdgroup]],
                      uint sg [[simdgroup_index_in_threadgroup]]) {
    // room: q, then each simdgroup's weights of a page, its accumulator, its maximum and sum.
    threadgroup float* weights = room + a.head_dim + 32 * sg;
    threadgroup float* accs = room + a.head_dim + 128;
    threadgroup float* ends = accs + 4 * a.head_dim;
    constexpr uint OWN = (COLS + 3) / 4;
    device const int* item = work + 6 * tg.y;
    const uint row = uint(item[0]) + tg.z;
    // The same for the whole threadgroup, so all its threads meet at each barrier, or none comes.
    if (int(tg.z) < item[1]) {
        const uint kv_head = tg.x / (a.heads / a.kv_heads);
        const ulong at = (ulong(row) * a.heads + tg.x) * a.head_dim;
        for (uint i = t; i < a.head_dim; i += 128) {
            room[i] = q[at + i];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        const uint position = uint(positions[row]);
        const uint oldest = position + 1 > a.window ? position + 1 - a.window : 0;
        const uint start = max(uint(item[3]), oldest), end = min(uint(item[4]), position + 1);
        device const int* table = tables + ulong(item[2]) * a.table_pages;
        // Of the partitions so far: maximum, sum, and the thread's columns, every 128th.
        float m = LOWEST, l = 0.0f, totals[OWN] = {};
        for (uint first = start / PARTITION * PARTITION; first < end; first += PARTITION) {
            const uint begin = max(start, first), stop = min(end, first + PARTITION);
            Running<COLS> now;
            now.m = LOWEST;
            now.l = 0.0f;
            for (uint i = 0; i < COLS; i++) {
                now.acc[i] = 0.0f;
            }
            for (uint tile = begin / 32 + sg; tile * 32 < stop; tile += 4) {
                const ulong page = ulong(table[tile]);
                const uint from = max(begin, tile * 32) - tile * 32;
                const uint to = min(stop - tile * 32, 32u);
                attend<K, V, COLS>(now, keys + page * a.key_page_bytes,
                                   values + page * a.value_page_bytes, a, kv_head, from, to, lane,
                                   room, weights);
            }
            if (first > start) {
                threadgroup_barrier(mem_flags::mem_threadgroup);
            }
            for (uint i = 0; i < COLS; i++) {
                if (lane + 32 * i < a.head_dim) {
                    accs[sg * a.head_dim + lane + 32 * i] = now.acc[i];
                }
            }
            if (lane == 0) {
                ends[2 * sg] = now.m;
                ends[2 * sg + 1] = now.l;
            }
            threadgroup_barrier(mem_flags::mem_threadgroup);
            float part_m = ends[0], part_l = ends[1];
            for (uint s = 1; s < 4; s++) {
                const Merged r = merge(part_m, part_l, ends[2 * s], ends[2 * s + 1]);
                part_m = r.m;
                part_l = r.l;
            }
            const Merged both = merge(m, l, part_m, part_l);
            for (uint i = 0; i < OWN; i++) {
                const uint column = min(t + 128 * i, a.head_dim - 1);
                float sum = 0.0f;
                for (uint s = 0; s < 4; s++) {
                    sum = fma(accs[s * a.head_dim + column], exp(ends[2 * s] - part_m), sum);
                }
                totals[i] = fma(totals[i], both.a, sum * both.b);
            }
            m = both.m;
            l = both.l;
        }
        const bool whole = item[5] < 0;
        const bool has_sink = a.has_sinks != 0;
        const float factor =
            whole ? finish_factor(m, l, has_sink, has_sink ? sinks[tg.x] : 0.0f) : 1.0f;
        const uint slot = whole ? 0u : uint(item[5]) + tg.z;
        const ulong record = (ulong(slot) * a.heads + tg.x) * (a.head_dim + 2);
        for (uint i = 0; i < OWN; i++) {
            const uint column = t + 128 * i;
            if (whole && column < a.head_dim) {
                y[at + column] = totals[i] * factor;
            } else if (column < a.head_dim) {
                partials[record + 2 + column] = totals[i];
            }
        }
        if (!whole && t == 0) {
            partials[record] = m;
            partials[record + 1] = l;
        }
    }
}
