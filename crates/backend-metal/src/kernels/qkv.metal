// The second half of qkv: norms of q and k where the model has them, rope of both, k and v to the
// cache.
//
// Grid: x over query heads, K heads and V heads, y over tokens. One simdgroup a head, which passes
// through threadgroup memory: a pair's columns lie in different lanes.
kernel void qkv_finish(device float* q [[buffer(0)]],
                       device const float* k [[buffer(1)]],
                       device const float* v [[buffer(2)]],
                       device const int* positions [[buffer(3)]],
                       device const int* slots [[buffer(4)]],
                       constant ulong* turns [[buffer(5)]],
                       device const float* q_norm [[buffer(6)]],
                       device const float* k_norm [[buffer(7)]],
                       device uchar* keys [[buffer(8)]],
                       device uchar* values [[buffer(9)]],
                       constant QkvArguments& a [[buffer(10)]],
                       threadgroup float* room [[threadgroup(0)]],
                       uint3 tg [[threadgroup_position_in_grid]],
                       uint lane [[thread_index_in_simdgroup]]) {
    const uint n = a.head_dim;
    const bool is_q = tg.x < a.heads, is_v = tg.x >= a.heads + a.kv_heads;
    const uint kv_head = is_q ? 0 : (tg.x - a.heads) % a.kv_heads;
    device const float* x = is_q ? q + (ulong(tg.y) * a.heads + tg.x) * n
                                 : (is_v ? v : k) + (ulong(tg.y) * a.kv_heads + kv_head) * n;
    float squares = 0.0f;
    for (uint i = lane; i < n; i += 32) {
        room[i] = x[i];
        squares = fma(x[i], x[i], squares);
    }
    const float inverse = 1.0f / sqrt(simd_sum(squares) / float(n) + (is_q ? a.q_eps : a.k_eps));
    if (a.has_norms != 0 && !is_v) {
        for (uint i = lane; i < n; i += 32) {
            room[i] = (room[i] * inverse) * (is_q ? q_norm[i] : k_norm[i]);
        }
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
    if (!is_v) {
        for (uint i = lane; i < a.pairs; i += 32) {
            const float2 c = turn(turns[i], positions[tg.y], a.magnitude);
            const uint first = a.interleaved != 0 ? 2 * i : i;
            const uint second = a.interleaved != 0 ? first + 1 : first + a.pairs;
            const float p = room[first], r = room[second];
            room[first] = fma(p, c.x, -(r * c.y));
            room[second] = fma(r, c.x, p * c.y);
        }
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
    const uint slot = uint(slots[tg.y]);
    device uchar* page = is_v ? values + ulong(slot / 32) * a.value_page_bytes
                              : keys + ulong(slot / 32) * a.key_page_bytes;
    for (uint block = 0; block < n; block += 32) {
        const uint i = block + lane;
        const float value = i < n ? room[i] : 0.0f;
        const Quantized quantized = quantize(value);
        if (is_q) {
            if (i < n) {
                q[(ulong(tg.y) * a.heads + tg.x) * n + i] = value;
            }
        } else if (i < n) {
            store_column(is_v ? a.value_kind : a.key_kind, page, a.kv_heads * 32, n,
                         kv_head * 32 + slot % 32, i, value, quantized);
        }
    }
}
