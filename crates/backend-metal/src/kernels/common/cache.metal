// Types of the KV cache. A page holds 32 positions of every K/V head,
// [kv_head][position][head_dim]; a vector is one (kv_head, position) of it. A struct has
//   put(page, vectors, head_dim, vector, column, lane value)   by a whole simdgroup, one column a lane
//   one, four(page, vectors, head_dim, vector, column)         a value; four from a multiple of 4 on

struct CacheF32 {
    enum : uint { SIZE = 4, SCALED = 0 };
    static float one(device const uchar* page, uint, uint head_dim, uint vector, uint column) {
        return ((device const float*)page)[vector * head_dim + column];
    }
    static float4 four(device const uchar* page, uint, uint head_dim, uint vector, uint column) {
        return *(device const float4*)(page + 4 * (vector * head_dim + column));
    }
    static void put(device uchar* page, uint head_dim, uint vector, uint column, float x) {
        ((device float*)page)[vector * head_dim + column] = x;
    }
};

struct CacheF16 {
    enum : uint { SIZE = 2, SCALED = 0 };
    static float one(device const uchar* page, uint, uint head_dim, uint vector, uint column) {
        return float(((device const half*)page)[vector * head_dim + column]);
    }
    static float4 four(device const uchar* page, uint, uint head_dim, uint vector, uint column) {
        return float4(*(device const half4*)(page + 2 * (vector * head_dim + column)));
    }
    static void put(device uchar* page, uint head_dim, uint vector, uint column, float x) {
        ((device half*)page)[vector * head_dim + column] = half(x);
    }
};

struct CacheBF16 {
    enum : uint { SIZE = 2, SCALED = 0 };
    static float one(device const uchar* page, uint, uint head_dim, uint vector, uint column) {
        const ushort bits = ((device const ushort*)page)[vector * head_dim + column];
        return as_type<float>(uint(bits) << 16u);
    }
    static float4 four(device const uchar* page, uint, uint head_dim, uint vector, uint column) {
        const ushort4 bits = *(device const ushort4*)(page + 2 * (vector * head_dim + column));
        return as_type<float4>(uint4(bits) << 16u);
    }
    // To nearest, ties to even; a NaN keeps its sign and becomes quiet.
    static void put(device uchar* page, uint head_dim, uint vector, uint column, float x) {
        const uint bits = as_type<uint>(x);
        const uint rounded = (bits + 0x7FFFu + ((bits >> 16u) & 1u)) >> 16u;
        const uint kept = is_nan(x) ? (bits >> 16u) | 0x40u : rounded;
        ((device ushort*)page)[vector * head_dim + column] = ushort(kept);
    }
};

// Signed bytes of all vectors, then an f16 scale for each 32 of them.
struct CacheQ8_0 {
    enum : uint { SIZE = 1, SCALED = 1 };
    static float scale(device const uchar* page, uint vectors, uint head_dim, uint at) {
        return half_at(page + vectors * head_dim + at / 32 * 2);
    }
    static float one(device const uchar* page, uint vectors, uint head_dim, uint vector,
                     uint column) {
        const uint at = vector * head_dim + column;
        return float(as_type<char>(page[at])) * scale(page, vectors, head_dim, at);
    }
    static float4 four(device const uchar* page, uint vectors, uint head_dim, uint vector,
                       uint column) {
        const uint at = vector * head_dim + column;
        const uint word = *(device const uint*)(page + at);
        return float4(as_type<char4>(word)) * scale(page, vectors, head_dim, at);
    }
};
