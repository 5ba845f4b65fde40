// f32: no blocks; rows need not end in a whole group.
struct F32 {
    enum : uint { VALUES = 16, BYTES = 64, TAIL = 1 };
    static float2 unpack(device const uchar* block, uint, thread float4* q) {
        device const float* x = (device const float*)block;
        for (uint i = 0; i < 4; i++) {
            q[i] = float4(x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]);
        }
        return float2(1.0f, 0.0f);
    }
};

template <>
inline float element<F32>(device const uchar* row, uint i) { return ((device const float*)row)[i]; }
