// Bytes of weight blocks as words, read with the widest loads that a format's alignment allows.

// The bits of a NaN; a comparison of floats could be optimised away where NaNs are assumed away.
inline bool is_nan(float x) { return (as_type<uint>(x) & 0x7FFFFFFFu) > 0x7F800000u; }

inline float half_at(device const uchar* p) {
    return float(as_type<half>(*(device const ushort*)p));
}

// 16 bytes at a multiple of 4.
inline uint4 words_by_4(device const uchar* p) {
    device const uint* w = (device const uint*)p;
    return uint4(w[0], w[1], w[2], w[3]);
}

// 16 bytes at a multiple of 2.
inline uint4 words_by_2(device const uchar* p) {
    device const ushort* h = (device const ushort*)p;
    const uint4 low = uint4(h[0], h[2], h[4], h[6]);
    const uint4 high = uint4(h[1], h[3], h[5], h[7]);
    return low | (high << 16u);
}

// 16 bytes anywhere.
inline uint4 words_by_1(device const uchar* p) {
    uint4 w = uint4(0u, 0u, 0u, 0u);
    for (uint i = 0; i < 4; i++) {
        const uint low = uint(p[4 * i]) | (uint(p[4 * i + 1]) << 8u);
        w[i] = low | (uint(p[4 * i + 2]) << 16u) | (uint(p[4 * i + 3]) << 24u);
    }
    return w;
}

// Bit i of the low half of `bits` at the bottom of byte i.
inline uint spread(uint bits) { return ((bits & 15u) * 0x00204081u) & 0x01010101u; }

// Unsigned bytes as floats.
inline void put_unsigned(uint4 w, thread float4* q) {
    for (uint i = 0; i < 4; i++) {
        q[i] = float4(as_type<uchar4>(w[i]));
    }
}

// Signed bytes as floats.
inline void put_signed(uint4 w, thread float4* q) {
    for (uint i = 0; i < 4; i++) {
        q[i] = float4(as_type<char4>(w[i]));
    }
}

// Entries of a table, by the bytes of `w`.
inline void put_table(uint4 w, constant float* table, thread float4* q) {
    for (uint i = 0; i < 4; i++) {
        const uchar4 at = as_type<uchar4>(w[i]);
        q[i] = float4(table[at.x], table[at.y], table[at.z], table[at.w]);
    }
}
