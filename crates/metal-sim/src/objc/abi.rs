//! Types that cross the border, and the type codes by which callers check them.
//!
//! `objc2` compares the code of each argument with the method's before it sends a message, so a
//! wrong signature here or there is a clear message and not a broken stack.

use super::object::Id;
use std::ffi::{c_char, c_void};

/// Three extents: `MTLSize`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) depth: usize,
}

impl Size {
    /// As 32-bit extents; `None` where one is zero or too large.
    pub(super) fn extents(self) -> Option<[u32; 3]> {
        let extent = |n: usize| u32::try_from(n).ok().filter(|&n| n > 0);
        Some([extent(self.width)?, extent(self.height)?, extent(self.depth)?])
    }
}

/// A range of bytes or indices: `NSRange`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) location: usize,
    pub(super) length: usize,
}

impl Range {
    /// The end, if it lies within `limit`.
    pub(super) fn end_within(self, limit: usize) -> Option<usize> {
        self.location.checked_add(self.length).filter(|&end| end <= limit)
    }
}

/// A block as an argument.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(super) struct BlockPointer(pub(super) *const c_void);

/// Where a method puts an error.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(super) struct ErrorSlot(pub(super) *mut Id);

/// The code of a type in Objective-C's encoding, as GNUstep on a 64-bit machine has it.
pub(super) trait Encode {
    const CODE: &'static str;
}

macro_rules! codes {
    ($($type:ty = $code:literal),* $(,)?) => {
        $(impl Encode for $type { const CODE: &'static str = $code; })*
    };
}

codes! {
    () = "v",
    // BOOL is an unsigned char here.
    u8 = "C",
    i32 = "i",
    u32 = "I",
    isize = "q",
    usize = "Q",
    u64 = "Q",
    f64 = "d",
    Id = "@",
    Sel = ":",
    Size = "{?=QQQ}",
    Range = "{_NSRange=QQ}",
    BlockPointer = "@?",
    ErrorSlot = "^@",
    *const c_char = "*",
    *const c_void = "^v",
    *mut c_void = "^v",
    *const Id = "^@",
    *mut Id = "^@",
    *const usize = "^Q",
    *const Range = "^{_NSRange=QQ}",
}

/// A selector: the address of its one [`super::selector::Selector`].
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Sel(pub(super) *const super::selector::Selector);

// SAFETY: a selector is never changed and lives as long as the process.
unsafe impl Send for Sel {}
// SAFETY: see above.
unsafe impl Sync for Sel {}

/// The address of a method's function, whatever its signature.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(super) struct Imp(pub(super) *const c_void);

/// A function that can be a method: receiver, selector, then up to six arguments.
pub(super) trait Function {
    /// The address of its code.
    fn imp(self) -> Imp;
    /// Return type, receiver, selector, arguments; each with its place, which nobody reads.
    fn types() -> String;
    /// Arguments, with receiver and selector.
    const ARGUMENTS: u32;
}

macro_rules! functions {
    ($(($($argument:ident)*) $count:literal;)*) => { $(
        impl<R: Encode, $($argument: Encode),*> Function
            for extern "C-unwind" fn(Id, Sel, $($argument),*) -> R
        {
            const ARGUMENTS: u32 = 2 + $count;

            fn imp(self) -> Imp {
                Imp(self as *const c_void)
            }

            fn types() -> String {
                let codes: &[&str] = &[R::CODE, "@", ":", $($argument::CODE),*];
                codes.iter().map(|code| format!("{code}0")).collect()
            }
        }
    )* };
}

functions! {
    () 0;
    (A) 1;
    (A B) 2;
    (A B C) 3;
    (A B C D) 4;
    (A B C D E) 5;
    (A B C D E F) 6;
}
