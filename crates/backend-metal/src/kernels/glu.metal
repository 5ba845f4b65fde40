// glu: y = function(gate) * up.
//
// Grid: x over runs of 1024 columns, y over rows. A thread takes every 256th column of its run.
kernel void glu(device const float* gate [[buffer(0)]],
                device const float* up [[buffer(1)]],
                device float* y [[buffer(2)]],
                constant ElementArguments& a [[buffer(3)]],
                uint3 tg [[threadgroup_position_in_grid]],
                uint t [[thread_index_in_threadgroup]]) {
    const uint end = min(a.cols, (tg.x + 1) * 1024);
    for (uint i = tg.x * 1024 + t; i < end; i += 256) {
        const ulong at = ulong(tg.y) * a.cols + i;
        y[at] = activation(a.function, gate[at], a.factor) * up[at];
    }
}
