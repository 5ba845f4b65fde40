// expect: has type `float`
#include <metal_stdlib>
using namespace metal;

kernel void refused(device float* x [[buffer(0)]], float t [[thread_position_in_grid]]) {
    x[0] = t;
}
