//! A bounded cursor over the bytes of a file's head.
//!
//! Every read names the field it is for, so that an early end says what was missing and where.
//! No read allocates before it knows that the bytes are there.

use crate::error::{Error, Result};
use crate::limits::{HEAD_BYTES, Limit};

/// Reads little-endian values one after the other. A failed read ends the parse: the cursor has no
/// default values and no way to go back.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    offset: usize,
    limit: Limit,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self::with_limit(bytes, HEAD_BYTES)
    }

    /// A cursor that refuses to move past `limit.value` bytes.
    pub(crate) fn with_limit(bytes: &'a [u8], limit: Limit) -> Self {
        Self { bytes, offset: 0, limit }
    }

    /// Bytes read so far.
    pub(crate) fn offset(&self) -> u64 {
        self.offset as u64
    }

    /// Bytes not read yet.
    pub(crate) fn left(&self) -> u64 {
        self.bytes.len().saturating_sub(self.offset) as u64
    }

    /// The next `count` bytes.
    pub(crate) fn take(&mut self, count: u64, what: &'static str) -> Result<&'a [u8]> {
        let end = usize::try_from(count).ok().and_then(|count| self.offset.checked_add(count));
        let found = end.and_then(|end| Some((end, self.bytes.get(self.offset..end)?)));
        let Some((end, taken)) = found else {
            let (offset, left) = (self.offset(), self.left());
            return Err(Error::Truncated { what, offset, needed: count, left });
        };
        let (found, offset) = (end as u64, self.offset());
        if found > self.limit.value {
            let what = "the end of the head";
            return Err(Error::Limit { limit: self.limit, what, found, offset });
        }
        self.offset = end;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N as u64, what)?);
        Ok(array)
    }

    pub(crate) fn bytes4(&mut self, what: &'static str) -> Result<[u8; 4]> {
        self.array(what)
    }

    pub(crate) fn u8(&mut self, what: &'static str) -> Result<u8> {
        Ok(u8::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn u16(&mut self, what: &'static str) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn u32(&mut self, what: &'static str) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array(what)?))
    }

    pub(crate) fn u64(&mut self, what: &'static str) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array(what)?))
    }

    /// A u64 that a limit bounds.
    pub(crate) fn count(&mut self, limit: Limit, what: &'static str) -> Result<u64> {
        let offset = self.offset();
        let found = self.u64(what)?;
        if found > limit.value {
            return Err(Error::Limit { limit, what, found, offset });
        }
        Ok(found)
    }

    /// A u64 length within `limit`, then as many bytes.
    pub(crate) fn string(&mut self, limit: Limit, what: &'static str) -> Result<&'a [u8]> {
        let length = self.count(limit, what)?;
        self.take(length, what)
    }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
