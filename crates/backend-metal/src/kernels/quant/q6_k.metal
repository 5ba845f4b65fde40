// q6_k: 128 bytes of low halves, 64 bytes of two-bit planes, 16 signed scales, f16 d;
// (d * s) * (q - 32).
struct Q6_K {
    enum : uint { VALUES = 256, BYTES = 210, TAIL = 0 };
    static float2 unpack(device const uchar* block, uint group, thread float4* q) {
        device const uchar* halves = block + group / 8 * 64 + group % 4 * 16;
        device const uchar* plane = block + 128 + group / 8 * 32 + group % 2 * 16;
        const uint4 low = (words_by_2(halves) >> (group % 8 / 4 * 4)) & 0x0F0F0F0Fu;
        const uint4 high = (words_by_2(plane) >> (group % 8 / 2 * 2)) & 0x03030303u;
        put_unsigned(low | (high << 4u), q);
        const float scale = half_at(block + 208) * float(as_type<char>(block[192 + group]));
        return float2(scale, -32.0f * scale);
    }
};
