// Cosine and sine of position * frequency, as x and y.
//
// A frequency comes as turns per position in units of 2^-64: the product with the position wraps
// round at whole turns, so the angle is as exact at position 100000 as at position 1, without
// double precision.
inline float2 turn(ulong turns, int position, float magnitude) {
    const ulong phase = turns * ulong(position);
    // The top 32 bits as a signed part of a turn.
    const float angle = float(int(uint(phase >> 32u))) * 1.46291807926715968105e-9f;
    return float2(cos(angle) * magnitude, sin(angle) * magnitude);
}
