//! GGUF vocabularies as tokenizers, and an incremental decoder.
