// The library's side of abi.h: which runtime it is attached to.
#pragma once
#pragma clang system_header
#include "config.h"

// Functions of ours that are called, not inlined: no hooks in them, no debug places.
#define MSIM_UNWATCHED __attribute__((nodebug, no_sanitize("kernel-address", "undefined")))

static const msim_host* msim_runtime;

// For pointers in any address space; strict mode never runs what is behind them.
#define MSIM_ADDRESS(pointer) ((msim_u64)(pointer))

// In checked builds calls of the runtime are out of line: the hooks would watch the table.
#ifdef MSIM_CHECKED
#define MSIM_RUNTIME_CALL MSIM_UNWATCHED __attribute__((noinline)) static
#else
#define MSIM_RUNTIME_CALL MSIM_INLINE
#endif

namespace metal {
MSIM_RUNTIME_CALL void msim_sync(msim_u32 kind, msim_u32 flags, msim_site site) {
  msim_runtime->sync(kind, flags, site);
}
MSIM_RUNTIME_CALL void msim_uniform(const void* pointer, msim_u64 stride, msim_site site) {
  msim_runtime->uniform(pointer, stride, site);
}
MSIM_RUNTIME_CALL void* msim_variable_memory(msim_u32 id, msim_u64 size, msim_u64 align,
                                       const char* name) {
  return msim_runtime->threadgroup_variable(id, size, align, name);
}
}  // namespace metal
