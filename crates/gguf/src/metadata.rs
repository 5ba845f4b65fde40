//! The key-value section, and typed access to it.
//!
//! A getter answers `None` for a key that is not there and an error for one of another type: a
//! wrong type is never a silent default. Integers of any width are accepted where the value fits.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::limits::{ALIGNMENT_MAX, ALIGNMENT_MIN, ALL_ELEMENTS, KEY_BYTES};
use crate::read::Cursor;
use crate::value::{Array, StringArray, Value};

/// The key that sets the alignment of tensor data.
pub(crate) const ALIGNMENT_KEY: &str = "general.alignment";

/// Alignment of tensor data in a file that does not state one.
pub(crate) const DEFAULT_ALIGNMENT: u64 = 32;

/// A file's metadata, in file order.
#[derive(Debug, Clone, Default)]
pub struct Metadata {
    entries: Vec<(String, Value)>,
    index: HashMap<String, usize>,
}

impl Metadata {
    pub(crate) fn parse(cursor: &mut Cursor<'_>, keys: u64) -> Result<Self> {
        let mut metadata = Self::default();
        let mut elements = ALL_ELEMENTS.value;
        for _ in 0..keys {
            let offset = cursor.offset();
            let key = parse_key(cursor)?;
            let value = Value::parse(cursor, key, &mut elements)?;
            if metadata.index.insert(key.to_owned(), metadata.entries.len()).is_some() {
                return Err(Error::DuplicateKey { key: key.to_owned(), offset });
            }
            metadata.entries.push((key.to_owned(), value));
        }
        Ok(metadata)
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All entries, in file order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.entries.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// The value of `key`, of whatever type.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entries.get(*self.index.get(key)?).map(|(_, value)| value)
    }

    /// Alignment of tensor data in bytes: a u32, a power of two within limits, 32 when not stated.
    pub fn alignment(&self) -> Result<u64> {
        let found = match self.get(ALIGNMENT_KEY) {
            None => return Ok(DEFAULT_ALIGNMENT),
            Some(&Value::U32(value)) => u64::from(value),
            Some(value) => return Err(wrong_type(ALIGNMENT_KEY, value, "u32")),
        };
        let allowed = ALIGNMENT_MIN.value..=ALIGNMENT_MAX.value;
        if !found.is_power_of_two() || !allowed.contains(&found) {
            return Err(Error::Alignment { found });
        }
        Ok(found)
    }

    /// An unsigned integer of any width that fits 32 bits.
    pub fn u32(&self, key: &str) -> Result<Option<u32>> {
        self.integer(key, "u32")
    }

    /// An integer of any width that fits 64 bits unsigned.
    pub fn u64(&self, key: &str) -> Result<Option<u64>> {
        self.integer(key, "u64")
    }

    /// An integer of any width that fits 32 bits signed.
    pub fn i32(&self, key: &str) -> Result<Option<i32>> {
        self.integer(key, "i32")
    }

    /// A float; an f64 is rounded to f32. Any bit pattern, NaN and infinity too.
    pub fn f32(&self, key: &str) -> Result<Option<f32>> {
        self.typed(key, "f32", |value| match *value {
            Value::F32(value) => Some(value),
            Value::F64(value) => Some(value as f32),
            _ => None,
        })
    }

    /// A boolean.
    pub fn bool(&self, key: &str) -> Result<Option<bool>> {
        self.typed(key, "bool", |value| match *value {
            Value::Bool(value) => Some(value),
            _ => None,
        })
    }

    /// A string, which must be UTF-8.
    pub fn str(&self, key: &str) -> Result<Option<&str>> {
        let Some(bytes) = self.typed(key, "string", |value| match value {
            Value::String(bytes) => Some(bytes.as_slice()),
            _ => None,
        })?
        else {
            return Ok(None);
        };
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Some(text)),
            Err(error) => Err(Error::Utf8 { key: key.to_owned(), valid: error.valid_up_to() }),
        }
    }

    /// An array of strings; each is bytes that need not be UTF-8.
    pub fn strings(&self, key: &str) -> Result<Option<&StringArray>> {
        self.typed(key, "array of string", |value| match value {
            Value::Array(Array::String(strings)) => Some(strings),
            _ => None,
        })
    }

    /// An array of f32.
    pub fn f32s(&self, key: &str) -> Result<Option<&[f32]>> {
        self.typed(key, "array of f32", |value| match value {
            Value::Array(Array::F32(values)) => Some(values.as_slice()),
            _ => None,
        })
    }

    /// An array of integers of any width, each of which fits an i32; copied unless it is of i32.
    pub fn i32s(&self, key: &str) -> Result<Option<Cow<'_, [i32]>>> {
        match self.get(key) {
            Some(Value::Array(Array::I32(values))) => Ok(Some(Cow::Borrowed(values))),
            other => self.integers(key, other, "i32").map(|values| values.map(Cow::Owned)),
        }
    }

    /// An array of integers of any width, each of which fits a u32; copied unless it is of u32.
    pub fn u32s(&self, key: &str) -> Result<Option<Cow<'_, [u32]>>> {
        match self.get(key) {
            Some(Value::Array(Array::U32(values))) => Ok(Some(Cow::Borrowed(values))),
            other => self.integers(key, other, "u32").map(|values| values.map(Cow::Owned)),
        }
    }

    /// An array of booleans.
    pub fn bools(&self, key: &str) -> Result<Option<&[bool]>> {
        self.typed(key, "array of bool", |value| match value {
            Value::Array(Array::Bool(values)) => Some(values.as_slice()),
            _ => None,
        })
    }

    /// [`Metadata::u32`] of a key that must be there.
    pub fn require_u32(&self, key: &str) -> Result<u32> {
        required(key, self.u32(key))
    }

    /// [`Metadata::u64`] of a key that must be there.
    pub fn require_u64(&self, key: &str) -> Result<u64> {
        required(key, self.u64(key))
    }

    /// [`Metadata::f32`] of a key that must be there.
    pub fn require_f32(&self, key: &str) -> Result<f32> {
        required(key, self.f32(key))
    }

    /// [`Metadata::bool`] of a key that must be there.
    pub fn require_bool(&self, key: &str) -> Result<bool> {
        required(key, self.bool(key))
    }

    /// [`Metadata::str`] of a key that must be there.
    pub fn require_str(&self, key: &str) -> Result<&str> {
        required(key, self.str(key))
    }

    /// [`Metadata::strings`] of a key that must be there.
    pub fn require_strings(&self, key: &str) -> Result<&StringArray> {
        required(key, self.strings(key))
    }

    /// [`Metadata::f32s`] of a key that must be there.
    pub fn require_f32s(&self, key: &str) -> Result<&[f32]> {
        required(key, self.f32s(key))
    }

    /// [`Metadata::i32s`] of a key that must be there.
    pub fn require_i32s(&self, key: &str) -> Result<Cow<'_, [i32]>> {
        required(key, self.i32s(key))
    }

    fn typed<'a, T>(
        &'a self,
        key: &str,
        expected: &'static str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<Option<T>> {
        match self.get(key) {
            None => Ok(None),
            Some(value) => match read(value) {
                Some(typed) => Ok(Some(typed)),
                None => Err(wrong_type(key, value, expected)),
            },
        }
    }

    fn integer<T: TryFrom<i128>>(&self, key: &str, expected: &'static str) -> Result<Option<T>> {
        let Some(found) = self.typed(key, expected, Value::integer)? else { return Ok(None) };
        fitting(key, expected, found).map(Some)
    }

    fn integers<T: TryFrom<i128>>(
        &self,
        key: &str,
        value: Option<&Value>,
        expected: &'static str,
    ) -> Result<Option<Vec<T>>> {
        let Some(value) = value else { return Ok(None) };
        let Some(integers) = value.array().and_then(Array::integers) else {
            return Err(wrong_type(key, value, "array of integers"));
        };
        integers
            .into_iter()
            .map(|found| fitting(key, expected, found))
            .collect::<Result<_>>()
            .map(Some)
    }
}

fn parse_key<'a>(cursor: &mut Cursor<'a>) -> Result<&'a str> {
    let offset = cursor.offset();
    let bytes = cursor.string(KEY_BYTES, "a metadata key")?;
    let printable = bytes.iter().all(|byte| (b' '..=b'~').contains(byte));
    match std::str::from_utf8(bytes) {
        Ok(key) if printable && !key.is_empty() => Ok(key),
        _ => Err(Error::Key { offset }),
    }
}

fn required<T>(key: &str, value: Result<Option<T>>) -> Result<T> {
    value?.ok_or_else(|| Error::MissingKey { key: key.to_owned() })
}

fn wrong_type(key: &str, value: &Value, expected: &'static str) -> Error {
    let found = value.array().map_or(value.value_type(), Array::element_type);
    let array = value.array().is_some();
    Error::WrongType { key: key.to_owned(), expected, found, array }
}

fn fitting<T: TryFrom<i128>>(key: &str, expected: &'static str, found: i128) -> Result<T> {
    T::try_from(found).map_err(|_| Error::OutOfRange { key: key.to_owned(), expected, found })
}
