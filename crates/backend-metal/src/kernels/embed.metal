// embed: the decoded row of each token; NaN where there is no such row.
//
// Grid: x 1, y over tokens. A thread decodes every 64th group of 16 columns.
template <typename W>
kernel void embed(device const int* ids [[buffer(0)]],
                  device const uchar* weight [[buffer(1)]],
                  device float* y [[buffer(2)]],
                  constant EmbedArguments& a [[buffer(3)]],
                  uint3 tg [[threadgroup_position_in_grid]],
                  uint t [[thread_index_in_threadgroup]]) {
    const int id = ids[tg.y];
    const bool known = id >= 0 && uint(id) < a.rows;
    // The step before had a NaN among its logits: the fault goes on, visibly.
    const float unknown = as_type<float>(0x7FC00000u);
    device const uchar* row = weight + (known ? ulong(id) : 0ul) * a.row_bytes;
    device float* to = y + ulong(tg.y) * a.cols;
    const uint groups = a.cols / 16;
    for (uint g = t; g < groups; g += 64) {
        float4 q[4];
        const float2 s = unpack_group<W>(row, g, q);
        for (uint i = 0; i < 16; i++) {
            to[16 * g + i] = known ? fma(s.x, q[i / 4][i % 4], s.y) : unknown;
        }
    }
    if (uint(W::TAIL) == 1) {
        for (uint i = 16 * groups + t; i < a.cols; i += 64) {
            to[i] = known ? element<W>(row, i) : unknown;
        }
    }
}
