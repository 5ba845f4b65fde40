// q5_1: f16 d and m, 32 top bits, 16 bytes of low and high halves; d * q + m.
struct Q5_1 {
    enum : uint { VALUES = 32, BYTES = 24, TAIL = 0 };
    static float2 unpack(device const uchar* block, uint group, thread float4* q) {
        const uint top = *(device const uint*)(block + 4) >> (16 * group);
        uint4 w = (words_by_4(block + 8) >> (4 * group)) & 0x0F0F0F0Fu;
        for (uint i = 0; i < 4; i++) {
            w[i] = w[i] | (spread(top >> (4 * i)) << 4u);
        }
        put_unsigned(w, q);
        return float2(half_at(block), half_at(block + 2));
    }
};
