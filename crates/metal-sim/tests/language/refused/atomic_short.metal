// expect: int, uint, float, bool or ulong
#include <metal_stdlib>
using namespace metal;

kernel void refused(device uint* x [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    atomic<short> a; x[t] = sizeof(a);
}
