//! The declarative compute graph: ops, builder, verifier, dump.
