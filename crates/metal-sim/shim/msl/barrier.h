// Barriers (specification 6.9.1).
#pragma once
#pragma clang system_header
#include "runtime.h"

namespace metal {
enum class mem_flags : uint {
  mem_none = 0,
  mem_device = MSIM_DEVICE,
  mem_threadgroup = MSIM_THREADGROUP,
  mem_texture = MSIM_TEXTURE,
  mem_threadgroup_imageblock = MSIM_THREADGROUP,
  mem_device_and_threadgroup = MSIM_DEVICE | MSIM_THREADGROUP,
};
constexpr mem_flags operator|(mem_flags a, mem_flags b) { return mem_flags(uint(a) | uint(b)); }
constexpr mem_flags operator&(mem_flags a, mem_flags b) { return mem_flags(uint(a) & uint(b)); }

MSIM_INLINE void threadgroup_barrier(mem_flags flags, msim_site site = MSIM_HERE) {
  msim_sync(MSIM_THREADGROUP_BARRIER, uint(flags), site);
}
MSIM_INLINE void simdgroup_barrier(mem_flags flags, msim_site site = MSIM_HERE) {
  msim_sync(MSIM_SIMDGROUP_BARRIER, uint(flags), site);
}
}  // namespace metal
