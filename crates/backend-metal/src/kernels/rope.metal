// rope: pairs of a head's columns turned by position * frequency.
//
// Grid: x over runs of 256 pairs or single columns of a row's heads, y over tokens.
kernel void rope(device const float* x [[buffer(0)]],
                 device const int* positions [[buffer(1)]],
                 constant ulong* turns [[buffer(2)]],
                 device float* y [[buffer(3)]],
                 constant RopeArguments& a [[buffer(4)]],
                 uint3 tg [[threadgroup_position_in_grid]],
                 uint t [[thread_index_in_threadgroup]]) {
    const uint units = a.head_dim - a.pairs;
    const uint unit = tg.x * 256 + t;
    if (unit < a.heads * units) {
        const uint head = unit / units, i = unit % units;
        const ulong at = (ulong(tg.y) * a.heads + head) * a.head_dim;
        if (i < a.pairs) {
            const float2 c = turn(turns[i], positions[tg.y], a.magnitude);
            const ulong first = at + (a.interleaved != 0 ? 2 * i : i);
            const ulong second = a.interleaved != 0 ? first + 1 : first + a.pairs;
            const float p = x[first], q = x[second];
            y[first] = fma(p, c.x, -(q * c.y));
            y[second] = fma(q, c.x, p * c.y);
        } else {
            y[at + a.pairs + i] = x[at + a.pairs + i];
        }
    }
}
