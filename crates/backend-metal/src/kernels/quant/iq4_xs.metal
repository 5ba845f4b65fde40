// iq4_xs: f16 d, two and four bits of eight scales, 128 bytes of halves that choose from the table
// of iq4_nl; (d * (s - 32)) * LEVELS[q].
struct IQ4_XS {
    enum : uint { VALUES = 256, BYTES = 136, TAIL = 0 };
    static float2 unpack(device const uchar* block, uint group, thread float4* q) {
        const uint g = group / 2;
        const uint4 w = words_by_4(block + 8 + 16 * g) >> (group % 2 * 4);
        put_table(w & 0x0F0F0F0Fu, IQ4_LEVELS, q);
        const uint low = (uint(block[4 + g / 2]) >> (g % 2 * 4)) & 15u;
        const uint high = (uint(*(device const ushort*)(block + 2)) >> (2 * g)) & 3u;
        return float2(half_at(block) * (float(low | (high << 4u)) - 32.0f), 0.0f);
    }
};
