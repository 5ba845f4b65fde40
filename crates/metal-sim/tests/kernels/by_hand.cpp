// A library without the shim: what the interface alone must do.
#include "abi.h"

static const msim_host* host;

#define HERE \
  msim_site { "by_hand.cpp", __builtin_LINE(), 1 }

static float sum_of_lanes(float value, msim_site site) {
  msim_simdgroup* group = msim_group();
  const msim_u64 sequence = group->sequence;
  const msim_u64 parity = sequence & 1;
  *(float*)group->slots[parity][msim_lane()] = value;
  host->sync(MSIM_REDUCTION, 0, site);
  if (group->reduced_at[parity] != sequence) {
    float sum = 0;
    for (int lane = 0; lane < 32; lane++)
      if (group->mask[parity] >> lane & 1) sum += *(float*)group->slots[parity][lane];
    *(float*)group->reduced[parity] = sum;
    group->reduced_at[parity] = sequence;
  }
  return *(float*)group->reduced[parity];
}

// y[i] = 2 x[i]
static void twice(const msim_arguments* a) {
  const msim_u32 i = a->builtin[MSIM_B_THREAD_POSITION_IN_GRID][0];
  ((float*)a->buffer[1])[i] = 2 * ((const float*)a->buffer[0])[i];
}

// y[threadgroup] = sum of the threadgroup's x
static void sums(const msim_arguments* a) {
  const msim_u32 i = a->builtin[MSIM_B_THREAD_POSITION_IN_GRID][0];
  const msim_u32 lane = a->builtin[MSIM_B_THREAD_INDEX_IN_SIMDGROUP][0];
  const msim_u32 simdgroup = a->builtin[MSIM_B_SIMDGROUP_INDEX_IN_THREADGROUP][0];
  const msim_u32 simdgroups = a->builtin[MSIM_B_SIMDGROUPS_PER_THREADGROUP][0];
  const msim_u32 threadgroup = a->builtin[MSIM_B_THREADGROUP_POSITION_IN_GRID][0];
  const float* x = (const float*)a->buffer[0];
  float* y = (float*)a->buffer[1];
  float* partial = (float*)host->threadgroup_variable(0, 32 * sizeof(float), 4, "partial");
  const float sum = sum_of_lanes(x[i], HERE);
  if (lane == 0) partial[simdgroup] = sum;
  host->sync(MSIM_THREADGROUP_BARRIER, MSIM_THREADGROUP, HERE);
  const float all = sum_of_lanes(lane < simdgroups ? partial[lane] : 0, HERE);
  if (simdgroup == 0 && lane == 0) y[threadgroup] = all;
}

// Only some threads come to the barrier.
static void early(const msim_arguments* a) {
  if (a->builtin[MSIM_B_THREAD_POSITION_IN_GRID][0] >= 100) return;
  host->sync(MSIM_THREADGROUP_BARRIER, MSIM_THREADGROUP, HERE);
}

// Half of the lanes come to the reduction.
static void halves(const msim_arguments* a) {
  const msim_u32 i = a->builtin[MSIM_B_THREAD_POSITION_IN_GRID][0];
  float x = 1;
  if (i % 32 < 16) x = sum_of_lanes(x, HERE);
  ((float*)a->buffer[1])[i] = x;
}

// Past the end of its buffer.
static void beyond(const msim_arguments* a) {
  ((volatile float*)a->buffer[1])[a->builtin[MSIM_B_THREADS_PER_GRID][0]] = 1;
}

static int deep(volatile int* above, int n) {
  volatile int room[128];
  room[n & 127] = *above;
  return n > 1000000 ? 0 : deep(room + (n & 127), n + 1) + room[n & 127];
}

// More stack than there is.
static void bottomless(const msim_arguments* a) {
  *(volatile int*)a->buffer[1] = deep((volatile int*)a->buffer[1], 0);
}

static void divide(const msim_arguments* a) {
  volatile int* y = (volatile int*)a->buffer[1];
  y[1] = y[2] / y[0];
}

// A thread that waits for nobody, for ever.
static void for_ever(const msim_arguments*) {
  for (;;) host->sync(MSIM_SIMDGROUP_BARRIER, 0, HERE);
}

// reductions and barriers, 1000 of each
static void many_sums(const msim_arguments* a) {
  float x = 1;
  for (int i = 0; i < 1000; i++) x = sum_of_lanes(x, HERE) * (1.0f / 32);
  ((float*)a->buffer[1])[a->builtin[MSIM_B_THREAD_POSITION_IN_GRID][0]] = x;
}
static void many_barriers(const msim_arguments*) {
  for (int i = 0; i < 1000; i++) host->sync(MSIM_THREADGROUP_BARRIER, MSIM_THREADGROUP, HERE);
}

static const msim_parameter buffers[] = {
    {MSIM_P_BUFFER, 0, "x", 0, 1, 4, 4},
    {MSIM_P_BUFFER, 1, "y", 0, 0, 4, 4},
};
#define KERNEL(name) {#name, "by_hand.cpp", __LINE__, 0, name, nullptr, buffers, 2}
static const msim_kernel kernels[] = {
    KERNEL(twice),  KERNEL(sums),       KERNEL(early),  KERNEL(halves),    KERNEL(beyond),
    KERNEL(divide), KERNEL(bottomless), KERNEL(for_ever), KERNEL(many_sums), KERNEL(many_barriers),
};
extern "C" __attribute__((visibility("default"))) const msim_library msim_library_1 = {
    MSIM_ABI, 0, kernels, nullptr, sizeof kernels / sizeof *kernels, 0,
    nullptr, nullptr,
    [](const msim_host* given) { host = given; },
};
