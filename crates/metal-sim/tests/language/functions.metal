// Templates, host names, program-scope constants, member functions (1.5, 4.3, 5.1, 5.8).
#include <metal_stdlib>
using namespace metal;

#define EXPECT(...) if (!(__VA_ARGS__)) failed[t] = __LINE__

constant float weights[4] = {1, 2, 3, 4};
constant constexpr uint width = 64;
constant uint chosen [[function_constant(0)]];
constant bool doubled [[function_constant(1)]];
constant uint derived = is_function_constant_defined(chosen) ? chosen : 5;

struct Range {
    uint from, to;
    uint length() const { return to - from; }
    Range operator+(Range other) const { return {min(from, other.from), max(to, other.to)}; }
};

enum class Shape : uint { flat, round };

namespace tools {
template <typename T>
inline T twice(T x) {
    return x + x;
}
}  // namespace tools

template <typename T, int N>
[[kernel]] void sums(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    T values[N];
    for (int i = 0; i < N; i++) values[i] = T(i);
    T sum = 0;
    for (T value : values) sum += value;
    EXPECT(sum == T(N * (N - 1) / 2));
    EXPECT(tools::twice(sum) == sum * T(2));
}
template [[host_name("sums_of_half")]] kernel void sums<half, 8>(device uint*, uint);
template [[host_name("sums_of_int")]] [[kernel]] void sums<int, 5>(device uint*, uint);

kernel void program_scope(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    float sum = 0;
    for (constant float& weight : weights) sum += weight;
    constant float* last = &weights[3];
    EXPECT(sum == 10 && *last == 4 && width == 64);
}

kernel void unset_function_constants(
    device uint* failed [[buffer(0)]],
    uint t [[thread_position_in_grid]])
{
    EXPECT(!is_function_constant_defined(chosen) && !is_function_constant_defined(doubled));
    EXPECT(derived == 5);
}

kernel void members(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    const Range all_of = Range{3, 7} + Range{1, 5};
    EXPECT(all_of.length() == 6);
    const auto square = [](float x) { return x * x; };
    EXPECT(square(3) == 9);
    Shape shape = t > 1000 ? Shape::flat : Shape::round;
    EXPECT(shape == Shape::round);
}

static void increment(thread uint& value, device uint* at, uint by) {
    value += by + at[0];
}

static uint through(thread uint (&cells)[4], thread float4 (&rows)[2]) {
    return cells[0] + cells[3] + uint(rows[1].w);
}

kernel void references(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    uint value = 1;
    increment(value, failed + t, 2);
    EXPECT(value == 3);
    uint cells[4] = {1, 2, 3, 4};
    float4 rows[2] = {float4(0), float4(7)};
    EXPECT(through(cells, rows) == 12);
    thread uint* middle = cells + 1;
    EXPECT(middle[1] == 3);
}
