//! Metadata values: the thirteen types of the format, and arrays of them.

use std::borrow::Cow;
use std::fmt;

use crate::error::{Error, Result};
use crate::limits::{ALL_ELEMENTS, ARRAY_ELEMENTS, STRING_BYTES};
use crate::read::Cursor;

/// The types a metadata value can have; the discriminant is the id in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u32)]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum ValueType {
    U8 = 0,
    I8 = 1,
    U16 = 2,
    I16 = 3,
    U32 = 4,
    I32 = 5,
    F32 = 6,
    Bool = 7,
    String = 8,
    Array = 9,
    U64 = 10,
    I64 = 11,
    F64 = 12,
}

impl ValueType {
    /// All types, in order of their ids.
    pub const ALL: [Self; 13] = [
        Self::U8,
        Self::I8,
        Self::U16,
        Self::I16,
        Self::U32,
        Self::I32,
        Self::F32,
        Self::Bool,
        Self::String,
        Self::Array,
        Self::U64,
        Self::I64,
        Self::F64,
    ];

    /// The type with this id in a file.
    pub fn from_id(id: u32) -> Option<Self> {
        Self::ALL.get(usize::try_from(id).ok()?).copied()
    }

    /// The id in a file.
    pub fn id(self) -> u32 {
        self as u32
    }

    /// Lower-case name, as messages print it.
    pub fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::I8 => "i8",
            Self::U16 => "u16",
            Self::I16 => "i16",
            Self::U32 => "u32",
            Self::I32 => "i32",
            Self::F32 => "f32",
            Self::Bool => "bool",
            Self::String => "string",
            Self::Array => "array",
            Self::U64 => "u64",
            Self::I64 => "i64",
            Self::F64 => "f64",
        }
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Strings stored as one run of bytes with the end of each: a vocabulary of 262k tokens is two
/// allocations. A string is bytes, and usually UTF-8.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StringArray {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl StringArray {
    /// Number of strings.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The bytes of string `index`.
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        let end = *self.ends.get(index)?;
        let start = match index.checked_sub(1) {
            Some(before) => *self.ends.get(before)?,
            None => 0,
        };
        self.bytes.get(start as usize..end as usize)
    }

    /// String `index` as text; bytes that are not UTF-8 become U+FFFD.
    pub fn text(&self, index: usize) -> Option<Cow<'_, str>> {
        self.get(index).map(String::from_utf8_lossy)
    }

    /// The bytes of every string, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.get(index).unwrap_or_default())
    }

    /// Every string as text; bytes that are not UTF-8 become U+FFFD.
    pub fn texts(&self) -> impl ExactSizeIterator<Item = Cow<'_, str>> {
        self.iter().map(String::from_utf8_lossy)
    }

    /// Reads `count` strings; lengths are walked first, so that the memory is exact.
    fn parse(cursor: &mut Cursor<'_>, count: usize) -> Result<Self> {
        const WHAT: &str = "a string of an array";
        let mut ahead = cursor.clone();
        let mut total = 0usize;
        for _ in 0..count {
            total = total.saturating_add(ahead.string(STRING_BYTES, WHAT)?.len());
        }
        let mut strings =
            Self { bytes: Vec::with_capacity(total), ends: Vec::with_capacity(count) };
        for _ in 0..count {
            strings.push(cursor.string(STRING_BYTES, WHAT)?);
        }
        Ok(strings)
    }

    /// Appends a string. Past 4 GiB in all the string is cut; the writer refuses far earlier.
    fn push(&mut self, string: &[u8]) {
        let room = (u32::MAX as usize).saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(string.get(..room).unwrap_or(string));
        self.ends.push(u32::try_from(self.bytes.len()).unwrap_or(u32::MAX));
    }
}

impl<S: AsRef<[u8]>> FromIterator<S> for StringArray {
    fn from_iter<I: IntoIterator<Item = S>>(strings: I) -> Self {
        let mut array = Self::default();
        for string in strings {
            array.push(string.as_ref());
        }
        array
    }
}

/// One metadata value.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "each variant is the type it names")]
pub enum Value {
    U8(u8),
    I8(i8),
    U16(u16),
    I16(i16),
    U32(u32),
    I32(i32),
    F32(f32),
    Bool(bool),
    /// Bytes, usually UTF-8: see [`Value::text`].
    String(Vec<u8>),
    Array(Array),
    U64(u64),
    I64(i64),
    F64(f64),
}

/// An array value: elements of one type, never arrays.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "each variant is the element type it names")]
pub enum Array {
    U8(Vec<u8>),
    I8(Vec<i8>),
    U16(Vec<u16>),
    I16(Vec<i16>),
    U32(Vec<u32>),
    I32(Vec<i32>),
    F32(Vec<f32>),
    Bool(Vec<bool>),
    String(StringArray),
    U64(Vec<u64>),
    I64(Vec<i64>),
    F64(Vec<f64>),
}

impl Value {
    /// The value's type.
    pub fn value_type(&self) -> ValueType {
        match self {
            Self::U8(_) => ValueType::U8,
            Self::I8(_) => ValueType::I8,
            Self::U16(_) => ValueType::U16,
            Self::I16(_) => ValueType::I16,
            Self::U32(_) => ValueType::U32,
            Self::I32(_) => ValueType::I32,
            Self::F32(_) => ValueType::F32,
            Self::Bool(_) => ValueType::Bool,
            Self::String(_) => ValueType::String,
            Self::Array(_) => ValueType::Array,
            Self::U64(_) => ValueType::U64,
            Self::I64(_) => ValueType::I64,
            Self::F64(_) => ValueType::F64,
        }
    }

    /// The value as an integer, when it is one.
    pub fn integer(&self) -> Option<i128> {
        match *self {
            Self::U8(value) => Some(value.into()),
            Self::I8(value) => Some(value.into()),
            Self::U16(value) => Some(value.into()),
            Self::I16(value) => Some(value.into()),
            Self::U32(value) => Some(value.into()),
            Self::I32(value) => Some(value.into()),
            Self::U64(value) => Some(value.into()),
            Self::I64(value) => Some(value.into()),
            Self::F32(_) | Self::F64(_) | Self::Bool(_) | Self::String(_) | Self::Array(_) => None,
        }
    }

    /// A string value as text; bytes that are not UTF-8 become U+FFFD.
    pub fn text(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::String(bytes) => Some(String::from_utf8_lossy(bytes)),
            _ => None,
        }
    }

    /// The array, when the value is one.
    pub fn array(&self) -> Option<&Array> {
        match self {
            Self::Array(array) => Some(array),
            _ => None,
        }
    }

    /// Reads a type id and the value behind it. `elements` is what arrays of this file may still
    /// hold together; it is lowered by what this value takes.
    pub(crate) fn parse(cursor: &mut Cursor<'_>, key: &str, elements: &mut u64) -> Result<Self> {
        const WHAT: &str = "a metadata value";
        Ok(match parse_type(cursor, key)? {
            ValueType::U8 => Self::U8(cursor.u8(WHAT)?),
            ValueType::I8 => Self::I8(cursor.u8(WHAT)?.cast_signed()),
            ValueType::U16 => Self::U16(cursor.u16(WHAT)?),
            ValueType::I16 => Self::I16(cursor.u16(WHAT)?.cast_signed()),
            ValueType::U32 => Self::U32(cursor.u32(WHAT)?),
            ValueType::I32 => Self::I32(cursor.u32(WHAT)?.cast_signed()),
            ValueType::F32 => Self::F32(f32::from_bits(cursor.u32(WHAT)?)),
            ValueType::Bool => Self::Bool(parse_bools(cursor, key, 1)?.first() == Some(&true)),
            ValueType::String => Self::String(cursor.string(STRING_BYTES, "a string")?.to_vec()),
            ValueType::Array => Self::Array(Array::parse(cursor, key, elements)?),
            ValueType::U64 => Self::U64(cursor.u64(WHAT)?),
            ValueType::I64 => Self::I64(cursor.u64(WHAT)?.cast_signed()),
            ValueType::F64 => Self::F64(f64::from_bits(cursor.u64(WHAT)?)),
        })
    }

    /// Appends type id and value as they stand in a file.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.value_type().id().to_le_bytes());
        match self {
            Self::U8(value) => out.push(*value),
            Self::I8(value) => out.push(value.cast_unsigned()),
            Self::U16(value) => out.extend_from_slice(&value.to_le_bytes()),
            Self::I16(value) => out.extend_from_slice(&value.to_le_bytes()),
            Self::U32(value) => out.extend_from_slice(&value.to_le_bytes()),
            Self::I32(value) => out.extend_from_slice(&value.to_le_bytes()),
            Self::F32(value) => out.extend_from_slice(&value.to_le_bytes()),
            Self::Bool(value) => out.push(u8::from(*value)),
            Self::String(value) => write_string(value, out),
            Self::Array(value) => value.write(out),
            Self::U64(value) => out.extend_from_slice(&value.to_le_bytes()),
            Self::I64(value) => out.extend_from_slice(&value.to_le_bytes()),
            Self::F64(value) => out.extend_from_slice(&value.to_le_bytes()),
        }
    }
}

/// A scalar as it is, a string as text, an array as its type, length and first elements.
impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::U8(value) => write!(formatter, "{value}"),
            Self::I8(value) => write!(formatter, "{value}"),
            Self::U16(value) => write!(formatter, "{value}"),
            Self::I16(value) => write!(formatter, "{value}"),
            Self::U32(value) => write!(formatter, "{value}"),
            Self::I32(value) => write!(formatter, "{value}"),
            Self::F32(value) => write!(formatter, "{value}"),
            Self::Bool(value) => write!(formatter, "{value}"),
            Self::String(value) => formatter.write_str(&String::from_utf8_lossy(value)),
            Self::Array(array) => array.fmt(formatter),
            Self::U64(value) => write!(formatter, "{value}"),
            Self::I64(value) => write!(formatter, "{value}"),
            Self::F64(value) => write!(formatter, "{value}"),
        }
    }
}

impl fmt::Display for Array {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 6;
        fn first<T: fmt::Debug>(values: impl Iterator<Item = T>) -> Vec<String> {
            values.take(SHOWN).map(|value| format!("{value:?}")).collect()
        }
        let shown = match self {
            Self::U8(values) => first(values.iter()),
            Self::I8(values) => first(values.iter()),
            Self::U16(values) => first(values.iter()),
            Self::I16(values) => first(values.iter()),
            Self::U32(values) => first(values.iter()),
            Self::I32(values) => first(values.iter()),
            Self::F32(values) => first(values.iter()),
            Self::Bool(values) => first(values.iter()),
            Self::String(values) => first(values.texts()),
            Self::U64(values) => first(values.iter()),
            Self::I64(values) => first(values.iter()),
            Self::F64(values) => first(values.iter()),
        };
        let more = if self.len() > SHOWN { ", …" } else { "" };
        let (element_type, count) = (self.element_type(), self.len());
        write!(formatter, "{element_type}[{count}] = [{}{more}]", shown.join(", "))
    }
}

impl Array {
    /// Type of the elements.
    pub fn element_type(&self) -> ValueType {
        match self {
            Self::U8(_) => ValueType::U8,
            Self::I8(_) => ValueType::I8,
            Self::U16(_) => ValueType::U16,
            Self::I16(_) => ValueType::I16,
            Self::U32(_) => ValueType::U32,
            Self::I32(_) => ValueType::I32,
            Self::F32(_) => ValueType::F32,
            Self::Bool(_) => ValueType::Bool,
            Self::String(_) => ValueType::String,
            Self::U64(_) => ValueType::U64,
            Self::I64(_) => ValueType::I64,
            Self::F64(_) => ValueType::F64,
        }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        match self {
            Self::U8(values) => values.len(),
            Self::I8(values) => values.len(),
            Self::U16(values) => values.len(),
            Self::I16(values) => values.len(),
            Self::U32(values) => values.len(),
            Self::I32(values) => values.len(),
            Self::F32(values) => values.len(),
            Self::Bool(values) => values.len(),
            Self::String(values) => values.len(),
            Self::U64(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::F64(values) => values.len(),
        }
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements as integers, when they are.
    pub fn integers(&self) -> Option<Vec<i128>> {
        Some(match self {
            Self::U8(values) => values.iter().map(|&value| value.into()).collect(),
            Self::I8(values) => values.iter().map(|&value| value.into()).collect(),
            Self::U16(values) => values.iter().map(|&value| value.into()).collect(),
            Self::I16(values) => values.iter().map(|&value| value.into()).collect(),
            Self::U32(values) => values.iter().map(|&value| value.into()).collect(),
            Self::I32(values) => values.iter().map(|&value| value.into()).collect(),
            Self::U64(values) => values.iter().map(|&value| value.into()).collect(),
            Self::I64(values) => values.iter().map(|&value| value.into()).collect(),
            Self::F32(_) | Self::F64(_) | Self::Bool(_) | Self::String(_) => return None,
        })
    }

    fn parse(cursor: &mut Cursor<'_>, key: &str, elements: &mut u64) -> Result<Self> {
        let offset = cursor.offset();
        let element_type = parse_type(cursor, key)?;
        let at = cursor.offset();
        let count = cursor.count(ARRAY_ELEMENTS, "an array's length")?;
        *elements = elements.checked_sub(count).ok_or(Error::Limit {
            limit: ALL_ELEMENTS,
            what: "the sum of all arrays' lengths",
            found: (ALL_ELEMENTS.value - *elements).saturating_add(count),
            offset: at,
        })?;
        Ok(match element_type {
            ValueType::U8 => Self::U8(numbers(cursor, count, u8::from_le_bytes)?),
            ValueType::I8 => Self::I8(numbers(cursor, count, i8::from_le_bytes)?),
            ValueType::U16 => Self::U16(numbers(cursor, count, u16::from_le_bytes)?),
            ValueType::I16 => Self::I16(numbers(cursor, count, i16::from_le_bytes)?),
            ValueType::U32 => Self::U32(numbers(cursor, count, u32::from_le_bytes)?),
            ValueType::I32 => Self::I32(numbers(cursor, count, i32::from_le_bytes)?),
            ValueType::F32 => Self::F32(numbers(cursor, count, f32::from_le_bytes)?),
            ValueType::U64 => Self::U64(numbers(cursor, count, u64::from_le_bytes)?),
            ValueType::I64 => Self::I64(numbers(cursor, count, i64::from_le_bytes)?),
            ValueType::F64 => Self::F64(numbers(cursor, count, f64::from_le_bytes)?),
            ValueType::Bool => Self::Bool(parse_bools(cursor, key, count)?),
            ValueType::String => Self::String(StringArray::parse(cursor, count as usize)?),
            ValueType::Array => {
                return Err(Error::NestedArray { key: key.to_owned(), offset });
            }
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.element_type().id().to_le_bytes());
        out.extend_from_slice(&(self.len() as u64).to_le_bytes());
        match self {
            Self::U8(values) => out.extend_from_slice(values),
            Self::I8(values) => out.extend(values.iter().map(|value| value.cast_unsigned())),
            Self::U16(values) => out.extend(values.iter().flat_map(|value| value.to_le_bytes())),
            Self::I16(values) => out.extend(values.iter().flat_map(|value| value.to_le_bytes())),
            Self::U32(values) => out.extend(values.iter().flat_map(|value| value.to_le_bytes())),
            Self::I32(values) => out.extend(values.iter().flat_map(|value| value.to_le_bytes())),
            Self::F32(values) => out.extend(values.iter().flat_map(|value| value.to_le_bytes())),
            Self::U64(values) => out.extend(values.iter().flat_map(|value| value.to_le_bytes())),
            Self::I64(values) => out.extend(values.iter().flat_map(|value| value.to_le_bytes())),
            Self::F64(values) => out.extend(values.iter().flat_map(|value| value.to_le_bytes())),
            Self::Bool(values) => out.extend(values.iter().map(|&value| u8::from(value))),
            Self::String(values) => values.iter().for_each(|value| write_string(value, out)),
        }
    }
}

/// Appends a u64 length and the bytes.
pub(crate) fn write_string(string: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(string.len() as u64).to_le_bytes());
    out.extend_from_slice(string);
}

fn parse_type(cursor: &mut Cursor<'_>, key: &str) -> Result<ValueType> {
    let offset = cursor.offset();
    let found = cursor.u32("a value's type")?;
    ValueType::from_id(found).ok_or_else(|| Error::ValueType { key: key.to_owned(), found, offset })
}

fn parse_bools(cursor: &mut Cursor<'_>, key: &str, count: u64) -> Result<Vec<bool>> {
    let start = cursor.offset();
    let bytes = cursor.take(count, "a boolean")?;
    if let Some(index) = bytes.iter().position(|&byte| byte > 1) {
        let offset = start.saturating_add(index as u64);
        return Err(Error::Bool { key: key.to_owned(), found: bytes[index], offset });
    }
    Ok(bytes.iter().map(|&byte| byte == 1).collect())
}

/// Reads `count` numbers of `N` bytes; `count` is within a limit, so the product cannot wrap.
fn numbers<T, const N: usize>(
    cursor: &mut Cursor<'_>,
    count: u64,
    from_le_bytes: fn([u8; N]) -> T,
) -> Result<Vec<T>> {
    let bytes = cursor.take(count.saturating_mul(N as u64), "an array's elements")?;
    let (chunks, _) = bytes.as_chunks::<N>();
    Ok(chunks.iter().map(|chunk| from_le_bytes(*chunk)).collect())
}

macro_rules! value_from {
    ($($from:ty => $variant:ident),+ $(,)?) => {
        $(
            impl From<$from> for Value {
                fn from(value: $from) -> Self {
                    Self::$variant(value)
                }
            }

            impl From<Vec<$from>> for Value {
                fn from(values: Vec<$from>) -> Self {
                    Self::Array(Array::$variant(values))
                }
            }
        )+
    };
}

value_from! {
    u8 => U8, i8 => I8, u16 => U16, i16 => I16, u32 => U32, i32 => I32, f32 => F32, bool => Bool,
    u64 => U64, i64 => I64, f64 => F64,
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::String(value.as_bytes().to_vec())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::String(value.into_bytes())
    }
}

impl From<StringArray> for Value {
    fn from(values: StringArray) -> Self {
        Self::Array(Array::String(values))
    }
}

impl From<Array> for Value {
    fn from(values: Array) -> Self {
        Self::Array(values)
    }
}

impl From<Vec<String>> for Value {
    fn from(values: Vec<String>) -> Self {
        Self::Array(Array::String(values.iter().collect()))
    }
}

impl From<Vec<&str>> for Value {
    fn from(values: Vec<&str>) -> Self {
        Self::Array(Array::String(values.iter().collect()))
    }
}
