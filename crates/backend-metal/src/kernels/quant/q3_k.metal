// q3_k: 32 bytes of top bits, 64 bytes of two-bit planes, 12 bytes of scales, f16 d;
// (d * (s - 32)) * (q - 4).
struct Q3_K {
    enum : uint { VALUES = 256, BYTES = 110, TAIL = 0 };
    static float2 unpack(device const uchar* block, uint group, thread float4* q) {
        device const uchar* plane = block + 32 + group / 8 * 32 + group % 2 * 16;
        const uint4 low = (words_by_2(plane) >> (group % 8 / 2 * 2)) & 0x03030303u;
        const uint4 top = (words_by_2(block + group % 2 * 16) >> (group / 2)) & 0x01010101u;
        put_unsigned(low | (top << 2u), q);
        device const uchar* scales = block + 96;
        const uint s_low = (uint(scales[group % 8]) >> (group / 8 * 4)) & 15u;
        const uint s_high = (uint(scales[8 + group % 4]) >> (group / 4 * 2)) & 3u;
        const float scale = half_at(block + 108) * (float(s_low | (s_high << 4u)) - 32.0f);
        return float2(scale, -4.0f * scale);
    }
};
