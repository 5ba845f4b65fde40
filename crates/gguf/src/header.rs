//! The first 24 bytes: magic, version, and how many tensors and keys follow.

use crate::error::{Error, Result};
use crate::limits::{KEYS, TENSORS};
use crate::read::Cursor;

/// The first four bytes of every GGUF file.
pub const MAGIC: [u8; 4] = *b"GGUF";

/// Versions that are read and written; they share one layout, version 3 only added big endian.
const VERSIONS: [u32; 2] = [2, 3];

/// The fixed beginning of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// 2 or 3.
    pub version: u32,
    /// Entries of the tensor table.
    pub tensors: u64,
    /// Entries of the metadata.
    pub keys: u64,
}

impl Header {
    pub(crate) fn parse(cursor: &mut Cursor<'_>) -> Result<Self> {
        let found = cursor.bytes4("the magic number")?;
        if found != MAGIC {
            return Err(Error::Magic { found });
        }
        let version = cursor.u32("the version")?;
        if !VERSIONS.contains(&version) {
            return Err(match version.swap_bytes() {
                swapped @ 1..=0xffff => Error::BigEndian { version: swapped },
                _ => Error::Version { found: version },
            });
        }
        let tensors = cursor.count(TENSORS, "the number of tensors")?;
        let keys = cursor.count(KEYS, "the number of metadata keys")?;
        Ok(Self { version, tensors, keys })
    }
}
