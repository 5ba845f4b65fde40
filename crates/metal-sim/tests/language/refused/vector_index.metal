// expect: has type `uint3`
#include <metal_stdlib>
using namespace metal;

kernel void refused(device float* x [[buffer(0)]], uint3 t [[thread_index_in_threadgroup]]) {
    x[0] = t.x;
}
