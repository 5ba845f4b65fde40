// expect: 8 columns and 8 rows
#include <metal_stdlib>
using namespace metal;

kernel void refused(device float* x [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    simdgroup_matrix<float, 4, 4> m(0); x[t] = 0;
}
