// expect: float, half or bfloat
#include <metal_stdlib>
using namespace metal;

kernel void refused(device float* x [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    simdgroup_matrix<int, 8, 8> m(0); x[t] = 0;
}
