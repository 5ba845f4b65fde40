// expect: no matching function
#include <metal_stdlib>
using namespace metal;

kernel void refused(device const float* x [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    simdgroup_float8x8 m(0); simdgroup_store(m, x, 8);
}
