//! `MTLFunctionConstantValues`: values by index.

use crate::objc::abi::Range;
use crate::objc::class::{Class, Methods, class, methods};
use crate::objc::object::Body;
use crate::objc::reports::{Rule, report};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, PoisonError};

class!(
    CONSTANT_VALUES,
    CONSTANT_VALUES_META,
    "MTLFunctionConstantValues",
    Some(|| Arc::<ConstantValues>::default()),
    declare
);

/// The values.
#[derive(Default)]
pub(super) struct ConstantValues(Mutex<BTreeMap<u32, Vec<u8>>>);

impl Body for ConstantValues {
    fn class() -> &'static Class {
        &CONSTANT_VALUES
    }
}

/// Bytes of one value of an `MTLDataType`; none where a constant cannot be of it.
fn size(kind: usize) -> Option<usize> {
    // Each scalar type is followed by its vectors of two, three and four; three take as much room
    // as four.
    const SCALARS: [(usize, usize); 12] = [
        (3, 4),   // float
        (16, 2),  // half
        (29, 4),  // int
        (33, 4),  // uint
        (37, 2),  // short
        (41, 2),  // ushort
        (45, 1),  // char
        (49, 1),  // uchar
        (53, 1),  // bool
        (121, 2), // bfloat
        (81, 8),  // long
        (85, 8),  // ulong
    ];
    let (first, bytes) =
        SCALARS.into_iter().find(|(first, _)| (*first..first + 4).contains(&kind))?;
    Some(bytes * [1, 2, 4, 4][kind - first])
}

impl ConstantValues {
    /// All values, by index.
    pub(super) fn values(&self) -> Vec<(u32, Vec<u8>)> {
        let values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        values.iter().map(|(index, bytes)| (*index, bytes.clone())).collect()
    }

    fn set(&self, values: *const c_void, kind: usize, range: Range) {
        let Some(size) = size(kind).filter(|_| !values.is_null()) else {
            report(Rule::Argument, format!("no function constant can have the data type {kind}"));
            return;
        };
        let mut map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for place in 0..range.length {
            let Ok(index) = u32::try_from(range.location.saturating_add(place)) else { return };
            let value = values.cast::<u8>().wrapping_add(place * size);
            // SAFETY: the caller passes as many values of this type as the range has.
            let value = unsafe { std::slice::from_raw_parts(value, size) };
            map.insert(index, value.to_vec());
        }
    }
}

fn declare(table: &mut Methods) {
    methods! { table, ConstantValues;
        c"setConstantValue:type:atIndex:" = |
            values, value: *const c_void, kind: usize, index: usize
        | { values.set(value, kind, Range { location: index, length: 1 }); }
        c"setConstantValues:type:withRange:" = |
            values, value: *const c_void, kind: usize, range: Range
        | { values.set(value, kind, range); }
        c"reset" = |values| { values.0.lock().unwrap_or_else(PoisonError::into_inner).clear(); }
    }
}

#[cfg(test)]
#[path = "constants_tests.rs"]
mod tests;
