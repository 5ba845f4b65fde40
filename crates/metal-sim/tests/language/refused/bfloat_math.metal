// expect: ambiguous
#include <metal_stdlib>
using namespace metal;

kernel void refused(device bfloat* x [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    x[t] = max(x[t], x[0]);
}
