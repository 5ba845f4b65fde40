// q8_k: f32 d, 256 signed bytes, sums that decoding does not need; d * q.
struct Q8_K {
    enum : uint { VALUES = 256, BYTES = 292, TAIL = 0 };
    static float2 unpack(device const uchar* block, uint group, thread float4* q) {
        put_signed(words_by_4(block + 4 + 16 * group), q);
        return float2(*(device const float*)block, 0.0f);
    }
};
