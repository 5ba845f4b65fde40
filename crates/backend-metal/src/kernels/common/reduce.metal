// Reductions over a threadgroup of whole simdgroups, through one float of `room` per simdgroup.

inline float group_sum(float x, threadgroup float* room, uint lane, uint sg, uint simdgroups) {
    const float part = simd_sum(x);
    // Whoever still reads the room from a reduction before is done first.
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (lane == 0) {
        room[sg] = part;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return simd_sum(lane < simdgroups ? room[lane] : 0.0f);
}

inline float group_max(float x, threadgroup float* room, uint lane, uint sg, uint simdgroups) {
    const float part = simd_max(x);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (lane == 0) {
        room[sg] = part;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return simd_max(lane < simdgroups ? room[lane] : room[0]);
}

// The smaller of two indices in all threads, through one uint of `room` per simdgroup.
inline uint group_min(uint x, threadgroup uint* room, uint lane, uint sg, uint simdgroups) {
    const uint part = simd_min(x);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (lane == 0) {
        room[sg] = part;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return simd_min(lane < simdgroups ? room[lane] : room[0]);
}
