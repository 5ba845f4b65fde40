//! Labels: names that the program gives to objects, used in reports.

use crate::objc::foundation::Text;
use crate::objc::object::{Id, Strong};
use std::sync::{Mutex, PoisonError};

/// A name; empty until it is set.
#[derive(Debug, Default)]
pub(super) struct Label(Mutex<String>);

impl Label {
    pub(super) fn get(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set(&self, name: Id) {
        let name = Text::of(name, "setLabel:").unwrap_or_default();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = name;
    }

    /// As an object; nil until it is set.
    pub(super) fn object(&self) -> Id {
        let name = self.get();
        if name.is_empty() { Id::NIL } else { Strong::new(Text::new(name)).autorelease() }
    }
}

/// `label` and `setLabel:` of a body with a field `label`.
macro_rules! labelled {
    ($table:ident, $body:ty) => {
        $crate::objc::class::methods! { $table, $body;
            c"label" = |object| -> $crate::objc::object::Id { object.label.object() }
            c"setLabel:" = |object, name: $crate::objc::object::Id| { object.label.set(name); }
        }
    };
}
pub(super) use labelled;
