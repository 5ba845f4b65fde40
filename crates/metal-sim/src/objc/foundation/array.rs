//! `NSArray`: a fixed list of objects.

use crate::objc::abi::Range;
use crate::objc::class::{Class, Methods, class, methods};
use crate::objc::object::{Body, Id, Strong};
use crate::objc::reports::{Rule, report};
use std::ffi::c_void;

class!(NS_ARRAY, NS_ARRAY_META, "NSArray", None, declare);

/// A list.
pub(in crate::objc) struct List(pub(in crate::objc) Vec<Strong>);

impl Body for List {
    fn class() -> &'static Class {
        &NS_ARRAY
    }
}

impl List {
    fn at(&self, index: usize) -> Id {
        self.0.get(index).map_or_else(
            || {
                let count = self.0.len();
                report(Rule::Argument, format!("objectAtIndex: {index} of {count} objects"));
                Id::NIL
            },
            Strong::id,
        )
    }
}

fn declare(table: &mut Methods) {
    methods! { table, List;
        c"count" = |list| -> usize { list.0.len() }
        c"objectAtIndex:" = |list, index: usize| -> Id { list.at(index) }
        c"firstObject" = |list| -> Id { list.0.first().map_or(Id::NIL, Strong::id) }
        c"getObjects:range:" = |list, target: *mut c_void, range: Range| {
            let Some(end) = range.end_within(list.0.len()) else {
                report(Rule::Argument, "getObjects:range: reaches past the end of the array");
                return;
            };
            for (place, object) in list.0[range.location..end].iter().enumerate() {
                let place = target.cast::<Id>().wrapping_add(place);
                // SAFETY: the caller has room for as many as the range has.
                unsafe { place.write(object.id()) };
            }
        }
    }
}
