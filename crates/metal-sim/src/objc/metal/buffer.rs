//! `MTLBuffer`: memory of the device's, or of the program's.

use super::device::Device;
use super::label::{Label, labelled};
use crate::Memory;
use crate::objc::abi::Range;
use crate::objc::block::Block;
use crate::objc::class::{Class, Methods, class, methods};
use crate::objc::object::{Body, Id, Strong};
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

class!(BUFFER, BUFFER_META, "MetalSimBuffer", None, declare);

/// Where a resource's memory lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum Storage {
    Shared = 0,
    Managed = 1,
    Private = 2,
}

impl Storage {
    /// From `MTLResourceOptions`; none for memoryless, which buffers cannot be.
    pub(super) const fn of(options: usize) -> Option<Self> {
        match options >> 4 & 15 {
            0 => Some(Self::Shared),
            1 => Some(Self::Managed),
            2 => Some(Self::Private),
            _ => None,
        }
    }
}

/// A buffer.
pub(super) struct Buffer {
    pub(super) device: Arc<Device>,
    pub(super) memory: Arc<Memory>,
    pub(super) storage: Storage,
    pub(super) options: usize,
    pub(super) label: Label,
    /// The program has let go of it.
    pub(super) released: AtomicBool,
    /// Of memory that the program gave: told when the device no longer needs it.
    pub(super) deallocator: Option<Block>,
}

impl Buffer {
    /// Its label, or what it is, for messages.
    pub(super) fn describe(&self) -> String {
        let (label, length) = (self.label.get(), self.memory.len());
        if label.is_empty() {
            format!("a buffer of {length} bytes")
        } else {
            format!("buffer '{label}' of {length} bytes")
        }
    }
}

impl Body for Buffer {
    fn class() -> &'static Class {
        &BUFFER
    }

    fn released(&self) {
        self.released.store(true, Ordering::Relaxed);
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.device.allocated.fetch_sub(self.memory.len(), Ordering::Relaxed);
        if let Some(deallocator) = &self.deallocator {
            deallocator.call2::<*mut c_void, usize>(self.memory.ptr().cast(), self.memory.len());
        }
    }
}

fn declare(table: &mut Methods) {
    labelled!(table, Buffer);
    methods! { table, Buffer;
        c"length" = |buffer| -> usize { buffer.memory.len() }
        c"allocatedSize" = |buffer| -> usize { buffer.memory.len() }
        c"contents" = |buffer| -> *mut c_void {
            // The host cannot see private memory.
            match buffer.storage {
                Storage::Shared | Storage::Managed => buffer.memory.ptr().cast(),
                Storage::Private => ptr::null_mut(),
            }
        }
        c"gpuAddress" = |buffer| -> u64 { buffer.memory.ptr().addr() as u64 }
        c"storageMode" = |buffer| -> usize { buffer.storage as usize }
        c"resourceOptions" = |buffer| -> usize { buffer.options }
        // MTLPurgeableStateNonVolatile, whatever is asked for.
        c"setPurgeableState:" = |_buffer, _state: usize| -> usize { 2 }
        c"didModifyRange:" = |_buffer, _range: Range| {}
        c"device" = |buffer| -> Id { Strong::of(Arc::clone(&buffer.device)).autorelease() }
    }
}
