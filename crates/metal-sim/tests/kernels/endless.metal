// What does not end by itself, and what needs more than there is.
#include <metal_stdlib>
using namespace metal;

// Neither a collective nor, where accesses are not watched, anything else to be seen by.
kernel void endless(volatile device float* y [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  while (y[i] >= 0) y[i] = y[i] * 0.5f;
}

// Without a side effect, which C++ takes for a loop that ends.
kernel void silent(device const float* y [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  uint x = uint(y[i]);
  while (x != 2) x = x * 5 | 1;
}

// A frame that begins far below the guard page of the thread's stack.
kernel void large_frame(device float* y [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  volatile float scratch[40000];
  const uint at = uint(y[i]) * 2;
  scratch[at] = 1;
  y[i] = scratch[at];
}

// Variables of as many bytes as the instance says, and twelve.
template <int N>
kernel void room(device float* y [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {
  threadgroup float a[N];
  threadgroup char b[12];
  a[i % N] = y[i];
  b[i % 12] = 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y[i] = a[0] + b[0];
}
template [[host_name("room_64")]] kernel void room<64>(device float*, uint);
template [[host_name("room_1")]] kernel void room<1>(device float*, uint);
