// rms_norm and qk_norm: y = x * w / sqrt(mean(x * x) + eps).
//
// Grid: x over the parts of a row that are normed apart (heads), y over rows. One simdgroup for
// short rows, several for long ones.
kernel void rms_norm(device const float* x [[buffer(0)]],
                     device const float* weight [[buffer(1)]],
                     device float* y [[buffer(2)]],
                     constant NormArguments& a [[buffer(3)]],
                     threadgroup float* room [[threadgroup(0)]],
                     uint3 tg [[threadgroup_position_in_grid]],
                     uint3 grid [[threadgroups_per_grid]],
                     uint t [[thread_index_in_threadgroup]],
                     uint lane [[thread_index_in_simdgroup]],
                     uint sg [[simdgroup_index_in_threadgroup]],
                     uint simdgroups [[simdgroups_per_threadgroup]]) {
    const ulong at = (ulong(tg.y) * grid.x + tg.x) * a.cols;
    float squares = 0.0f;
    for (uint i = t; i < a.cols; i += 32 * simdgroups) {
        squares = fma(x[at + i], x[at + i], squares);
    }
    const float inverse =
        inverse_rms(group_sum(squares, room, lane, sg, simdgroups), a.cols, a.eps);
    for (uint i = t; i < a.cols; i += 32 * simdgroups) {
        y[at + i] = (x[at + i] * inverse) * weight[i];
    }
}
