//! Checks
use super::core::Core;
pub struct Checks;
pub fn begin(_core: &Core) {}
pub fn end(_core: &Core) {}
pub fn access(_core: &Core, _address: usize, _size: usize, _bits: u32, _pc: u64) {}
