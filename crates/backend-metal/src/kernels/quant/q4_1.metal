// q4_1: f16 d and m, 16 bytes of low and high halves; d * q + m.
struct Q4_1 {
    enum : uint { VALUES = 32, BYTES = 20, TAIL = 0 };
    static float2 unpack(device const uchar* block, uint group, thread float4* q) {
        put_unsigned((words_by_4(block + 4) >> (4 * group)) & 0x0F0F0F0Fu, q);
        return float2(half_at(block), half_at(block + 2));
    }
};
