//! Blocks that architectures share. A block takes what it needs as values; a difference between two
//! architectures that would need a flag here is written out in their files instead.

pub(crate) mod attention;
pub(crate) mod embed;
pub(crate) mod ffn;
pub(crate) mod head;
pub(crate) mod moe;
pub(crate) mod rope;
pub(crate) mod stack;
