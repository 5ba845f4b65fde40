// expect: device float
#include <metal_stdlib>
using namespace metal;

kernel void refused(device float* x [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    thread float* p = x; p[t] = 1;
}
