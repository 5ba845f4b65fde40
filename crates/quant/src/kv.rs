//! Types of key/value pages: how one head's vector is stored for one token.

use crate::error::Error;

/// A type in which keys and values are cached.
///
/// A `Q8_0` vector of `head_dim` values is `head_dim` int8 and `head_dim / 32` f16 scales. A page
/// holds the int8 of all its vectors, then all their scales.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KvType {
    /// IEEE binary32.
    F32,
    /// IEEE binary16.
    F16,
    /// The upper half of a binary32.
    BF16,
    /// Signed bytes with an f16 scale per 32.
    Q8_0,
}

impl KvType {
    /// Every type.
    pub const ALL: &[Self] = &[Self::F32, Self::F16, Self::BF16, Self::Q8_0];

    /// The name in flags, dumps and documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::BF16 => "bf16",
            Self::Q8_0 => "q8_0",
        }
    }

    /// The type called `name`, in any case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name().eq_ignore_ascii_case(name))
    }

    /// Bytes of the vector of one head for one token.
    ///
    /// # Errors
    /// [`Error::RowLength`] where `q8_0` meets a `head_dim` that is not a multiple of 32;
    /// [`Error::RowTooLarge`] when the size does not fit.
    pub fn row_bytes(self, head_dim: usize) -> Result<usize, Error> {
        let format = self.name();
        let bytes = match self {
            Self::F32 => head_dim.checked_mul(4),
            Self::F16 | Self::BF16 => head_dim.checked_mul(2),
            Self::Q8_0 if !head_dim.is_multiple_of(32) => {
                return Err(Error::RowLength { format, cols: head_dim, block_len: 32 });
            }
            Self::Q8_0 => head_dim.checked_add(head_dim / 16),
        };
        bytes.ok_or(Error::RowTooLarge { format, cols: head_dim })
    }
}
