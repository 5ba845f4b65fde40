//! Sequences in, tokens out: the library API of minfer.
