// expect: const
#include <metal_stdlib>
using namespace metal;

kernel void refused(constant float& c [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    c = 1;
}
