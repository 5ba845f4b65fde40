// numeric_limits, type traits, array (specification 2.13, 5.1, 6.11).
#include <metal_stdlib>
#include <metal_limits>
using namespace metal;

#define EXPECT(...) if (!(__VA_ARGS__)) failed[t] = __LINE__

static_assert(numeric_limits<int>::max() == INT_MAX && numeric_limits<int>::min() == INT_MIN, "");
static_assert(numeric_limits<int8_t>::max() == 127 && numeric_limits<uchar>::max() == 255, "");
static_assert(numeric_limits<char>::lowest() == -128 &&
    numeric_limits<ulong>::max() == ULONG_MAX, "");
static_assert(numeric_limits<float>::max() == FLT_MAX &&
    numeric_limits<float>::min() == FLT_MIN, "");
static_assert(numeric_limits<float>::epsilon() == FLT_EPSILON &&
    numeric_limits<half>::max() == HALF_MAX, "");
static_assert(numeric_limits<half>::epsilon() == HALF_EPSILON &&
    numeric_limits<half>::min() == HALF_MIN, "");
static_assert(numeric_limits<float>::lowest() == -FLT_MAX &&
    numeric_limits<float>::digits == 24, "");
static_assert(numeric_limits<float>::has_infinity && !numeric_limits<int>::has_infinity, "");
static_assert(numeric_limits<float>::digits10 == FLT_DIG &&
    numeric_limits<float>::max_digits10 == 9, "");
static_assert(numeric_limits<const ushort>::is_integer && !numeric_limits<ushort>::is_signed, "");

static_assert(is_same_v<float, float> && !is_same_v<float, half> && is_integral_v<uint>, "");
static_assert(is_floating_point<half>::value && is_floating_point<float>::value, "");
static_assert(is_signed_v<int> && is_unsigned_v<uchar> && is_arithmetic_v<float>, "");
static_assert(is_same_v<conditional_t<true, int, float>, int>, "");
static_assert(is_same_v<remove_cv_t<const volatile int>, int>, "");
static_assert(is_same_v<make_unsigned_t<int>, uint> && is_same_v<decay_t<const int&>, int>, "");
static_assert(is_convertible_v<int, float> && is_pointer_v<thread int*>, "");
static_assert(is_trivially_copyable_v<float4> && conjunction_v<true_type, is_void<void>>, "");

template <typename T, typename = enable_if_t<is_integral_v<T>>>
constexpr int kind(T) {
    return 1;
}
constexpr int kind(float) {
    return 2;
}

kernel void limits_at_run_time(device uint* failed [[buffer(0)]],
    uint t [[thread_position_in_grid]]) {
    EXPECT(isinf(numeric_limits<float>::infinity()) && isnan(numeric_limits<half>::quiet_NaN()));
    EXPECT(float(numeric_limits<bfloat>::max()) == 0x1.fep127f &&
        float(numeric_limits<bfloat>::lowest()) < 0);
    EXPECT(numeric_limits<float>::denorm_min() == as_type<float>(1u));
    EXPECT(kind(3u) == 1 && kind(3.0) == 2);
}

struct Counter {
    array<uint, 4> cells;
};

kernel void arrays(device uint* failed [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    array<float, 3> a = {1, 2, 3};
    a[1] = 5;
    float sum = 0;
    for (float x : a) sum += x;
    EXPECT(sum == 9 && a.size() == 3 && !a.empty() && a.data()[2] == 3);
    threadgroup Counter counters[64];
    counters[t].cells[t % 4] = t;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    EXPECT(counters[63 - t].cells[(63 - t) % 4] == 63 - t);
    const array<uint, 4> copy = {{1, 2, 3, 4}};
    EXPECT(copy[3] == 4);
}
