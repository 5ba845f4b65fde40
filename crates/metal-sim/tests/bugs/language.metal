// Undefined behaviour, misalignment, and what does not end.
#include <metal_stdlib>
using namespace metal;

// expect: misaligned misaligned address
kernel void misaligned_vector(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                              ushort t [[thread_index_in_threadgroup]]) {
  if (t >= 16) return;
  const float4 v = *(device const float4*)(x + t);  // here
  y[t] = v.x + v.w;
}

// expect: misaligned misaligned address
kernel void misaligned_word_in_bytes(device const uchar* x [[buffer(0)]],
                                     device float* y [[buffer(1)]],
                                     ushort t [[thread_index_in_threadgroup]]) {
  y[t] = *(device const uint*)(x + 18 + t);  // here
}

// expect: misaligned misaligned address
kernel void misaligned_components(device const float* x [[buffer(0)]],
                                  device float* y [[buffer(1)]],
                                  ushort t [[thread_index_in_threadgroup]]) {
  device const float4* p = (device const float4*)(x + 1);
  y[t] = p->x + p->w;  // here
}

// expect: misaligned misaligned address
kernel void misaligned_components_by_half(device const float* x [[buffer(0)]],
                                          device float* y [[buffer(1)]],
                                          ushort t [[thread_index_in_threadgroup]]) {
  device const float4* p = (device const float4*)(x + 2);
  y[t] = p->x + p->y + p->z + p->w;  // here
}

struct Pair {
  uint count;
  float2 value;
};

// expect: misaligned misaligned address
kernel void misaligned_member(device const uchar* x [[buffer(0)]], device float* y [[buffer(1)]],
                              ushort t [[thread_index_in_threadgroup]]) {
  device const Pair* p = (device const Pair*)(x + 4);
  y[t] = p->value.x;  // here
}

// silent
kernel void packed_vectors_lie_anywhere(device const float* x [[buffer(0)]],
                                        device float* y [[buffer(1)]],
                                        ushort t [[thread_index_in_threadgroup]]) {
  device const packed_float4* p = (device const packed_float4*)(x + 1);
  y[t] = p->x + (*p).w + float4(*p).z;
}

// expect: misaligned misaligned address
kernel void misaligned_threadgroup_vector(device float* y [[buffer(1)]],
                                          ushort t [[thread_index_in_threadgroup]]) {
  threadgroup half s[256];
  s[t] = 0;
  s[t + 128] = 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const half4 v = *(threadgroup half4*)(s + t);  // here
  y[t] = v.x;
}

// expect: undefined index out of bounds: 4
kernel void local_array_overrun(device float* y [[buffer(1)]], constant uint& n [[buffer(2)]],
                                ushort t [[thread_index_in_threadgroup]]) {
  float a[4] = {1, 2, 3, 4};
  y[t] = a[(t & 3) + n / 64 - 1];  // here
}

// expect: undefined shift out of bounds: 32
kernel void shift_by_the_width(device float* y [[buffer(1)]], constant uint& n [[buffer(2)]],
                               ushort t [[thread_index_in_threadgroup]]) {
  y[t] = 1 << (n / 4);  // here
}

// expect: undefined division by zero or overflow: 0
kernel void division_by_zero(device float* y [[buffer(1)]], constant int& n [[buffer(2)]],
                             ushort t [[thread_index_in_threadgroup]]) {
  y[t] = 7 / (n - 128);  // here
}

// expect: undefined division by zero or overflow: 0
kernel void remainder_by_zero(device float* y [[buffer(1)]], constant uint& n [[buffer(2)]],
                              ushort t [[thread_index_in_threadgroup]]) {
  y[t] = t % (n - 128);  // here
}

// expect: hang accesses and collectives
kernel void loop_that_waits_for_memory(device uint* y [[buffer(1)]],
                                       ushort t [[thread_index_in_threadgroup]]) {
  if (t == 0)
    while (((volatile device uint*)y)[0] != 7) {  // here
    }
  y[t] = 7;
}

// expect: hang accesses and collectives
kernel void barriers_without_end(device float* y [[buffer(1)]],
                                 ushort t [[thread_index_in_threadgroup]]) {
  for (uint i = 0; i < 0xffffffff; i++) threadgroup_barrier(mem_flags::mem_device);  // here
  y[t] = 1;
}

// expect: fault need more than 64 KiB
kernel void more_local_memory_than_there_is(device float* y [[buffer(1)]],
                                            constant uint& n [[buffer(2)]],
                                            ushort t [[thread_index_in_threadgroup]]) {
  float a[32768];
  for (uint i = 0; i < n * 256; i++) a[i] = i;
  y[t] = a[t * n];
}
