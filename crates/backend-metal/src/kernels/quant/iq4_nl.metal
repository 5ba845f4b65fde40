// iq4_nl: f16 d, 16 bytes of halves that choose from a table; d * LEVELS[q].
static constant float IQ4_LEVELS[16] = {-127.0f, -104.0f, -83.0f, -65.0f, -49.0f, -35.0f, -22.0f, -10.0f,
                                 1.0f,    13.0f,   25.0f,  38.0f,  53.0f,  69.0f,  89.0f,  113.0f};

struct IQ4_NL {
    enum : uint { VALUES = 32, BYTES = 18, TAIL = 0 };
    static float2 unpack(device const uchar* block, uint group, thread float4* q) {
        put_table((words_by_2(block + 2) >> (4 * group)) & 0x0F0F0F0Fu, IQ4_LEVELS, q);
        return float2(half_at(block), 0.0f);
    }
};
