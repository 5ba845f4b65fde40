// add_norm: s = a + b, which may take a's place, and y = s * w / sqrt(mean(s * s) + eps).
//
// Grid: x 1, y over rows. One simdgroup for short rows, several for long ones.
kernel void add_norm(device const float* x [[buffer(0)]],
                     device const float* other [[buffer(1)]],
                     device const float* weight [[buffer(2)]],
                     device float* sum [[buffer(3)]],
                     device float* y [[buffer(4)]],
                     constant NormArguments& a [[buffer(5)]],
                     threadgroup float* room [[threadgroup(0)]],
                     uint3 tg [[threadgroup_position_in_grid]],
                     uint t [[thread_index_in_threadgroup]],
                     uint lane [[thread_index_in_simdgroup]],
                     uint sg [[simdgroup_index_in_threadgroup]],
                     uint simdgroups [[simdgroups_per_threadgroup]]) {
    const ulong at = ulong(tg.y) * a.cols;
    float squares = 0.0f;
    for (uint i = t; i < a.cols; i += 32 * simdgroups) {
        const float s = x[at + i] + other[at + i];
        sum[at + i] = s;
        squares = fma(s, s, squares);
    }
    const float inverse =
        inverse_rms(group_sum(squares, room, lane, sg, simdgroups), a.cols, a.eps);
    // A thread reads back only what it wrote itself.
    for (uint i = t; i < a.cols; i += 32 * simdgroups) {
        y[at + i] = (sum[at + i] * inverse) * weight[i];
    }
}
