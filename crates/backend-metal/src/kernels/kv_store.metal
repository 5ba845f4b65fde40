// kv_store: the step's K or V rows to the cache, converted to its type.
//
// Grid: x over runs of 256 columns, y over tokens. A simdgroup stores 32 columns, which are a block
// of q8_0.
kernel void kv_store(device const float* x [[buffer(0)]],
                     device const int* slots [[buffer(1)]],
                     device uchar* cache [[buffer(2)]],
                     constant StoreArguments& a [[buffer(3)]],
                     uint3 tg [[threadgroup_position_in_grid]],
                     uint t [[thread_index_in_threadgroup]]) {
    const uint slot = uint(slots[tg.y]);
    // q8_0 heads are multiples of 32, so their simdgroups are inside or outside as a whole.
    const uint cols = a.kv_heads * a.head_dim, i = tg.x * 256 + t;
    const float v = i < cols ? x[ulong(tg.y) * cols + i] : 0.0f;
    const Quantized quantized = quantize(v);
    if (i < cols) {
        device uchar* page = cache + ulong(slot / 32) * a.page_bytes;
        store_column(a.kind, page, a.kv_heads * 32, a.head_dim, i / a.head_dim * 32 + slot % 32,
                     i % a.head_dim, v, quantized);
    }
}
