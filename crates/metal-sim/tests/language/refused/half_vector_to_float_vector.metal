// expect: incompatible type
#include <metal_stdlib>
using namespace metal;

kernel void refused(device float4* x [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    x[t] = half4(1);
}
