// unary: y = function(x).
//
// Grid: x over runs of 1024 columns, y over rows. A thread takes every 256th column of its run.
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
