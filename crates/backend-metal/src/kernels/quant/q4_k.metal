// q4_k: f16 d and dmin, 12 bytes of scales and minima, 128 bytes of halves; (d * s) * q - dmin * m.
struct Q4_K {
    enum : uint { VALUES = 256, BYTES = 144, TAIL = 0 };
    static float2 unpack(device const uchar* block, uint group, thread float4* q) {
        device const uchar* plane = block + 16 + group / 4 * 32 + group % 2 * 16;
        put_unsigned((words_by_4(plane) >> (group % 4 / 2 * 4)) & 0x0F0F0F0Fu, q);
        const float2 s = six_bits(block + 4, group / 2);
        return float2(half_at(block) * s.x, -(half_at(block + 2) * s.y));
    }
};
