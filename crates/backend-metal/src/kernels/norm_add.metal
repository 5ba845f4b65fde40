// norm_add: y = x * w / sqrt(mean(x * x) + eps) + residual; y may take the residual's place.
//
// Grid: x 1, y over rows. One simdgroup for short rows, several for long ones.
kernel void norm_add(device const float* x [[buffer(0)]],
                     device const float* residual [[buffer(1)]],
                     device const float* weight [[buffer(2)]],
                     device float* y [[buffer(3)]],
                     constant NormArguments& a [[buffer(4)]],
                     threadgroup float* room [[threadgroup(0)]],
                     uint3 tg [[threadgroup_position_in_grid]],
                     uint t [[thread_index_in_threadgroup]],
                     uint lane [[thread_index_in_simdgroup]],
                     uint sg [[simdgroup_index_in_threadgroup]],
                     uint simdgroups [[simdgroups_per_threadgroup]]) {
    const ulong at = ulong(tg.y) * a.cols;
    float squares = 0.0f;
    for (uint i = t; i < a.cols; i += 32 * simdgroups) {
        squares = fma(x[at + i], x[at + i], squares);
    }
    const float inverse =
        inverse_rms(group_sum(squares, room, lane, sg, simdgroups), a.cols, a.eps);
    for (uint i = t; i < a.cols; i += 32 * simdgroups) {
        y[at + i] = (x[at + i] * inverse) * weight[i] + residual[at + i];
    }
}
