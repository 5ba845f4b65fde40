// rope: pairs of a head's columns turned by position * frequency.
//
// Grid: x over runs of 256 pairs or single columns of a row's heads, y over tokens. A frequency
// comes as turns per position in units of 2^-64: the product with the position wraps round at whole
// turns, so the angle is as exact at position 100000 as at position 1, without double precision.
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
            const ulong phase = turns[i] * ulong(positions[tg.y]);
            // The top 32 bits as a signed part of a turn.
            const float angle = float(int(uint(phase >> 32u))) * 1.46291807926715968105e-9f;
            const float c = cos(angle) * a.magnitude, s = sin(angle) * a.magnitude;
            const ulong first = at + (a.interleaved != 0 ? 2 * i : i);
            const ulong second = a.interleaved != 0 ? first + 1 : first + a.pairs;
            const float p = x[first], q = x[second];
            y[first] = fma(p, c, -(q * s));
            y[second] = fma(q, c, p * s);
        } else {
            y[at + a.pairs + i] = x[at + a.pairs + i];
        }
    }
}
