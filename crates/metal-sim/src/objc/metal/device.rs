//! `MTLDevice`: the profile's name and limits, and the maker of everything else.

use super::buffer::{Buffer, Storage};
use super::descriptors::PipelineDescriptor;
use super::event::Event;
use super::label::Label;
use super::library::{self, Function};
use super::pipeline;
use super::queue::Queue;
use super::residency::ResidencySet;
use crate::objc::abi::{BlockPointer, ErrorSlot, Size};
use crate::objc::block::Block;
use crate::objc::class::{Class, Methods, class, methods};
use crate::objc::faults::{self, Fault};
use crate::objc::foundation::Text;
use crate::objc::object::{Body, Id, Strong};
use crate::objc::reports::{Rule, report};
use crate::objc::settings::{self, Settings};
use crate::{Memory, memory};
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

class!(DEVICE, DEVICE_META, "MetalSimDevice", None, declare);

/// A device. Buffers, queues and what else it makes hold it.
pub(super) struct Device {
    pub(super) settings: Settings,
    /// Bytes of all its buffers.
    pub(super) allocated: AtomicUsize,
    /// Nothing runs on it any more.
    pub(super) lost: AtomicBool,
}

impl Body for Device {
    fn class() -> &'static Class {
        &DEVICE
    }
}

/// A new device with the current settings.
#[unsafe(no_mangle)]
extern "C-unwind" fn MTLCreateSystemDefaultDevice() -> Id {
    let (allocated, lost) = (AtomicUsize::new(0), AtomicBool::new(false));
    Strong::new(Device { settings: settings::current(), allocated, lost }).give()
}

/// What `MTLGPUFamily` numbers mean to a device of Apple's family `family`.
const fn supports(family: u32, asked: isize) -> bool {
    match asked {
        // Apple1 and up.
        1001.. if asked < 2000 => asked - 1000 <= family as isize,
        // Mac2, and Common1 to Common3.
        2002 | 3001..=3003 => true,
        // Metal3 and Metal4.
        5001 => family >= 7,
        5002 => family >= 9,
        _ => false,
    }
}

impl Device {
    /// A buffer around some memory; nil where Metal gives none.
    fn buffer(
        self: Arc<Self>,
        options: usize,
        deallocator: Option<Block>,
        length: usize,
        memory: impl FnOnce() -> Option<Arc<Memory>>,
    ) -> Id {
        let Some(storage) = Storage::of(options) else {
            report(Rule::Argument, format!("a buffer cannot have the options {options:#x}"));
            return Id::NIL;
        };
        if length == 0 {
            report(Rule::Argument, "a new buffer has 0 bytes, at least 1 is needed");
            return Id::NIL;
        }
        // No mistakes of the program: Metal answers nil.
        if length as u64 > self.settings.profile.max_buffer_length
            || faults::strikes(Fault::Allocation)
        {
            return Id::NIL;
        }
        let Some(memory) = memory() else { return Id::NIL };
        if storage == Storage::Private && self.settings.poison {
            memory.poison();
        }
        self.allocated.fetch_add(length, Ordering::Relaxed);
        let (device, label, released) = (self, Label::default(), AtomicBool::new(false));
        let buffer = Buffer { device, memory, storage, options, label, released, deallocator };
        Strong::new(buffer).give()
    }

    fn copy(self: Arc<Self>, bytes: *const c_void, length: usize, options: usize) -> Id {
        self.buffer(options, None, length, || {
            if bytes.is_null() {
                report(Rule::Argument, "newBufferWithBytes: the bytes are NULL");
                return None;
            }
            // SAFETY: the caller passes so many bytes.
            let bytes = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), length) };
            Memory::of(bytes).ok()
        })
    }

    fn wrap(
        self: Arc<Self>,
        bytes: *mut c_void,
        length: usize,
        options: usize,
        deallocator: BlockPointer,
    ) -> Id {
        let page = memory::page_size();
        if !bytes.addr().is_multiple_of(page) || !length.is_multiple_of(page) || bytes.is_null() {
            let text = format!(
                "newBufferWithBytesNoCopy: {bytes:p} and {length} bytes must both be whole pages \
                 of {page} bytes"
            );
            report(Rule::Argument, text);
            return Id::NIL;
        }
        self.buffer(options, Block::copy(deallocator), length, || {
            // SAFETY: the caller keeps the bytes until the deallocator is called.
            Some(unsafe { Memory::external(bytes.cast(), length) })
        })
    }
}

fn declare(table: &mut Methods) {
    declare_limits(table);
    methods! { table, Device;
        c"newBufferWithLength:options:" = |device, length: usize, options: usize| -> Id {
            device.buffer(options, None, length, || Memory::alloc(length).ok())
        }
        c"newBufferWithBytes:length:options:" = |
            device, bytes: *const c_void, length: usize, options: usize
        | -> Id { device.copy(bytes, length, options) }
        c"newBufferWithBytesNoCopy:length:options:deallocator:" = |
            device, bytes: *mut c_void, length: usize, options: usize, deallocator: BlockPointer
        | -> Id { device.wrap(bytes, length, options, deallocator) }
        c"newCommandQueue" = |device| -> Id { Queue::start(device, 64) }
        c"newCommandQueueWithMaxCommandBufferCount:" = |device, count: usize| -> Id {
            Queue::start(device, count)
        }
        c"newLibraryWithSource:options:error:" = |
            device, source: Id, _options: Id, error: ErrorSlot
        | -> Id { library::compile(device, source, error) }
        c"newLibraryWithData:error:" = |device, data: Id, error: ErrorSlot| -> Id {
            library::precompiled(device, data, error)
        }
        c"newComputePipelineStateWithFunction:error:" = |
            device, function: Id, error: ErrorSlot
        | -> Id { pipeline::of_function(&device, function.get::<Function>("the function"), error) }
        c"newComputePipelineStateWithDescriptor:options:reflection:error:" = |
            device, descriptor: Id, _options: usize, _reflection: ErrorSlot, error: ErrorSlot
        | -> Id {
            let descriptor = descriptor.get::<PipelineDescriptor>("the descriptor");
            descriptor.map_or(Id::NIL, |given| pipeline::of_descriptor(&device, &given, error))
        }
        c"newEvent" = |_device| -> Id { Strong::new(Event::default()).give() }
        c"newSharedEvent" = |_device| -> Id { Strong::new(Event::default()).give() }
        c"newResidencySetWithDescriptor:error:" = |
            _device, descriptor: Id, error: ErrorSlot
        | -> Id { ResidencySet::make(descriptor, error) }
    }
}

fn declare_limits(table: &mut Methods) {
    methods! { table, Device;
        c"name" = |device| -> Id {
            Strong::new(Text::new(device.settings.profile.name)).autorelease()
        }
        c"registryID" = |_device| -> u64 { 1 }
        c"hasUnifiedMemory" = |_device| -> u8 { 1 }
        c"isLowPower" = |_device| -> u8 { 0 }
        c"isRemovable" = |_device| -> u8 { 0 }
        c"isHeadless" = |_device| -> u8 { 0 }
        c"supportsFamily:" = |device, family: isize| -> u8 {
            u8::from(supports(device.settings.profile.family, family))
        }
        c"recommendedMaxWorkingSetSize" = |device| -> u64 {
            device.settings.profile.recommended_working_set
        }
        c"maxBufferLength" = |device| -> usize {
            usize::try_from(device.settings.profile.max_buffer_length).unwrap_or(usize::MAX)
        }
        c"maxThreadgroupMemoryLength" = |device| -> usize {
            device.settings.profile.threadgroup_memory as usize
        }
        c"maxThreadsPerThreadgroup" = |device| -> Size {
            let most = device.settings.profile.max_threads_per_threadgroup as usize;
            Size { width: most, height: most, depth: most }
        }
        c"currentAllocatedSize" = |device| -> usize { device.allocated.load(Ordering::Relaxed) }
    }
}
