// Quadgroup functions (specification 6.9.3): four neighbours of a simdgroup.
#pragma once
#pragma clang system_header
#include "simdgroup.h"

namespace metal {
#define MSIM_QUAD_REDUCTION(name, condition, neutral, ...)                                        \
  template <class T>                                                                              \
  MSIM_INLINE condition<T> quad_##name(T value, msim_site site = MSIM_HERE) {                     \
    return msim_reduce_quad(value, neutral, [](T a, T b) { return __VA_ARGS__; }, MSIM_REDUCTION, \
                            site);                                                                \
  }
MSIM_REDUCTIONS(MSIM_QUAD_REDUCTION)
#undef MSIM_QUAD_REDUCTION

#define MSIM_QUAD_SCAN(name, neutral, ...)                                                  \
  template <class T>                                                                        \
  MSIM_INLINE msim_if_number<T> quad_prefix_inclusive_##name(T value,                       \
      msim_site site = MSIM_HERE) {                                                         \
    return msim_scan(value, 4, true, neutral, [](T a, T b) { return __VA_ARGS__; }, site);  \
  }                                                                                         \
  template <class T>                                                                        \
  MSIM_INLINE msim_if_number<T> quad_prefix_exclusive_##name(T value,                       \
      msim_site site = MSIM_HERE) {                                                         \
    return msim_scan(value, 4, false, neutral, [](T a, T b) { return __VA_ARGS__; }, site); \
  }
MSIM_SCANS(MSIM_QUAD_SCAN)
#undef MSIM_QUAD_SCAN
#undef MSIM_SCANS
#undef MSIM_REDUCTIONS

// The lane of this quadgroup's thread `index`, or none.
MSIM_INLINE uint msim_quad_lane(uint index) {
  return index < 4 ? (msim_lane() & ~3u) + index : msim_lanes;
}
MSIM_INLINE uint msim_quad_index() { return msim_lane() & 3; }

template <class T>
MSIM_INLINE msim_if_number<T> quad_shuffle(T value, ushort index, msim_site site = MSIM_HERE) {
  return msim_shuffle(value, msim_quad_lane(index), site);
}
template <class T>
MSIM_INLINE msim_if_number<T> quad_shuffle_xor(T value, ushort mask, msim_site site = MSIM_HERE) {
  return msim_shuffle(value, msim_quad_lane(msim_quad_index() ^ mask), site);
}
template <class T>
MSIM_INLINE msim_if_number<T> quad_shuffle_up(T value, ushort delta, msim_site site = MSIM_HERE) {
  const uint index = msim_quad_index();
  return msim_shuffle(value, index >= delta ? msim_quad_lane(index - delta) : msim_own, site);
}
template <class T>
MSIM_INLINE msim_if_number<T> quad_shuffle_down(T value, ushort delta, msim_site site = MSIM_HERE) {
  const uint from = msim_quad_index() + delta;
  return msim_shuffle(value, from < 4 ? msim_quad_lane(from) : msim_own, site);
}
template <class T>
MSIM_INLINE msim_if_number<T> quad_shuffle_rotate_up(T value, ushort delta,
                                                     msim_site site = MSIM_HERE) {
  return msim_shuffle(value, msim_quad_lane((msim_quad_index() - delta) % 4), site);
}
template <class T>
MSIM_INLINE msim_if_number<T> quad_shuffle_rotate_down(T value, ushort delta,
                                                       msim_site site = MSIM_HERE) {
  return msim_shuffle(value, msim_quad_lane((msim_quad_index() + delta) % 4), site);
}
template <class T>
MSIM_INLINE msim_if_number<T> quad_shuffle_and_fill_up(T value, type_identity_t<T> filling,
                                                       ushort delta, ushort modulo = 4,
                                                       msim_site site = MSIM_HERE) {
  return msim_fill(value, filling, int(msim_lane()) - delta, modulo, site);
}
template <class T>
MSIM_INLINE msim_if_number<T> quad_shuffle_and_fill_down(T value, type_identity_t<T> filling,
                                                         ushort delta, ushort modulo = 4,
                                                         msim_site site = MSIM_HERE) {
  return msim_fill(value, filling, int(msim_lane()) + delta, modulo, site);
}
template <class T>
MSIM_INLINE msim_if_number<T> quad_broadcast(T value, ushort index, msim_site site = MSIM_HERE) {
  return msim_shuffle(value, msim_quad_lane(index), site);
}
template <class T>
MSIM_INLINE msim_if_number<T> quad_broadcast_first(T value, msim_site site = MSIM_HERE) {
  return msim_first(value, msim_quad_lane(0), site);
}

MSIM_VOTE_CLASS(quad, uint, 15)
MSIM_INLINE uint msim_quad_ballot(bool vote, msim_site site) {
  return msim_ballot(vote, site) >> msim_quad_lane(0) & 15;
}
MSIM_VOTES(quad, msim_quad_ballot, msim_quad_index())
#undef MSIM_VOTES
#undef MSIM_VOTE_CLASS
}  // namespace metal
