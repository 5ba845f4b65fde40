// The library's side of abi.h: which runtime it is attached to, and which thread runs.
#pragma once
#pragma clang system_header
#include "config.h"

// Functions of ours that are called, not inlined: no hooks in them, no debug places.
#define MSIM_UNWATCHED __attribute__((nodebug, no_sanitize("kernel-address", "undefined")))

static const msim_host* msim_runtime;
static __thread msim_current msim_thread;

// For pointers in any address space; strict mode never runs what is behind them.
#define MSIM_ADDRESS(pointer) ((msim_u64)(pointer))

namespace metal {
MSIM_INLINE void msim_sync(msim_u32 kind, msim_u32 flags, msim_site site) {
  msim_runtime->sync(kind, flags, site);
}
}  // namespace metal
