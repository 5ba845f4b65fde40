//! Blocks: closures with a header, as clang's block ABI lays them out.
//!
//! The word that the ABI reserves counts the references of a copy.

use super::abi::BlockPointer;
use std::alloc::{Layout, alloc, dealloc};
use std::ffi::{c_int, c_ulong, c_void};
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

const HAS_COPY_DISPOSE: c_int = 1 << 25;
const IS_GLOBAL: c_int = 1 << 28;

/// The class word of a block; only its address matters.
#[repr(C, align(8))]
struct BlockClass([u8; 8]);

#[unsafe(no_mangle)]
static _NSConcreteStackBlock: BlockClass = BlockClass([0; 8]);
#[unsafe(no_mangle)]
static _NSConcreteGlobalBlock: BlockClass = BlockClass([0; 8]);
#[unsafe(no_mangle)]
static _NSConcreteMallocBlock: BlockClass = BlockClass([0; 8]);

#[repr(C)]
struct Layouted {
    isa: *const BlockClass,
    flags: c_int,
    references: AtomicI32,
    invoke: *const c_void,
    descriptor: *const Descriptor,
}

#[repr(C)]
struct Descriptor {
    reserved: c_ulong,
    size: c_ulong,
    copy: Option<unsafe extern "C-unwind" fn(*mut c_void, *const c_void)>,
    dispose: Option<unsafe extern "C-unwind" fn(*mut c_void)>,
}

impl Layouted {
    fn is_copy(&self) -> bool {
        ptr::eq(self.isa, &raw const _NSConcreteMallocBlock)
    }

    /// The helpers stand in the descriptor only where the flag says so.
    ///
    /// # Safety
    /// The block's descriptor is valid.
    unsafe fn helpers(&self) -> Option<&Descriptor> {
        // SAFETY: the caller's promise.
        (self.flags & HAS_COPY_DISPOSE != 0).then(|| unsafe { &*self.descriptor })
    }

    /// # Safety
    /// The block's descriptor is valid.
    unsafe fn layout(&self) -> Option<Layout> {
        // SAFETY: the caller's promise; the size stands in every descriptor.
        let size = unsafe { (*self.descriptor).size };
        Layout::from_size_align(usize::try_from(size).ok()?, 16).ok()
    }
}

/// A copy of a block on the heap, or one more reference to it; null where there is no memory.
///
/// # Safety
/// `block` is null or a block.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn _Block_copy(block: *const c_void) -> *mut c_void {
    // SAFETY: the caller's promise.
    let Some(source) = (unsafe { block.cast::<Layouted>().as_ref() }) else {
        return ptr::null_mut();
    };
    if source.flags & IS_GLOBAL != 0 {
        return block.cast_mut();
    }
    if source.is_copy() {
        source.references.fetch_add(1, Ordering::Relaxed);
        return block.cast_mut();
    }
    // SAFETY: blocks have a descriptor.
    let Some(layout) = (unsafe { source.layout() }) else { return ptr::null_mut() };
    // SAFETY: a block is at least its header, so the size is not zero.
    let copy = unsafe { alloc(layout) };
    if copy.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: both hold `size` bytes.
    unsafe { ptr::copy_nonoverlapping(block.cast::<u8>(), copy, layout.size()) };
    // SAFETY: a whole block stands there now, aligned and owned by nobody else.
    let target = unsafe { &mut *copy.cast::<Layouted>() };
    target.isa = &raw const _NSConcreteMallocBlock;
    target.references = AtomicI32::new(1);
    // SAFETY: blocks have a descriptor.
    if let Some(helper) = unsafe { source.helpers() }.and_then(|descriptor| descriptor.copy) {
        // SAFETY: the helper moves what the block captured into its copy.
        unsafe { helper(copy.cast(), block) };
    }
    copy.cast()
}

/// Gives one reference to a copied block back.
///
/// # Safety
/// `block` is null or a block.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn _Block_release(block: *const c_void) {
    // SAFETY: the caller's promise.
    let Some(header) = (unsafe { block.cast::<Layouted>().as_ref() }) else { return };
    if !header.is_copy() || header.references.fetch_sub(1, Ordering::AcqRel) > 1 {
        return;
    }
    // SAFETY: blocks have a descriptor.
    if let Some(helper) = unsafe { header.helpers() }.and_then(|descriptor| descriptor.dispose) {
        // SAFETY: the last reference is gone, so nothing uses what the block captured.
        unsafe { helper(block.cast_mut()) };
    }
    // SAFETY: blocks have a descriptor.
    if let Some(layout) = unsafe { header.layout() } {
        // SAFETY: allocated by `_Block_copy` with this layout.
        unsafe { dealloc(block.cast_mut().cast(), layout) };
    }
}

/// A copied block that this crate owns.
#[derive(Debug)]
pub(super) struct Block(*mut c_void);

// SAFETY: Metal calls handlers on threads of its own; whoever passes one has made it fit for that.
unsafe impl Send for Block {}
// SAFETY: see above.
unsafe impl Sync for Block {}

impl Block {
    /// A copy; none of a null block.
    pub(super) fn copy(block: BlockPointer) -> Option<Self> {
        // SAFETY: a method's caller passes null or a block.
        let copy = unsafe { _Block_copy(block.0) };
        (!copy.is_null()).then_some(Self(copy))
    }

    /// Calls it with one argument.
    pub(super) fn call<A>(&self, argument: A) {
        // SAFETY: a copy is a whole block while this value lives.
        let invoke = unsafe { (*self.0.cast::<Layouted>()).invoke };
        // SAFETY: the method that took the block gave its type to the compiler or to `objc2`.
        let invoke: extern "C-unwind" fn(*mut c_void, A) = unsafe { std::mem::transmute(invoke) };
        invoke(self.0, argument);
    }

    /// Calls it with two arguments.
    pub(super) fn call2<A, B>(&self, a: A, b: B) {
        // SAFETY: as in `call`.
        let invoke = unsafe { (*self.0.cast::<Layouted>()).invoke };
        // SAFETY: as in `call`.
        let invoke: extern "C-unwind" fn(*mut c_void, A, B) =
            unsafe { std::mem::transmute(invoke) };
        invoke(self.0, a, b);
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: the reference that `copy` took.
        unsafe { _Block_release(self.0) };
    }
}
