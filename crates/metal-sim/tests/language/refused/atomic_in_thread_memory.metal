// expect: no matching function
#include <metal_stdlib>
using namespace metal;

kernel void refused(device uint* x [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    atomic_uint a; atomic_store_explicit(&a, 1u, memory_order_relaxed);
}
