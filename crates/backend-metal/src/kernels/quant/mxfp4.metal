// mxfp4: a power of two as one byte, 16 bytes of halves that choose from a table of doubled E2M1
// values; 2^(e - 128) * LEVELS[q].
static constant float MXFP4_LEVELS[16] = {0.0f, 1.0f,  2.0f,  3.0f,  4.0f,  6.0f,  8.0f,  12.0f,
                                   0.0f, -1.0f, -2.0f, -3.0f, -4.0f, -6.0f, -8.0f, -12.0f};

struct MXFP4 {
    enum : uint { VALUES = 32, BYTES = 17, TAIL = 0 };
    static float2 unpack(device const uchar* block, uint group, thread float4* q) {
        put_table((words_by_1(block + 1) >> (4 * group)) & 0x0F0F0F0Fu, MXFP4_LEVELS, q);
        // The two smallest are subnormal.
        const uint e = block[0];
        const uint bits = e < 2 ? 0x00200000u << e : (e - 1) << 23u;
        return float2(as_type<float>(bits), 0.0f);
    }
};
