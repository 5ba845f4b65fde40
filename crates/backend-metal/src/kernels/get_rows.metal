// get_rows: the token rows whose output is asked for.
//
// Grid: x over runs of 1024 columns, y over output rows.
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
