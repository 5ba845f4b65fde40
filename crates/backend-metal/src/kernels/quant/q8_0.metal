// q8_0: f16 d, 32 signed bytes; d * q.
struct Q8_0 {
    enum : uint { VALUES = 32, BYTES = 34, TAIL = 0 };
    static float2 unpack(device const uchar* block, uint group, thread float4* q) {
        put_signed(words_by_2(block + 2 + 16 * group), q);
        return float2(half_at(block), 0.0f);
    }
};
