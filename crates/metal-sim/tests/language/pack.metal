// Packing and unpacking (specification 6.13).
#include <metal_stdlib>
#include <metal_pack>
using namespace metal;

#define EXPECT(...) if (!(__VA_ARGS__)) failed[t] = __LINE__

kernel void packing(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    EXPECT(pack_float_to_unorm4x8(float4(0, 1, 0.5, 2)) == 0xff80ff00u);
    EXPECT(pack_float_to_snorm4x8(float4(0, 1, -1, NAN)) == 0x00817f00u);
    EXPECT(pack_float_to_unorm2x16(float2(1, 0)) == 0x0000ffffu);
    EXPECT(pack_float_to_snorm2x16(float2(-1, 1)) == 0x7fff8001u);
    EXPECT(pack_float_to_unorm10a2(float4(1, 0, 0, 1)) == 0xc00003ffu);
    EXPECT(pack_float_to_unorm565(float3(1, 0, 1)) == 0xf81f);
    EXPECT(pack_half_to_unorm4x8(half4(1, 0, 0, 1)) == 0xff0000ffu);
    EXPECT(pack_float_to_srgb_unorm4x8(float4(0, 1, 0, 1)) == 0xff00ff00u);
}

kernel void unpacking(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    EXPECT(all(unpack_unorm4x8_to_float(0xff0000ffu) == float4(1, 0, 0, 1)));
    EXPECT(all(unpack_snorm4x8_to_float(0x7f8180ffu) == float4(-1 / 127.0, -1, -1, 1)));
    EXPECT(all(unpack_unorm2x16_to_float(0xffff0000u) == float2(0, 1)));
    EXPECT(all(unpack_snorm2x16_to_float(0x80007fffu) == float2(1, -1)));
    EXPECT(all(unpack_unorm10a2_to_float(0xc00003ffu) == float4(1, 0, 0, 1)));
    EXPECT(all(unpack_unorm565_to_float(0xf81f) == float3(1, 0, 1)));
    EXPECT(all(unpack_unorm4x8_to_half(0xff0000ffu) == half4(1, 0, 0, 1)));
    EXPECT(all(unpack_unorm4x8_srgb_to_float(0xff00ff00u) == float4(0, 1, 0, 1)));
}
