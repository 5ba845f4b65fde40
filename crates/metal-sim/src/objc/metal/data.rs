//! `dispatch_data_t`: bytes as an object, which precompiled libraries come in.

use crate::objc::class::{Class, Methods, class};
use crate::objc::object::{Body, Id, Strong};
use crate::objc::reports::{Rule, report};
use std::ffi::c_void;

class!(DATA, DATA_META, "OS_dispatch_data", None, declare);

/// The bytes, copied.
pub(super) struct Data(pub(super) Vec<u8>);

impl Body for Data {
    fn class() -> &'static Class {
        &DATA
    }
}

/// Bytes have no methods that Metal's callers use.
fn declare(_table: &mut Methods) {}

/// A copy of bytes as an object; the queue is for a destructor, and the simulator takes none.
///
/// # Safety
/// `bytes` points to so many of them.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn dispatch_data_create(
    bytes: *const c_void,
    length: usize,
    _queue: *const c_void,
    destructor: *const c_void,
) -> Id {
    if !destructor.is_null() {
        report(
            Rule::Argument,
            "dispatch_data_create: the simulator takes no destructor, it copies",
        );
        return Id::NIL;
    }
    let copy = if length == 0 {
        Vec::new()
    } else {
        // SAFETY: the caller passes so many bytes.
        unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), length) }.to_vec()
    };
    Strong::new(Data(copy)).give()
}
