// Integer functions (specification 6.4).
#include <metal_stdlib>
#include <metal_integer>
using namespace metal;

#define EXPECT(...) if (!(__VA_ARGS__)) failed[t] = __LINE__

kernel void bits(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    EXPECT(clz(1u) == 31 && clz(0u) == 32 && clz(uchar(1)) == 7 && clz(short(-1)) == 0 &&
        clz(1ul) == 63);
    EXPECT(ctz(8u) == 3 && ctz(0u) == 32 && ctz(uchar(0)) == 8 && ctz(1ul << 40) == 40);
    EXPECT(popcount(0xffu) == 8 && popcount(char(-1)) == 8 && popcount(~0ul) == 64);
    EXPECT(all(popcount(uint2(3, 7)) == uint2(2, 3)));
    EXPECT(reverse_bits(1u) == 0x80000000u && reverse_bits(uchar(3)) == 0xc0);
    EXPECT(rotate(0x80000001u, 4u) == 0x18u && rotate(uchar(0x81), uchar(1)) == 3 &&
        rotate(5u, 0) == 5);
    EXPECT(extract_bits(0xabcdu, 4, 8) == 0xbc && extract_bits(0xf0, 4, 4) == -1);
    EXPECT(extract_bits(5u, 3, 0) == 0 && extract_bits(0xdeadbeefu, 0, 32) == 0xdeadbeefu);
    EXPECT(insert_bits(0xffffu, 0u, 4, 8) == 0xf00f &&
        insert_bits(0u, 0xffu, 28, 4) == 0xf0000000u);
}

kernel void saturation(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    EXPECT(addsat(INT_MAX, 1) == INT_MAX && addsat(INT_MIN, -1) == INT_MIN && addsat(1, 2) == 3);
    EXPECT(addsat(uchar(200), uchar(100)) == 255 && subsat(uchar(1), uchar(2)) == 0);
    EXPECT(addsat(~0ul, 1ul) == ~0ul && subsat(LONG_MIN, 1l) == LONG_MIN && subsat(0u, 1u) == 0);
    EXPECT(subsat(3u, 1u) == 2 && subsat(INT_MIN, 1) == INT_MIN);
    EXPECT(madsat(65536, 65536, 1) == INT_MAX && madsat(2u, 3u, 4u) == 10);
    EXPECT(all(addsat(char2(127, -128), char2(1, -1)) == char2(127, -128)));
}

kernel void products(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    EXPECT(mulhi(0x80000000u, 4u) == 2 && mulhi(-1, 1) == -1 && mulhi(~0ul, ~0ul) == ~0ul - 1);
    EXPECT(mulhi(short(256), short(256)) == 1 && madhi(0x80000000u, 4u, 5u) == 7);
    EXPECT(mul24(0xffffff, 2) == -2 && mul24(0x1000001u, 3u) == 3 && mad24(3, 4, 5) == 17);
    EXPECT(hadd(INT_MAX, INT_MAX) == INT_MAX && hadd(3u, 4u) == 3 && rhadd(3u, 4u) == 4);
    EXPECT(hadd(-3, -4) == -4 && rhadd(uchar(255), uchar(254)) == 255);
}

kernel void differences(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    static_assert(is_same<decltype(absdiff(1, 2)), uint>::value, "");
    EXPECT(absdiff(INT_MIN, INT_MAX) == UINT_MAX && absdiff(3u, 5u) == 2);
    EXPECT(all(absdiff(int2(1, 5), int2(4, 3)) == uint2(3, 2)));
    EXPECT(abs(-5) == 5 && all(abs(short2(-1, 2)) == short2(1, 2)));
    EXPECT(max3(1, 5, 3) == 5 && min3(4u, 2u, 3u) == 2 && median3(9, 1, 5) == 5);
}
