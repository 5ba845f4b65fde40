// How the lanes of a simdgroup exchange values: each fills its slot, all meet, each reads.
#pragma once
#pragma clang system_header
#include "runtime.h"
#include "types.h"

// Out of line: kernels have many collectives, and compile in half the time; and what a collective
// itself does to memory is not the kernel's.
#define MSIM_COLLECTIVE MSIM_UNWATCHED __attribute__((noinline)) static

namespace metal {
constexpr uint msim_lanes = 32;

// The rendezvous that just completed, as one lane sees it.
struct msim_meeting {
  msim_simdgroup* group;
  uint lane, parity;
  msim_u64 sequence;

  MSIM_INLINE uint mask() const { return group->mask[parity]; }
  // Side by side, so that small values of all lanes share few lines.
  template <class T>
  MSIM_INLINE T& slot(uint of) const {
    return ((T*)group->slots[parity])[of];
  }
};

template <class T>
MSIM_INLINE msim_meeting msim_meet(T value, uint kind, msim_site site) {
  static_assert(sizeof(T) <= 64, "a collective exchanges at most 64 bytes a lane");
  msim_simdgroup* group = msim_group();
  const msim_u64 sequence = group->sequence;
  const msim_meeting meeting = {group, msim_lane(), uint(sequence & 1), sequence};
  meeting.slot<T>(meeting.lane) = value;
  msim_sync(kind, 0, site);
  return meeting;
}

// What lane `from` gave; it must be there.
template <class T>
MSIM_INLINE T msim_from(msim_meeting meeting, uint from, msim_site site) {
  if (__builtin_expect(from >= msim_lanes || !(meeting.mask() >> from & 1), 0))
    msim_runtime->fail("inactive lane: a shuffle reads a lane that does not exist or has returned",
                       site);
  return meeting.slot<T>(from % msim_lanes);
}

// Lane `from`'s value, or `own` where `from` is none.
constexpr uint msim_own = ~0u;
template <class T>
MSIM_COLLECTIVE T msim_shuffle(T value, uint from, msim_site site) {
  const msim_meeting meeting = msim_meet(value, MSIM_SHUFFLE, site);
  return from == msim_own ? value : msim_from<T>(meeting, from, site);
}

// The value of the first active lane from `base` on.
template <class T>
MSIM_COLLECTIVE T msim_first(T value, uint base, msim_site site) {
  const msim_meeting meeting = msim_meet(value, MSIM_SHUFFLE, site);
  return msim_from<T>(meeting, base + uint(__builtin_ctz(meeting.mask() >> base)), site);
}

// f over `width` lanes from `first` on, in the order of a butterfly; inactive lanes count as
// `neutral`.
template <class T, class F>
MSIM_INLINE T msim_fold(msim_meeting meeting, uint first, uint width, T neutral, F f) {
  T partial[msim_lanes];
  const uint mask = meeting.mask();
  if (mask == ~0u)
    for (uint i = 0; i < width; i++) partial[i] = meeting.slot<T>(first + i);
  else
    for (uint i = 0; i < width; i++)
      partial[i] = mask >> (first + i) & 1 ? meeting.slot<T>(first + i) : neutral;
  for (uint half = width / 2; half; half /= 2)
    for (uint i = 0; i < half; i++) partial[i] = f(partial[i], partial[i + half]);
  return partial[0];
}

// Over the whole simdgroup the first lane to go on computes for all.
template <class T, class F>
MSIM_COLLECTIVE T msim_reduce(T value, T neutral, F f, uint kind, msim_site site) {
  const msim_meeting meeting = msim_meet(value, kind, site);
  T& reduced = *(T*)meeting.group->reduced[meeting.parity];
  msim_u64& reduced_at = meeting.group->reduced_at[meeting.parity];
  if (reduced_at != meeting.sequence + 1) {
    reduced = msim_fold(meeting, 0, msim_lanes, neutral, f);
    reduced_at = meeting.sequence + 1;
  }
  return reduced;
}
template <class T, class F>
MSIM_COLLECTIVE T msim_reduce_quad(T value, T neutral, F f, uint kind, msim_site site) {
  const msim_meeting meeting = msim_meet(value, kind, site);
  return msim_fold(meeting, meeting.lane & ~3u, 4, neutral, f);
}

// f over the active lanes from `first` to this one, which counts where `inclusive`.
template <class T, class F>
MSIM_COLLECTIVE T msim_scan(T value, uint group, bool inclusive, T neutral, F f, msim_site site) {
  const msim_meeting meeting = msim_meet(value, MSIM_REDUCTION, site);
  T result = neutral;
  for (uint i = meeting.lane & ~(group - 1); i < meeting.lane + inclusive; i++)
    if (meeting.mask() >> i & 1) result = f(result, meeting.slot<T>(i));
  return result;
}
}  // namespace metal
