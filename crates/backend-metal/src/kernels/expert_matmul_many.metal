// expert_matmul of many rows: the pairs of an expert share the tiles in which its matrix is read.

// expert_matmul_lists: the (token, rank) pairs in the order of their experts, and the tiles of up
// to 32 that they make.
//
// Grid: one threadgroup of 256. A thread takes every 256th expert; what it writes does not depend
// on which thread comes first. `lists` has the number of tiles; expert, first and last pair of
// each; and the pairs.
kernel void expert_matmul_lists(device const int* experts [[buffer(0)]],
                                device uint* lists [[buffer(1)]],
                                constant ExpertListArguments& a [[buffer(2)]],
                                constant uint& pairs [[buffer(3)]],
                                threadgroup uint* room [[threadgroup(0)]],
                                uint t [[thread_index_in_threadgroup]]) {
    // Pairs of each expert, then where its pairs and its tiles begin.
    threadgroup uint* starts = room;
    threadgroup uint* tiles = room + a.experts;
    for (uint e = t; e < a.experts; e += 256) {
        uint count = 0;
        for (uint pair = 0; pair < pairs; pair++) {
            count += uint(experts[pair]) == e ? 1u : 0u;
        }
        starts[e] = count;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (t == 0) {
        uint start = 0, tile = 0;
        for (uint e = 0; e < a.experts; e++) {
            const uint count = starts[e];
            starts[e] = start;
            tiles[e] = tile;
            start += count;
            tile += (count + 31) / 32;
        }
        lists[0] = tile;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    device uint* order = lists + 1 + 3 * a.tiles;
    for (uint e = t; e < a.experts; e += 256) {
        uint at = starts[e];
        for (uint pair = 0; pair < pairs; pair++) {
            if (uint(experts[pair]) == e) {
                order[at] = pair;
                at++;
            }
        }
        device uint* tile = lists + 1 + 3 * tiles[e];
        for (uint first = starts[e]; first < at; first += 32) {
            tile[0] = e;
            tile[1] = first;
            tile[2] = min(first + 32, at);
            tile += 3;
        }
    }
}

// Grid: x over tiles of 64 weight rows, y over as many tiles of pairs as there can be.
template <typename W, typename T>
kernel void expert_matmul_many(device const float* x [[buffer(0)]],
                               device const uint* lists [[buffer(1)]],
                               device const uchar* weight [[buffer(2)]],
                               device float* y [[buffer(3)]],
                               constant ExpertTileArguments& a [[buffer(4)]],
                               threadgroup uchar* room [[threadgroup(0)]],
                               uint3 tg [[threadgroup_position_in_grid]],
                               uint t [[thread_index_in_threadgroup]],
                               uint sg [[simdgroup_index_in_threadgroup]]) {
    // The same for the whole threadgroup, so all its threads meet at each barrier, or none comes.
    if (tg.y < lists[0]) {
        device const uint* tile = lists + 1 + 3 * tg.y;
        device const uint* order = lists + 1 + 3 * a.tiles;
        const uint first = tile[1], end = tile[2], w0 = tg.x * 64;
        device const uchar* matrix = weight + ulong(tile[0]) * a.outputs * ulong(a.row_bytes);
        uint from[8];
        for (uint i = 0; i < 8; i++) {
            const uint at = first + t / 32 + 4 * i;
            from[i] = at < end ? order[at] / a.ranks : NO_ROW;
        }
        tile_products<W, T>(x, from, matrix, a.row_bytes, a.outputs, a.cols, w0, t, sg, room);
        threadgroup const float* results = (threadgroup const float*)room;
        for (uint i = t; i < 32 * 64; i += 128) {
            const uint at = first + i / 64, out = w0 + i % 64;
            if (at < end && out < a.outputs) {
                y[ulong(order[at]) * a.outputs + out] = results[i];
            }
        }
    }
}
