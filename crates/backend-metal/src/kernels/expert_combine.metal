// expert_combine: the weighted sum of a token's experts, in rank order.
//
// Grid: x over runs of 1024 columns, y over tokens.
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
