// add, mul, scale, unary and glu: a function of each element.
//
// Grid: x over runs of 1024 columns, y over rows. A thread takes every 256th column of its run.

enum : uint { ADD = 0, MUL = 1, GLU = 2 };

template <uint OP>
kernel void binary(device const float* x [[buffer(0)]],
                   device const float* other [[buffer(1)]],
                   device float* y [[buffer(2)]],
                   constant ElementArguments& a [[buffer(3)]],
                   uint3 tg [[threadgroup_position_in_grid]],
                   uint t [[thread_index_in_threadgroup]]) {
    const uint end = min(a.cols, (tg.x + 1) * 1024);
    for (uint i = tg.x * 1024 + t; i < end; i += 256) {
        const ulong at = ulong(tg.y) * a.cols + i;
        if (OP == uint(ADD)) {
            y[at] = x[at] + other[at];
        } else if (OP == uint(MUL)) {
            y[at] = x[at] * other[at];
        } else {
            y[at] = activation(a.function, x[at], a.factor) * other[at];
        }
    }
}

kernel void scale(device const float* x [[buffer(0)]],
                  device float* y [[buffer(1)]],
                  constant ElementArguments& a [[buffer(2)]],
                  uint3 tg [[threadgroup_position_in_grid]],
                  uint t [[thread_index_in_threadgroup]]) {
    const uint end = min(a.cols, (tg.x + 1) * 1024);
    for (uint i = tg.x * 1024 + t; i < end; i += 256) {
        const ulong at = ulong(tg.y) * a.cols + i;
        y[at] = x[at] * a.factor;
    }
}

kernel void unary(device const float* x [[buffer(0)]],
                  device float* y [[buffer(1)]],
                  constant ElementArguments& a [[buffer(2)]],
                  uint3 tg [[threadgroup_position_in_grid]],
                  uint t [[thread_index_in_threadgroup]]) {
    const uint end = min(a.cols, (tg.x + 1) * 1024);
    for (uint i = tg.x * 1024 + t; i < end; i += 256) {
        const ulong at = ulong(tg.y) * a.cols + i;
        y[at] = activation(a.function, x[at], a.factor);
    }
}

// get_rows: the token rows whose output is asked for. y over output rows.
kernel void get_rows(device const float* x [[buffer(0)]],
                     device const int* picked [[buffer(1)]],
                     device float* y [[buffer(2)]],
                     constant ElementArguments& a [[buffer(3)]],
                     uint3 tg [[threadgroup_position_in_grid]],
                     uint t [[thread_index_in_threadgroup]]) {
    const uint end = min(a.cols, (tg.x + 1) * 1024);
    const ulong from = ulong(picked[tg.y]) * a.cols;
    for (uint i = tg.x * 1024 + t; i < end; i += 256) {
        y[ulong(tg.y) * a.cols + i] = x[from + i];
    }
}

// expert_combine: the weighted sum of a token's experts, in rank order. y over tokens.
kernel void expert_combine(device const float* x [[buffer(0)]],
                           device const float* weights [[buffer(1)]],
                           device float* y [[buffer(2)]],
                           constant CombineArguments& a [[buffer(3)]],
                           uint3 tg [[threadgroup_position_in_grid]],
                           uint t [[thread_index_in_threadgroup]]) {
    const uint end = min(a.cols, (tg.x + 1) * 1024);
    for (uint i = tg.x * 1024 + t; i < end; i += 256) {
        float sum = 0.0f;
        for (uint rank = 0; rank < a.ranks; rank++) {
            const uint pair = tg.y * a.ranks + rank;
            sum = fma(weights[pair], x[ulong(pair) * a.cols + i], sum);
        }
        y[ulong(tg.y) * a.cols + i] = sum;
    }
}
