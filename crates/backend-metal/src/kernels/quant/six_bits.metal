// Scale and minimum of a group of 32, six bits each, as q4_k and q5_k pack eight of them in 12
// bytes.
inline float2 six_bits(device const uchar* packed, uint group) {
    const uint first = packed[group & 3u];
    const uint second = packed[4 + (group & 3u)];
    const uint rest = packed[8 + (group & 3u)];
    if (group < 4) {
        return float2(float(first & 63u), float(second & 63u));
    }
    const uint scale = (rest & 15u) | (first >> 6u << 4u);
    const uint min = (rest >> 4u) | (second >> 6u << 4u);
    return float2(float(scale), float(min));
}
