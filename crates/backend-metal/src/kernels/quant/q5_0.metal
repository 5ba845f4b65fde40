// q5_0: f16 d, 32 top bits, 16 bytes of low and high halves; d * (q - 16).
struct Q5_0 {
    enum : uint { VALUES = 32, BYTES = 22, TAIL = 0 };
    static float2 unpack(device const uchar* block, uint group, thread float4* q) {
        const uint top = uint(*(device const ushort*)(block + 2 + 2 * group));
        uint4 w = (words_by_2(block + 6) >> (4 * group)) & 0x0F0F0F0Fu;
        for (uint i = 0; i < 4; i++) {
            w[i] = w[i] | (spread(top >> (4 * i)) << 4u);
        }
        put_unsigned(w, q);
        const float d = half_at(block);
        return float2(d, -16.0f * d);
    }
};
