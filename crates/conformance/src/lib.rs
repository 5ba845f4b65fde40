//! Op cases and tiny models on any device, against the reference.
