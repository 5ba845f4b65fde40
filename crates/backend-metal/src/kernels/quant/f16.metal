// f16: no blocks; rows need not end in a whole group.
struct F16 {
    enum : uint { VALUES = 16, BYTES = 32, TAIL = 1 };
    static float2 unpack(device const uchar* block, uint, thread float4* q) {
        const uint4 w[2] = {words_by_2(block), words_by_2(block + 16)};
        for (uint i = 0; i < 4; i++) {
            const uint4 half_words = w[i / 2];
            const uint2 pair = i % 2 == 0 ? half_words.xy : half_words.zw;
            q[i] = float4(as_type<half4>(pair));
        }
        return float2(1.0f, 0.0f);
    }
};

template <>
inline float element<F16>(device const uchar* row, uint i) { return half_at(row + 2 * i); }
