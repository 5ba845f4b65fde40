// expect: threadgroup
#include <metal_stdlib>
using namespace metal;

kernel void refused(device float* x [[buffer(0)]], threadgroup float* s [[threadgroup(0)]],
    uint t [[thread_position_in_grid]]) {
    x = s;
}
