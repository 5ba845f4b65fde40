//! The CPU device: kernels with run-time dispatch, thread pool, arena.
