//! `NSString`: UTF-8 text.

use crate::objc::abi::Sel;
use crate::objc::class::{Class, Methods, class, methods};
use crate::objc::object::{Body, Id, Strong};
use std::ffi::{c_char, c_void};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, OnceLock};

class!(NS_STRING, NS_STRING_META, "NSString", Some(|| Arc::<Text>::default()), declare);

/// A string; empty between `alloc` and `init`. The text carries its NUL.
#[derive(Default)]
pub(in crate::objc) struct Text(OnceLock<String>);

impl Text {
    pub(in crate::objc) fn new(text: impl Into<String>) -> Self {
        let mut text = text.into();
        text.push('\0');
        Self(OnceLock::from(text))
    }

    pub(in crate::objc) fn as_str(&self) -> &str {
        self.with_nul().trim_end_matches('\0')
    }

    /// The text of a string argument; none for nil.
    pub(in crate::objc) fn of(id: Id, what: &str) -> Option<String> {
        id.get::<Self>(what).map(|text| text.as_str().to_owned())
    }

    fn equals(&self, other: Id) -> u8 {
        u8::from(other.peek::<Self>().is_some_and(|other| other.as_str() == self.as_str()))
    }

    fn with_nul(&self) -> &str {
        self.0.get().map_or("\0", String::as_str)
    }
}

impl Body for Text {
    fn class() -> &'static Class {
        &NS_STRING
    }
}

/// `NSUTF8StringEncoding`, and ASCII, which is a part of it.
const ENCODINGS: [i32; 2] = [1, 4];

fn declare(table: &mut Methods) {
    extern "C-unwind" fn with_bytes(
        object: Id,
        _: Sel,
        bytes: *const c_void,
        length: usize,
        encoding: i32,
    ) -> Id {
        let text = object.receiver::<Text>();
        let bytes = if length == 0 {
            &[]
        } else {
            // SAFETY: the caller passes so many bytes.
            unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), length) }
        };
        let Ok(utf8) = str::from_utf8(bytes) else { return Id::NIL };
        if !ENCODINGS.contains(&encoding) || text.0.set(format!("{utf8}\0")).is_err() {
            return Id::NIL;
        }
        object
    }
    // What cannot change is its own copy.
    extern "C-unwind" fn copy(object: Id, _: Sel) -> Id {
        Strong::retain(object).give()
    }
    let function: extern "C-unwind" fn(Id, Sel, *const c_void, usize, i32) -> Id = with_bytes;
    table.add(c"initWithBytes:length:encoding:", function);
    table.add(c"copy", copy as extern "C-unwind" fn(Id, Sel) -> Id);
    methods! { table, Text;
        c"UTF8String" = |text| -> *const c_char { text.with_nul().as_ptr().cast() }
        c"length" = |text| -> usize { text.as_str().encode_utf16().count() }
        c"lengthOfBytesUsingEncoding:" = |text, encoding: i32| -> usize {
            if ENCODINGS.contains(&encoding) { text.as_str().len() } else { 0 }
        }
        c"isEqualToString:" = |text, other: Id| -> u8 { text.equals(other) }
        c"isEqual:" = |text, other: Id| -> u8 { text.equals(other) }
        c"hash" = |text| -> usize {
            let mut hasher = DefaultHasher::new();
            text.as_str().hash(&mut hasher);
            hasher.finish() as usize
        }
    }
}
