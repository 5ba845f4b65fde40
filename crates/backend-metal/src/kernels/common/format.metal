// What a weight format is to a kernel. A struct named like the format has
//   VALUES, BYTES   values and bytes of a block; whole groups of 16 for formats without blocks
//   TAIL            1 where a row may end in a part of a group
//   unpack(block, group, q)   levels of the 16 values of a group, as four vectors; gives (scale,
//                   offset) with weight = fma(scale, level, offset), rounded as docs/numerics.md says
// and a mat-vec takes scale and offset out of the sum of 16 products.

// A single value of a row; only formats with a tail have it.
template <typename W>
inline float element(device const uchar*, uint) { return 0.0f; }

// Group `group` of the row at `row`.
template <typename W>
inline float2 unpack_group(device const uchar* row, uint group, thread float4* q) {
    constexpr uint groups = uint(W::VALUES) / 16;
    return W::unpack(row + (group / groups) * uint(W::BYTES), group % groups, q);
}
