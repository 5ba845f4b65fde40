// softmax: y = exp(x - max) / sum.
//
// Grid: x 1, y over rows. Eight simdgroups a row.
kernel void softmax(device const float* x [[buffer(0)]],
                    device float* y [[buffer(1)]],
                    constant SelectArguments& a [[buffer(2)]],
                    threadgroup float* room [[threadgroup(0)]],
                    uint3 tg [[threadgroup_position_in_grid]],
                    uint t [[thread_index_in_threadgroup]],
                    uint lane [[thread_index_in_simdgroup]],
                    uint sg [[simdgroup_index_in_threadgroup]]) {
    const ulong at = ulong(tg.y) * a.cols;
    float most = -INFINITY;
    for (uint i = t; i < a.cols; i += 256) {
        most = max(most, x[at + i]);
    }
    most = group_max(most, room, lane, sg, 8);
    float sum = 0.0f;
    for (uint i = t; i < a.cols; i += 256) {
        const float e = exp(x[at + i] - most);
        y[at + i] = e;
        sum += e;
    }
    sum = group_sum(sum, room, lane, sg, 8);
    for (uint i = t; i < a.cols; i += 256) {
        y[at + i] = y[at + i] / sum;
    }
}
