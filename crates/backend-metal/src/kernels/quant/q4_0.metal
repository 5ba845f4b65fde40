// q4_0: f16 d, 16 bytes of low and high halves; d * (q - 8).
struct Q4_0 {
    enum : uint { VALUES = 32, BYTES = 18, TAIL = 0 };
    static float2 unpack(device const uchar* block, uint group, thread float4* q) {
        put_unsigned((words_by_2(block + 2) >> (4 * group)) & 0x0F0F0F0Fu, q);
        const float d = half_at(block);
        return float2(d, -8.0f * d);
    }
};
