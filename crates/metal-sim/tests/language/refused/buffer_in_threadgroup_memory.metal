// expect: threadgroup
#include <metal_stdlib>
using namespace metal;

kernel void refused(threadgroup float* x [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    x[0] = t;
}
