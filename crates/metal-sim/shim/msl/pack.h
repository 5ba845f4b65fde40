// Packing and unpacking of normalised integers (specification 6.13).
#pragma once
#pragma clang system_header
#include "math.h"

namespace metal {
// The nearest integer of a value in 0…1 or -1…1; a NaN is 0.
MSIM_INLINE uint msim_unorm(float x, float scale) {
  return x == x ? uint(rint(saturate(x) * scale)) : 0u;
}
MSIM_INLINE int msim_snorm(float x, float scale) {
  return x == x ? int(rint(clamp(x, -1.0f, 1.0f) * scale)) : 0;
}

MSIM_INLINE float4 unpack_unorm4x8_to_float(uint x) {
  return float4{float(x & 255), float(x >> 8 & 255), float(x >> 16 & 255), float(x >> 24)} / 255.0f;
}
MSIM_INLINE float4 unpack_snorm4x8_to_float(uint x) {
  const float4 whole = {float(int8_t(x)), float(int8_t(x >> 8)), float(int8_t(x >> 16)),
                        float(int8_t(x >> 24))};
  return max(whole / 127.0f, -1.0f);
}
MSIM_INLINE float2 unpack_unorm2x16_to_float(uint x) {
  return float2{float(x & 65535), float(x >> 16)} / 65535.0f;
}
MSIM_INLINE float2 unpack_snorm2x16_to_float(uint x) {
  return max(float2{float(short(x)), float(short(x >> 16))} / 32767.0f, -1.0f);
}
MSIM_INLINE float4 unpack_unorm10a2_to_float(uint x) {
  const float4 whole = {float(x & 1023), float(x >> 10 & 1023), float(x >> 20 & 1023),
                        float(x >> 30)};
  return whole / float4{1023, 1023, 1023, 3};
}
MSIM_INLINE float3 unpack_unorm565_to_float(ushort x) {
  return float3{float(x & 31), float(x >> 5 & 63), float(x >> 11)} / float3{31, 63, 31};
}
// One component of sRGB, 0…255, to linear.
MSIM_INLINE float msim_linear(uint component) {
  const float x = float(component) / 255.0f;
  return x <= 0.04045f ? x / 12.92f : pow((x + 0.055f) / 1.055f, 2.4f);
}
MSIM_INLINE float msim_srgb(float x) {
  const float linear = saturate(x);
  return linear <= 0.0031308f ? linear * 12.92f : 1.055f * pow(linear, 1 / 2.4f) - 0.055f;
}
MSIM_INLINE float4 unpack_unorm4x8_srgb_to_float(uint x) {
  return float4{msim_linear(x & 255), msim_linear(x >> 8 & 255), msim_linear(x >> 16 & 255),
                float(x >> 24) / 255.0f};
}

MSIM_INLINE uint pack_float_to_unorm4x8(float4 x) {
  return msim_unorm(x.x, 255) | msim_unorm(x.y, 255) << 8 | msim_unorm(x.z, 255) << 16 |
         msim_unorm(x.w, 255) << 24;
}
MSIM_INLINE uint pack_float_to_snorm4x8(float4 x) {
  return uint(msim_snorm(x.x, 127) & 255) | uint(msim_snorm(x.y, 127) & 255) << 8 |
         uint(msim_snorm(x.z, 127) & 255) << 16 | uint(msim_snorm(x.w, 127) & 255) << 24;
}
MSIM_INLINE uint pack_float_to_unorm2x16(float2 x) {
  return msim_unorm(x.x, 65535) | msim_unorm(x.y, 65535) << 16;
}
MSIM_INLINE uint pack_float_to_snorm2x16(float2 x) {
  return uint(msim_snorm(x.x, 32767) & 65535) | uint(msim_snorm(x.y, 32767) & 65535) << 16;
}
MSIM_INLINE uint pack_float_to_unorm10a2(float4 x) {
  return msim_unorm(x.x, 1023) | msim_unorm(x.y, 1023) << 10 | msim_unorm(x.z, 1023) << 20 |
         msim_unorm(x.w, 3) << 30;
}
MSIM_INLINE ushort pack_float_to_unorm565(float3 x) {
  return ushort(msim_unorm(x.x, 31) | msim_unorm(x.y, 63) << 5 | msim_unorm(x.z, 31) << 11);
}
MSIM_INLINE uint pack_float_to_srgb_unorm4x8(float4 x) {
  return pack_float_to_unorm4x8(float4{msim_srgb(x.x), msim_srgb(x.y), msim_srgb(x.z), x.w});
}

// The same for half: every half is a float.
#define MSIM_UNPACK_HALF(format, N, I)                        \
  MSIM_INLINE half##N unpack_##format##_to_half(I x) {        \
    return msim_make<half##N>(unpack_##format##_to_float(x)); \
  }
MSIM_UNPACK_HALF(unorm4x8, 4, uint)
MSIM_UNPACK_HALF(snorm4x8, 4, uint)
MSIM_UNPACK_HALF(unorm2x16, 2, uint)
MSIM_UNPACK_HALF(snorm2x16, 2, uint)
MSIM_UNPACK_HALF(unorm10a2, 4, uint)
MSIM_UNPACK_HALF(unorm565, 3, ushort)
MSIM_UNPACK_HALF(unorm4x8_srgb, 4, uint)
#undef MSIM_UNPACK_HALF
#define MSIM_PACK_HALF(format, N, I)                       \
  MSIM_INLINE I pack_half_to_##format(half##N x) {         \
    return pack_float_to_##format(msim_make<float##N>(x)); \
  }
MSIM_PACK_HALF(unorm4x8, 4, uint)
MSIM_PACK_HALF(snorm4x8, 4, uint)
MSIM_PACK_HALF(unorm2x16, 2, uint)
MSIM_PACK_HALF(snorm2x16, 2, uint)
MSIM_PACK_HALF(unorm10a2, 4, uint)
MSIM_PACK_HALF(unorm565, 3, ushort)
MSIM_PACK_HALF(srgb_unorm4x8, 4, uint)
#undef MSIM_PACK_HALF
}  // namespace metal
