// expect: as_type: both types must have the same size
#include <metal_stdlib>
using namespace metal;

kernel void refused(device uint* x [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    x[t] = as_type<uint>(half(1));
}
