// expect: deleted
#include <metal_stdlib>
using namespace metal;

kernel void refused(device atomic_uint* x [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    uint y = x[t];
}
