// bf16: the upper half of an f32; no blocks; rows need not end in a whole group. Read as integers,
// so that no language version with a type for it is needed.
struct BF16 {
    enum : uint { VALUES = 16, BYTES = 32, TAIL = 1 };
    static float2 unpack(device const uchar* block, uint, thread float4* q) {
        device const ushort* x = (device const ushort*)block;
        for (uint i = 0; i < 4; i++) {
            const uint4 bits = uint4(x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]);
            q[i] = as_type<float4>(bits << 16u);
        }
        return float2(1.0f, 0.0f);
    }
};

template <>
inline float element<BF16>(device const uchar* row, uint i) {
    return as_type<float>(uint(((device const ushort*)row)[i]) << 16u);
}
