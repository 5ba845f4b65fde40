// kv_store: the step's K or V rows to the cache, converted to its type.
//
// Grid: x over runs of 256 columns, y over tokens. A simdgroup stores 32 columns, which are a block
// of q8_0.

template <typename C>
kernel void kv_store(device const float* x [[buffer(0)]],
                     device const int* slots [[buffer(1)]],
                     device uchar* cache [[buffer(2)]],
                     constant StoreArguments& a [[buffer(3)]],
                     uint3 tg [[threadgroup_position_in_grid]],
                     uint t [[thread_index_in_threadgroup]]) {
    const uint slot = uint(slots[tg.y]);
    const uint cols = a.kv_heads * a.head_dim, i = tg.x * 256 + t;
    if (i < cols) {
        const uint vector = i / a.head_dim * 32 + slot % 32;
        device uchar* page = cache + ulong(slot / 32) * a.page_bytes;
        C::put(page, a.head_dim, vector, i % a.head_dim, x[ulong(tg.y) * cols + i]);
    }
}

kernel void kv_store_q8_0(device const float* x [[buffer(0)]],
                          device const int* slots [[buffer(1)]],
                          device uchar* cache [[buffer(2)]],
                          constant StoreArguments& a [[buffer(3)]],
                          uint3 tg [[threadgroup_position_in_grid]],
                          uint t [[thread_index_in_threadgroup]],
                          uint lane [[thread_index_in_simdgroup]]) {
    const uint slot = uint(slots[tg.y]);
    // Heads are multiples of 32, so a simdgroup is inside or outside as a whole.
    const uint cols = a.kv_heads * a.head_dim, i = tg.x * 256 + t;
    const float v = i < cols ? x[ulong(tg.y) * cols + i] : 0.0f;
    // The bits of |x| order as the numbers do; from 0x7F800000 on they are no number.
    const uint most = simd_max(as_type<uint>(v) & 0x7FFFFFFFu);
    const bool broken = most >= 0x7F800000u;
    const half rounded = half(as_type<float>(broken ? 0u : most) / 127.0f);
    const float step = float(rounded);
    const float inverse = step == 0.0f ? 0.0f : 1.0f / step;
    const float level = clamp(rint(v * inverse), -127.0f, 127.0f);
    if (i < cols) {
        const uint vector = i / a.head_dim * 32 + slot % 32;
        const uint at = vector * a.head_dim + i % a.head_dim;
        device uchar* page = cache + ulong(slot / 32) * a.page_bytes;
        page[at] = broken ? uchar(0) : as_type<uchar>(char(level));
        if (lane == 0) {
            device ushort* scales = (device ushort*)(page + cols * 32);
            scales[at / 32] = broken ? ushort(0x7E00) : as_type<ushort>(rounded);
        }
    }
}
