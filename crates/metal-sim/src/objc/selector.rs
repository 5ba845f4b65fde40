//! Selectors: each name has one address for the life of the process.

use super::abi::Sel;
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char};
use std::ptr;
use std::sync::{LazyLock, Mutex, PoisonError};

/// A name, known by its address.
pub(super) struct Selector {
    name: CString,
}

static ALL: LazyLock<Mutex<HashMap<CString, &'static Selector>>> = LazyLock::new(Mutex::default);

impl Sel {
    pub(super) fn named(name: &CStr) -> Self {
        let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&selector) = all.get(name) {
            return Self(selector);
        }
        // Callers keep selectors in statics, so none is ever freed.
        let selector: &'static Selector = Box::leak(Box::new(Selector { name: name.to_owned() }));
        all.insert(name.to_owned(), selector);
        Self(selector)
    }

    pub(super) fn name(self) -> &'static CStr {
        // SAFETY: selectors are made by `named` alone and live for ever.
        unsafe { &(*self.0).name }
    }
}

/// The selector of this name.
///
/// # Safety
/// `name` is NUL-terminated.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn sel_registerName(name: *const c_char) -> Sel {
    // SAFETY: the caller's promise.
    Sel::named(unsafe { CStr::from_ptr(name) })
}

#[unsafe(no_mangle)]
extern "C-unwind" fn sel_getName(selector: Sel) -> *const c_char {
    selector.name().as_ptr()
}

#[unsafe(no_mangle)]
extern "C-unwind" fn sel_isEqual(a: Sel, b: Sel) -> u8 {
    u8::from(ptr::eq(a.0, b.0))
}
