//! The GGUF file format: parse, write, split and merge, memory map.
