// q5_k: f16 d and dmin, 12 bytes of scales and minima, 32 bytes of top bits, 128 bytes of halves;
// (d * s) * q - dmin * m.
struct Q5_K {
    enum : uint { VALUES = 256, BYTES = 176, TAIL = 0 };
    static float2 unpack(device const uchar* block, uint group, thread float4* q) {
        device const uchar* plane = block + 48 + group / 4 * 32 + group % 2 * 16;
        const uint4 low = (words_by_4(plane) >> (group % 4 / 2 * 4)) & 0x0F0F0F0Fu;
        const uint4 top = (words_by_4(block + 16 + group % 2 * 16) >> (group / 2)) & 0x01010101u;
        put_unsigned(low | (top << 4u), q);
        const float2 s = six_bits(block + 4, group / 2);
        return float2(half_at(block) * s.x, -(half_at(block + 2) * s.y));
    }
};
