#![expect(unsafe_code, reason = "objc2-metal's calls that take pointers or promise no checks")]
//! The device, its queue, libraries, pipelines and buffers.

use std::ffi::c_void;
use std::ops::Range;
use std::ptr::{self, NonNull};

use block2::RcBlock;
use objc2::rc::{Retained, autoreleasepool};
use objc2::runtime::{AnyObject, NSObjectProtocol as _, ProtocolObject};
use objc2::{msg_send, sel};
use objc2_foundation::{NSError, NSString};
use objc2_metal::{
    MTLBuffer, MTLCommandQueue, MTLCompileOptions, MTLComputePipelineState,
    MTLCreateSystemDefaultDevice, MTLDevice, MTLLibrary, MTLMathMode, MTLResourceOptions,
};

use minfer_plan::Region;

use crate::caps::Limits;
use crate::spans::PAGE;

/// Command buffers that may be in flight: those of two steps, and copies.
const IN_FLIGHT: usize = 2048;

// SAFETY: libdispatch has it so.
unsafe extern "C-unwind" {
    /// Bytes as an object; without a destructor, a copy of them.
    fn dispatch_data_create(
        bytes: *const c_void,
        length: usize,
        queue: *const c_void,
        destructor: *const c_void,
    ) -> *mut AnyObject;
}

/// A GPU and the queue that its work goes through, in order.
pub(crate) struct Gpu {
    pub(super) device: Retained<ProtocolObject<dyn MTLDevice>>,
    pub(super) queue: Retained<ProtocolObject<dyn MTLCommandQueue>>,
}

/// A compiled module.
pub(crate) struct Library(Retained<ProtocolObject<dyn MTLLibrary>>);

/// A kernel ready to launch.
pub(crate) struct Pipeline {
    pub(super) state: Retained<ProtocolObject<dyn MTLComputePipelineState>>,
    /// Threads of a threadgroup that it can have.
    pub(crate) threads_max: usize,
}

/// Memory that host and GPU share.
pub(crate) struct Buffer {
    pub(super) raw: Retained<ProtocolObject<dyn MTLBuffer>>,
    len: usize,
}

// SAFETY: Metal's buffers may be used from any thread; what they hold is guarded by the rule that
// no work is on its way while the host touches it, and by `&mut` for writes.
unsafe impl Send for Buffer {}

// SAFETY: as above; shared references only read.
unsafe impl Sync for Buffer {}

impl Gpu {
    /// The system's GPU; `None` where there is none.
    pub(crate) fn open() -> Option<Gpu> {
        autoreleasepool(|_| {
            let device = MTLCreateSystemDefaultDevice()?;
            let queue = device.newCommandQueueWithMaxCommandBufferCount(IN_FLIGHT)?;
            Some(Gpu { device, queue })
        })
    }

    /// What it can hold, asked of it.
    pub(crate) fn limits(&self) -> Limits {
        autoreleasepool(|_| Limits {
            threads_per_threadgroup: self.device.maxThreadsPerThreadgroup().width as u32,
            threadgroup_memory: self.device.maxThreadgroupMemoryLength() as u32,
            max_buffer_length: self.device.maxBufferLength() as u64,
            recommended_working_set: self.device.recommendedMaxWorkingSetSize(),
            unified_memory: self.device.hasUnifiedMemory(),
            ..Limits::apple7(self.device.name().to_string())
        })
    }

    /// Compiles a module; fails with the compiler's words.
    pub(crate) fn library(&self, text: &str) -> Result<Library, String> {
        autoreleasepool(|_| {
            let options = MTLCompileOptions::new();
            if options.respondsToSelector(sel!(setMathMode:)) {
                options.setMathMode(MTLMathMode::Safe);
            } else {
                #[expect(deprecated, reason = "the only one before macOS 15")]
                options.setFastMathEnabled(false);
            }
            let text = NSString::from_str(text);
            let made = self.device.newLibraryWithSource_options_error(&text, Some(&options));
            made.map(Library).map_err(|error| error.localizedDescription().to_string())
        })
    }

    /// A library that was compiled before; fails with the device's words.
    pub(crate) fn precompiled(&self, bytes: &[u8]) -> Result<Library, String> {
        autoreleasepool(|_| {
            let (start, none) = (bytes.as_ptr().cast(), ptr::null());
            // SAFETY: the slice has this length; the object is new, and the caller's.
            let data =
                unsafe { Retained::from_raw(dispatch_data_create(start, bytes.len(), none, none)) };
            let data = data.ok_or("no memory for it")?;
            // SAFETY: this is what the method takes and gives.
            let made: Result<Retained<ProtocolObject<dyn MTLLibrary>>, Retained<NSError>> =
                unsafe { msg_send![&*self.device, newLibraryWithData: &*data, error: _] };
            made.map(Library).map_err(|error| error.localizedDescription().to_string())
        })
    }

    /// Makes a kernel ready; fails with the device's words.
    pub(crate) fn pipeline(&self, library: &Library, kernel: &str) -> Result<Pipeline, String> {
        autoreleasepool(|_| {
            let function = library.0.newFunctionWithName(&NSString::from_str(kernel));
            let function = function.ok_or("the library has no such function")?;
            let state = self.device.newComputePipelineStateWithFunction_error(&function);
            let state = state.map_err(|error| error.localizedDescription().to_string())?;
            let threads_max = state.maxTotalThreadsPerThreadgroup();
            Ok(Pipeline { state, threads_max })
        })
    }

    /// Zeroed memory; `None` where it cannot be had.
    pub(crate) fn buffer(&self, len: usize) -> Option<Buffer> {
        let options = MTLResourceOptions::StorageModeShared;
        let raw = self.device.newBufferWithLength_options(len.max(16), options)?;
        Some(Buffer { raw, len: len.max(16) })
    }

    /// Bytes of a region, from a multiple of [`PAGE`] on: in place where the region begins on a
    /// page and no copy is wished for.
    pub(crate) fn wrap(
        &self,
        region: &Region,
        bytes: Range<usize>,
        copied: bool,
    ) -> Option<Buffer> {
        let options = MTLResourceOptions::StorageModeShared;
        let all = region.bytes();
        let bytes = all.get(bytes)?;
        if copied || !all.as_ptr().addr().is_multiple_of(PAGE) || bytes.is_empty() {
            let mut copy = self.buffer(bytes.len())?;
            return copy.write(0, bytes).then_some(copy);
        }
        let (start, len) = (NonNull::from(bytes).cast(), bytes.len().next_multiple_of(PAGE));
        // Command buffers may outlive everything here, so the block keeps the region for Metal.
        let owner = region.clone();
        let release = RcBlock::new(move |_: NonNull<c_void>, _: usize| {
            let _ = &owner;
        });
        // SAFETY: memory is mapped in whole pages, so the last one is there to its end; only the
        // region's own bytes are ever bound. The block may be called and dropped on any thread.
        let raw = unsafe {
            self.device.newBufferWithBytesNoCopy_length_options_deallocator(
                start,
                len,
                options,
                Some(&release),
            )
        }?;
        Some(Buffer { raw, len: bytes.len() })
    }
}

impl Buffer {
    /// Bytes in it.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Its bytes. No work that writes them may be on its way.
    pub(crate) fn bytes(&self, range: Range<usize>) -> Option<&[u8]> {
        let whole = self.raw.contents().cast::<u8>();
        // SAFETY: shared memory of this length, alive as long as the buffer; the caller's promise
        // keeps the GPU from writing meanwhile.
        let whole = unsafe { std::slice::from_raw_parts(whole.as_ptr(), self.len) };
        whole.get(range)
    }

    /// Writes at an offset; false where it does not fit. No work that touches these bytes may be
    /// on its way.
    pub(crate) fn write(&mut self, offset: usize, bytes: &[u8]) -> bool {
        let fits = offset.checked_add(bytes.len()).is_some_and(|end| end <= self.len);
        if fits {
            // SAFETY: inside the buffer, by the line above.
            let to = unsafe { self.raw.contents().cast::<u8>().add(offset) };
            // SAFETY: the bytes lie in the buffer, which `bytes` does not borrow; the GPU is not
            // at work on them, by the caller's promise.
            unsafe { to.copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len()) };
        }
        fits
    }
}
