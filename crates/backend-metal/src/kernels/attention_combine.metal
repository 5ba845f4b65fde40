// attention_combine: the partial results of each row and head put together.
//
// Grid: as attention's. The first item of a row does the row; the others have nothing to do.
kernel void attention_combine(device const int* work [[buffer(0)]],
                              device const float* sinks [[buffer(1)]],
                              device const float* partials [[buffer(2)]],
                              device float* y [[buffer(3)]],
                              constant AttentionArguments& a [[buffer(4)]],
                              uint3 tg [[threadgroup_position_in_grid]],
                              uint lane [[thread_index_in_simdgroup]]) {
    device const int* first = work + 6 * tg.y;
    const int row = first[0] + int(tg.z);
    bool leads = int(tg.z) < first[1] && first[5] >= 0;
    for (uint i = 0; i < tg.y; i++) {
        device const int* item = work + 6 * i;
        leads = leads && !(item[5] >= 0 && row >= item[0] && row < item[0] + item[1]);
    }
    const uint width = a.head_dim + 2;
    // No collective below, so whoever does not lead just has no column.
    for (uint column = lane; leads && column < a.head_dim; column += 32) {
        float m = LOWEST, l = 0.0f, sum = 0.0f;
        for (uint i = tg.y; i < a.items; i++) {
            device const int* item = work + 6 * i;
            if (item[5] >= 0 && row >= item[0] && row < item[0] + item[1]) {
                const ulong slot = ulong(item[5] + (row - item[0]));
                device const float* record = partials + (slot * a.heads + tg.x) * width;
                const Merged r = merge(m, l, record[0], record[1]);
                sum = fma(sum, r.a, record[2 + column] * r.b);
                m = r.m;
                l = r.l;
            }
        }
        const bool has_sink = a.has_sinks != 0;
        const float factor = finish_factor(m, l, has_sink, has_sink ? sinks[tg.x] : 0.0f);
        y[(ulong(row) * a.heads + tg.x) * a.head_dim + column] = sum * factor;
    }
}
