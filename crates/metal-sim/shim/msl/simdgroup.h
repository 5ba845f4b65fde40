// Simdgroup functions (specification 6.9.2).
#pragma once
#pragma clang system_header
#include "construct.h"
#include "exchange.h"
#include "limits.h"

namespace metal {
template <class T>
using msim_if_number = enable_if_t<msim_is_number<T>, T>;
template <class T>
using msim_if_integer = enable_if_t<msim_is_integer<msim_element<T>>, T>;

// A name of Apple's own headers that published kernels use: whether collectives take a type.
template <class T>
struct __is_valid_simdgroup_type : bool_constant<msim_is_number<T>> {};

// X(name, condition, neutral element, expression) for every reduction; any lane's value is
// neutral to a minimum.
#define MSIM_REDUCTIONS(X)                                          \
  X(sum, msim_if_number, T(msim_element<T>(0)), T(a + b))           \
  X(product, msim_if_number, T(msim_element<T>(1)), T(a * b))       \
  X(min, msim_if_number, value, msim_each<T>(msim_smaller{}, a, b)) \
  X(max, msim_if_number, value, msim_each<T>(msim_larger{}, a, b))  \
  X(and, msim_if_integer, T(msim_element<T>(-1)), T(a & b))         \
  X(or, msim_if_integer, T(msim_element<T>(0)), T(a | b))           \
  X(xor, msim_if_integer, T(msim_element<T>(0)), T(a ^ b))
// X(name, neutral element, expression) for every scan.
#define MSIM_SCANS(X)                     \
  X(sum, T(msim_element<T>(0)), T(a + b)) \
  X(product, T(msim_element<T>(1)), T(a * b))

struct msim_smaller {
  template <class E>
  MSIM_INLINE E operator()(E a, E b) const {
    return b < a ? b : a;
  }
};
struct msim_larger {
  template <class E>
  MSIM_INLINE E operator()(E a, E b) const {
    return a < b ? b : a;
  }
};

#define MSIM_SIMD_REDUCTION(name, condition, neutral, ...)                    \
  template <class T>                                                          \
  MSIM_INLINE condition<T> simd_##name(T value, msim_site site = MSIM_HERE) { \
    const auto step = [](T a, T b) { return __VA_ARGS__; };                   \
    return msim_reduce(value, neutral, step, MSIM_REDUCTION, site);           \
  }
MSIM_REDUCTIONS(MSIM_SIMD_REDUCTION)
#undef MSIM_SIMD_REDUCTION

#define MSIM_SIMD_SCAN(name, neutral, ...)                            \
  template <class T>                                                  \
  MSIM_INLINE msim_if_number<T> simd_prefix_inclusive_##name(T value, \
      msim_site site = MSIM_HERE) {                                   \
    const auto step = [](T a, T b) { return __VA_ARGS__; };           \
    return msim_scan(value, msim_lanes, true, neutral, step, site);   \
  }                                                                   \
  template <class T>                                                  \
  MSIM_INLINE msim_if_number<T> simd_prefix_exclusive_##name(T value, \
      msim_site site = MSIM_HERE) {                                   \
    const auto step = [](T a, T b) { return __VA_ARGS__; };           \
    return msim_scan(value, msim_lanes, false, neutral, step, site);  \
  }
MSIM_SCANS(MSIM_SIMD_SCAN)
#undef MSIM_SIMD_SCAN

template <class T>
MSIM_INLINE msim_if_number<T> simd_shuffle(T value, ushort lane, msim_site site = MSIM_HERE) {
  return msim_shuffle(value, lane, site);
}
template <class T>
MSIM_INLINE msim_if_number<T> simd_shuffle_xor(T value, ushort mask, msim_site site = MSIM_HERE) {
  return msim_shuffle(value, msim_lane() ^ mask, site);
}
// Lanes that would read past an end keep their own value.
template <class T>
MSIM_INLINE msim_if_number<T> simd_shuffle_up(T value, ushort delta, msim_site site = MSIM_HERE) {
  const uint lane = msim_lane();
  return msim_shuffle(value, lane >= delta ? lane - delta : msim_own, site);
}
template <class T>
MSIM_INLINE msim_if_number<T> simd_shuffle_down(T value, ushort delta, msim_site site = MSIM_HERE) {
  const uint from = msim_lane() + delta;
  return msim_shuffle(value, from < msim_lanes ? from : msim_own, site);
}
template <class T>
MSIM_INLINE msim_if_number<T> simd_shuffle_rotate_up(T value, ushort delta,
                                                     msim_site site = MSIM_HERE) {
  return msim_shuffle(value, (msim_lane() - delta) % msim_lanes, site);
}
template <class T>
MSIM_INLINE msim_if_number<T> simd_shuffle_rotate_down(T value, ushort delta,
                                                       msim_site site = MSIM_HERE) {
  return msim_shuffle(value, (msim_lane() + delta) % msim_lanes, site);
}

// In groups of `modulo` lanes; what would be read past an end comes from the other of `filling`.
template <class T>
MSIM_COLLECTIVE T msim_fill(T value, T filling, int from, uint modulo, msim_site site) {
  const int base = int(msim_lane() & ~(modulo - 1));
  const bool fills = from < base || from >= base + int(modulo);
  const int wrapped = base + int(uint(from) % modulo);
  const msim_meeting given = msim_meet(value, MSIM_SHUFFLE, site);
  const T inside = fills ? value : msim_from<T>(given, uint(from), site);
  const msim_meeting filled = msim_meet(filling, MSIM_SHUFFLE, site);
  return fills ? msim_from<T>(filled, uint(wrapped), site) : inside;
}
template <class T>
MSIM_INLINE msim_if_number<T> simd_shuffle_and_fill_up(T value, type_identity_t<T> filling,
                                                       ushort delta, ushort modulo = msim_lanes,
                                                       msim_site site = MSIM_HERE) {
  return msim_fill(value, filling, int(msim_lane()) - delta, modulo, site);
}
template <class T>
MSIM_INLINE msim_if_number<T> simd_shuffle_and_fill_down(T value, type_identity_t<T> filling,
                                                         ushort delta, ushort modulo = msim_lanes,
                                                         msim_site site = MSIM_HERE) {
  return msim_fill(value, filling, int(msim_lane()) + delta, modulo, site);
}

template <class T>
MSIM_INLINE msim_if_number<T> simd_broadcast(T value, ushort lane, msim_site site = MSIM_HERE) {
  return msim_shuffle(value, lane, site);
}
template <class T>
MSIM_INLINE msim_if_number<T> simd_broadcast_first(T value, msim_site site = MSIM_HERE) {
  return msim_first(value, 0, site);
}

// Votes as bits of a word; `everyone` where all are for it.
#define MSIM_VOTE_CLASS(name, word, everyone)                        \
  class name##_vote {                                                \
   public:                                                           \
    typedef word vote_t;                                             \
    explicit constexpr name##_vote(vote_t votes = 0) : votes(votes) {} \
    explicit constexpr operator vote_t() const { return votes; }     \
    constexpr bool all() const { return votes == everyone; }         \
    constexpr bool any() const { return votes != 0; }                \
                                                                     \
   private:                                                          \
    vote_t votes;                                                    \
  };
MSIM_VOTE_CLASS(simd, ulong, 0xffffffffu)

// The lanes where `vote` holds, as a mask, for all lanes at once.
MSIM_COLLECTIVE uint msim_ballot(bool vote, msim_site site) {
  return msim_reduce(uint(vote) << msim_lane(), 0u, [](uint a, uint b) { return a | b; },
                     MSIM_VOTE, site);
}
// The functions of `name`_vote, over `ballot`; `lane` is a thread's number among those that vote.
#define MSIM_VOTES(name, ballot, lane)                                                \
  MSIM_INLINE name##_vote name##_ballot(bool vote, msim_site site = MSIM_HERE) {      \
    return name##_vote(ballot(vote, site));                                           \
  }                                                                                   \
  MSIM_INLINE name##_vote name##_active_threads_mask(msim_site site = MSIM_HERE) {    \
    return name##_vote(ballot(true, site));                                           \
  }                                                                                   \
  MSIM_INLINE bool name##_any(bool vote, msim_site site = MSIM_HERE) {                \
    return ballot(vote, site) != 0;                                                   \
  }                                                                                   \
  MSIM_INLINE bool name##_all(bool vote, msim_site site = MSIM_HERE) {                \
    return ballot(!vote, site) == 0;                                                  \
  }                                                                                   \
  MSIM_INLINE bool name##_is_first(msim_site site = MSIM_HERE) {                      \
    return lane == uint(__builtin_ctz(ballot(true, site)));                           \
  }                                                                                   \
  MSIM_INLINE bool name##_is_helper_thread() { return false; }
MSIM_VOTES(simd, msim_ballot, msim_lane())
}  // namespace metal
