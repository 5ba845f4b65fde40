//! `NSArray`: a fixed list of objects.

use crate::objc::abi::{Range, Sel};
use crate::objc::class::{Class, Methods, class, methods};
use crate::objc::object::{Body, Id, Strong};
use crate::objc::reports::{Rule, report};
use std::sync::{Arc, OnceLock};

class!(NS_ARRAY, NS_ARRAY_META, "NSArray", Some(|| Arc::<List>::default()), declare);

/// A list; empty between `alloc` and `init`.
#[derive(Default)]
pub(in crate::objc) struct List(OnceLock<Vec<Strong>>);

impl Body for List {
    fn class() -> &'static Class {
        &NS_ARRAY
    }
}

impl List {
    pub(in crate::objc) fn new(objects: Vec<Strong>) -> Self {
        Self(OnceLock::from(objects))
    }

    fn objects(&self) -> &[Strong] {
        self.0.get().map_or(&[], Vec::as_slice)
    }

    /// Copies the objects of a range to where the caller has room for them.
    fn write(&self, target: *mut Id, range: Range) {
        let Some(end) = range.end_within(self.objects().len()) else {
            report(Rule::Argument, "getObjects:range: reaches past the end of the array");
            return;
        };
        for (place, object) in self.objects()[range.location..end].iter().enumerate() {
            // SAFETY: the caller has room for as many as the range has.
            unsafe { target.wrapping_add(place).write(object.id()) };
        }
    }

    fn at(&self, index: usize) -> Id {
        self.objects().get(index).map_or_else(
            || {
                let count = self.objects().len();
                report(Rule::Argument, format!("objectAtIndex: {index} of {count} objects"));
                Id::NIL
            },
            Strong::id,
        )
    }
}

fn declare(table: &mut Methods) {
    extern "C-unwind" fn with_objects(object: Id, _: Sel, from: *const Id, count: usize) -> Id {
        // SAFETY: the caller passes so many objects.
        let one = |place: usize| Strong::retain(unsafe { *from.wrapping_add(place) });
        let list = object.receiver::<List>();
        if list.0.set((0..count).map(one).collect()).is_ok() { object } else { Id::NIL }
    }
    let function: extern "C-unwind" fn(Id, Sel, *const Id, usize) -> Id = with_objects;
    table.add(c"initWithObjects:count:", function);
    methods! { table, List;
        c"count" = |list| -> usize { list.objects().len() }
        c"objectAtIndex:" = |list, index: usize| -> Id { list.at(index) }
        c"firstObject" = |list| -> Id { list.objects().first().map_or(Id::NIL, Strong::id) }
        c"getObjects:" = |list, target: *mut Id| {
            list.write(target, Range { location: 0, length: list.objects().len() });
        }
        c"getObjects:range:" = |list, target: *mut Id, range: Range| { list.write(target, range); }
    }
}
