//! Values on the command line: `f32:1,2.5`, `u32:0..64`, a number of zero bytes, a file.

use std::fs;

use super::Failure;

/// Scalars that can be written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
}

const SCALARS: [(&str, Scalar); 10] = [
    ("bool", Scalar::Bool),
    ("i8", Scalar::I8),
    ("u8", Scalar::U8),
    ("i16", Scalar::I16),
    ("u16", Scalar::U16),
    ("i32", Scalar::I32),
    ("u32", Scalar::U32),
    ("i64", Scalar::I64),
    ("u64", Scalar::U64),
    ("f32", Scalar::F32),
];

/// The longest range that is written out.
const RANGE: i64 = 1 << 28;

impl Scalar {
    pub fn parse(name: &str) -> Option<Self> {
        SCALARS.iter().find(|(known, _)| *known == name).map(|(_, scalar)| *scalar)
    }

    pub fn size(self) -> usize {
        match self {
            Self::Bool | Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 => 8,
        }
    }

    fn encode(self, text: &str) -> Option<Vec<u8>> {
        Some(match self {
            Self::Bool => vec![u8::from(text.parse::<bool>().ok()?)],
            Self::I8 => text.parse::<i8>().ok()?.to_ne_bytes().to_vec(),
            Self::U8 => text.parse::<u8>().ok()?.to_ne_bytes().to_vec(),
            Self::I16 => text.parse::<i16>().ok()?.to_ne_bytes().to_vec(),
            Self::U16 => text.parse::<u16>().ok()?.to_ne_bytes().to_vec(),
            Self::I32 => text.parse::<i32>().ok()?.to_ne_bytes().to_vec(),
            Self::U32 => text.parse::<u32>().ok()?.to_ne_bytes().to_vec(),
            Self::I64 => text.parse::<i64>().ok()?.to_ne_bytes().to_vec(),
            Self::U64 => text.parse::<u64>().ok()?.to_ne_bytes().to_vec(),
            Self::F32 => text.parse::<f32>().ok()?.to_ne_bytes().to_vec(),
        })
    }

    /// One value as text. `bytes` has its size; other lengths give nothing.
    pub fn decode(self, bytes: &[u8]) -> Option<String> {
        Some(match self {
            Self::Bool => (bytes.first()? != &0).to_string(),
            Self::I8 => i8::from_ne_bytes(bytes.try_into().ok()?).to_string(),
            Self::U8 => u8::from_ne_bytes(bytes.try_into().ok()?).to_string(),
            Self::I16 => i16::from_ne_bytes(bytes.try_into().ok()?).to_string(),
            Self::U16 => u16::from_ne_bytes(bytes.try_into().ok()?).to_string(),
            Self::I32 => i32::from_ne_bytes(bytes.try_into().ok()?).to_string(),
            Self::U32 => u32::from_ne_bytes(bytes.try_into().ok()?).to_string(),
            Self::I64 => i64::from_ne_bytes(bytes.try_into().ok()?).to_string(),
            Self::U64 => u64::from_ne_bytes(bytes.try_into().ok()?).to_string(),
            Self::F32 => f32::from_ne_bytes(bytes.try_into().ok()?).to_string(),
        })
    }
}

/// `INDEX=REST`.
pub fn indexed<'v>(flag: &'static str, value: &'v str) -> Result<(u32, &'v str), Failure> {
    let parts = value.split_once('=').and_then(|(index, rest)| Some((index.parse().ok()?, rest)));
    parts.ok_or_else(|| Failure::Argument {
        flag,
        value: value.to_owned(),
        expected: "INDEX=… with a number for INDEX",
    })
}

/// The bytes that a value stands for.
pub fn bytes(flag: &'static str, value: &str) -> Result<Vec<u8>, Failure> {
    if let Some(path) = value.strip_prefix('@') {
        return fs::read(path).map_err(|error| Failure::File { path: path.into(), error });
    }
    if let Ok(count) = value.parse::<u32>() {
        return Ok(vec![0; count as usize]);
    }
    typed(value).ok_or_else(|| Failure::Argument {
        flag,
        value: value.to_owned(),
        expected: "a number of zero bytes, @FILE, TYPE:VALUE,VALUE… or TYPE:FROM..TO, where TYPE \
                   is bool, i8, u8, i16, u16, i32, u32, i64, u64 or f32",
    })
}

fn typed(value: &str) -> Option<Vec<u8>> {
    let (scalar, values) = value.split_once(':')?;
    let scalar = Scalar::parse(scalar)?;
    if let Some((from, to)) = values.split_once("..") {
        let (from, to) = (from.parse::<i64>().ok()?, to.parse::<i64>().ok()?);
        if to.checked_sub(from)? > RANGE {
            return None;
        }
        return (from..to).try_fold(Vec::new(), |mut bytes, value| {
            bytes.extend(scalar.encode(&value.to_string())?);
            Some(bytes)
        });
    }
    let encoded = values.split(',').map(|value| scalar.encode(value.trim()));
    Some(encoded.collect::<Option<Vec<_>>>()?.concat())
}

/// `X`, `X,Y` or `X,Y,Z`; what is left out is 1.
pub fn extent(flag: &'static str, value: &str) -> Result<[u32; 3], Failure> {
    let read = || {
        let mut extent = [1; 3];
        let parts: Vec<&str> = value.split(',').collect();
        if parts.len() > 3 {
            return None;
        }
        for (place, part) in extent.iter_mut().zip(parts) {
            *place = part.trim().parse().ok()?;
        }
        Some(extent)
    };
    read().ok_or_else(|| Failure::Argument {
        flag,
        value: value.to_owned(),
        expected: "X, X,Y or X,Y,Z in numbers",
    })
}

#[cfg(test)]
#[path = "values_tests.rs"]
mod tests;
