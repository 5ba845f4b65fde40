// expect: float5
#include <metal_stdlib>
using namespace metal;

kernel void refused(device float* x [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    float5 v; x[t] = 0;
}
