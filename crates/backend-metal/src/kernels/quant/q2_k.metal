// q2_k: 16 bytes of scales and minima, 64 bytes of two-bit planes, f16 d and dmin;
// (d * s) * q - dmin * m.
struct Q2_K {
    enum : uint { VALUES = 256, BYTES = 84, TAIL = 0 };
    static float2 unpack(device const uchar* block, uint group, thread float4* q) {
        device const uchar* plane = block + 16 + group / 8 * 32 + group % 2 * 16;
        put_unsigned((words_by_4(plane) >> (group % 8 / 2 * 2)) & 0x03030303u, q);
        const uint packed = block[group];
        const float min = half_at(block + 82) * float(packed >> 4);
        return float2(half_at(block + 80) * float(packed & 15u), -min);
    }
};
