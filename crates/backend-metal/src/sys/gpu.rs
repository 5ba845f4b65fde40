#![expect(unsafe_code, reason = "objc2-metal's calls that take pointers or promise no checks")]
//! The device, its queue, libraries, pipelines and buffers.

use std::ops::Range;
use std::ptr::NonNull;

use objc2::rc::{Retained, autoreleasepool};
use objc2::runtime::ProtocolObject;
use objc2_foundation::NSString;
use objc2_metal::{
    MTLBuffer, MTLCommandQueue, MTLCompileOptions, MTLComputePipelineState,
    MTLCreateSystemDefaultDevice, MTLDevice, MTLLibrary, MTLMathMode, MTLResourceOptions,
};

use minfer_plan::Region;

use crate::caps::Limits;

/// Memory is wrapped in place where it begins on a page of this size.
const PAGE: usize = if cfg!(target_vendor = "apple") { 16 << 10 } else { 4 << 10 };

/// A GPU and the queue that its work goes through, in order.
pub(crate) struct Gpu {
    device: Retained<ProtocolObject<dyn MTLDevice>>,
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
    /// Who owns memory that is used in place.
    _owner: Option<Region>,
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
            let queue = device.newCommandQueue()?;
            Some(Gpu { device, queue })
        })
    }

    /// Gives the GPU a new queue: what was on the old one is waited for by nobody.
    pub(crate) fn renew_queue(&mut self) -> Option<()> {
        self.queue = autoreleasepool(|_| self.device.newCommandQueue())?;
        Some(())
    }

    /// What it can hold, asked of it.
    pub(crate) fn limits(&self) -> Limits {
        autoreleasepool(|_| Limits {
            name: self.device.name().to_string(),
            threads_per_threadgroup: self.device.maxThreadsPerThreadgroup().width as u32,
            threadgroup_memory: self.device.maxThreadgroupMemoryLength() as u32,
            recommended_working_set: self.device.recommendedMaxWorkingSetSize(),
        })
    }

    /// Compiles a module; fails with the compiler's words.
    pub(crate) fn library(&self, text: &str) -> Result<Library, String> {
        autoreleasepool(|_| {
            let options = MTLCompileOptions::new();
            options.setMathMode(MTLMathMode::Safe);
            let text = NSString::from_str(text);
            let made = self.device.newLibraryWithSource_options_error(&text, Some(&options));
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
        Some(Buffer { raw, len: len.max(16), _owner: None })
    }

    /// A region's bytes: in place where they begin on a page, else copied.
    pub(crate) fn wrap(&self, region: &Region) -> Option<Buffer> {
        let options = MTLResourceOptions::StorageModeShared;
        let bytes = region.bytes();
        if !bytes.as_ptr().addr().is_multiple_of(PAGE) || bytes.is_empty() {
            let mut copy = self.buffer(bytes.len())?;
            return copy.write(0, bytes).then_some(copy);
        }
        let (start, len) = (NonNull::from(bytes).cast(), bytes.len().next_multiple_of(PAGE));
        // SAFETY: memory is mapped in whole pages, so the last one is there to its end; only the
        // region's own bytes are ever bound. No deallocator: the buffer keeps the owner.
        let raw = unsafe {
            self.device
                .newBufferWithBytesNoCopy_length_options_deallocator(start, len, options, None)
        }?;
        Some(Buffer { raw, len: bytes.len(), _owner: Some(region.clone()) })
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
