// expect: ambiguous
#include <metal_stdlib>
using namespace metal;

kernel void refused(device uint* x [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    x[t] = min(x[t], 1);
}
