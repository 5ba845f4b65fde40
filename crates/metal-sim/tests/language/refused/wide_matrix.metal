// expect: 2 to 4 columns
#include <metal_stdlib>
using namespace metal;

kernel void refused(device float* x [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    matrix<float, 5, 4> m; x[t] = 0;
}
