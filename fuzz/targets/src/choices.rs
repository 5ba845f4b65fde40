//! An input read as a row of choices, for targets whose inputs are built and not parsed.

/// The bytes not read yet. Past the end every choice is zero.
pub(crate) struct Choices<'d>(&'d [u8]);

impl<'d> Choices<'d> {
    pub(crate) fn new(data: &'d [u8]) -> Choices<'d> {
        Choices(data)
    }

    pub(crate) fn byte(&mut self) -> u8 {
        self.bytes(1).first().copied().unwrap_or(0)
    }

    /// Up to `count` bytes.
    pub(crate) fn bytes(&mut self, count: usize) -> &'d [u8] {
        let (bytes, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        bytes
    }

    pub(crate) fn u32(&mut self) -> u32 {
        self.bytes(4).iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte))
    }

    /// One of `from`, which is not empty.
    pub(crate) fn one<'f, T>(&mut self, from: &'f [T]) -> &'f T {
        &from[usize::from(self.byte()) % from.len()]
    }

    pub(crate) fn rest(self) -> &'d [u8] {
        self.0
    }
}
