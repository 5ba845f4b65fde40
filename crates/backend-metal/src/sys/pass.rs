#![expect(unsafe_code, reason = "objc2-metal's calls that take pointers or promise no checks")]
//! Command buffers and what is encoded into them.

use std::ptr::NonNull;
use std::time::Duration;

use block2::RcBlock;
use objc2::rc::{Retained, autoreleasepool};
use objc2::runtime::ProtocolObject;
use objc2_metal::{
    MTLBarrierScope, MTLBlitCommandEncoder as _, MTLCommandBuffer, MTLCommandBufferStatus,
    MTLCommandEncoder as _, MTLCommandQueue as _, MTLComputeCommandEncoder, MTLDispatchType,
    MTLSize,
};

use super::completion::Completion;
use super::gpu::{Buffer, Gpu, Pipeline};

// SAFETY: metal-sim defines it so.
#[cfg(not(target_vendor = "apple"))]
unsafe extern "C-unwind" {
    /// Tells the simulator how long the slice at `index` is; Metal itself does not ask.
    fn metal_sim_bind_length(encoder: *const std::ffi::c_void, index: usize, length: usize);
}

/// A command buffer being filled.
pub(crate) struct Commands(Retained<ProtocolObject<dyn MTLCommandBuffer>>);

/// A compute encoder whose dispatches may overlap between barriers.
pub(crate) struct ComputePass(Retained<ProtocolObject<dyn MTLComputeCommandEncoder>>);

impl Commands {
    /// A new command buffer; `None` where the queue has none to give.
    pub(crate) fn new(gpu: &Gpu) -> Option<Commands> {
        autoreleasepool(|_| gpu.queue.commandBuffer()).map(Commands)
    }

    /// Encodes copies of `(source, offset)` to `(target, offset)` of so many bytes each.
    pub(crate) fn copy(&self, copies: &[((&Buffer, usize), (&Buffer, usize), usize)]) -> bool {
        let inside = |buffer: &Buffer, offset: usize, len: usize| {
            offset.checked_add(len).is_some_and(|end| end <= buffer.len())
        };
        let fit = copies.iter().all(|((source, from), (target, to), len)| {
            inside(source, *from, *len) && inside(target, *to, *len)
        });
        if copies.is_empty() || !fit {
            return fit;
        }
        autoreleasepool(|_| {
            let Some(encoder) = self.0.blitCommandEncoder() else { return false };
            for ((source, from), (target, to), len) in copies {
                // SAFETY: both ranges lie in their buffers, checked above.
                unsafe {
                    encoder.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size(
                        &source.raw,
                        *from,
                        &target.raw,
                        *to,
                        *len,
                    );
                }
            }
            encoder.endEncoding();
            true
        })
    }

    /// Begins dispatches; `None` where the encoder cannot be had.
    pub(crate) fn compute(&self) -> Option<ComputePass> {
        let kind = MTLDispatchType::Concurrent;
        autoreleasepool(|_| self.0.computeCommandEncoderWithDispatchType(kind)).map(ComputePass)
    }

    /// Hands the work to the GPU; never waits.
    pub(crate) fn commit(self) -> Completion {
        let completion = Completion::default();
        let told = completion.clone();
        autoreleasepool(|_| {
            let handler =
                RcBlock::new(move |commands: NonNull<ProtocolObject<dyn MTLCommandBuffer>>| {
                    // SAFETY: Metal gives its handlers the command buffer that ended.
                    let commands = unsafe { commands.as_ref() };
                    let words = || match commands.error() {
                        Some(error) => error.localizedDescription().to_string(),
                        None => format!("the command buffer's status is {:?}", commands.status()),
                    };
                    let done = commands.status() == MTLCommandBufferStatus::Completed;
                    let seconds = commands.GPUEndTime() - commands.GPUStartTime();
                    let took = Duration::try_from_secs_f64(seconds).unwrap_or_default();
                    told.end(if done { Ok(took) } else { Err(words()) });
                });
            // SAFETY: the block is copied by Metal and takes what Metal gives.
            unsafe { self.0.addCompletedHandler(RcBlock::as_ptr(&handler)) };
            self.0.commit();
        });
        completion
    }
}

impl ComputePass {
    /// Binds `length` bytes from `offset` on; false where they are not in the buffer.
    pub(crate) fn bind(&self, index: usize, buffer: &Buffer, offset: usize, length: usize) -> bool {
        if offset.checked_add(length).is_none_or(|end| end > buffer.len()) {
            return false;
        }
        // SAFETY: the offset lies in the buffer.
        unsafe { self.0.setBuffer_offset_atIndex(Some(&buffer.raw), offset, index) };
        #[cfg(not(target_vendor = "apple"))]
        {
            let encoder = std::ptr::from_ref(&*self.0).cast();
            // SAFETY: a compute encoder.
            unsafe { metal_sim_bind_length(encoder, index, length) };
        }
        true
    }

    /// Binds a copy of these bytes, at most 4096.
    pub(crate) fn bytes(&self, index: usize, bytes: &[u8]) {
        let start = NonNull::from(bytes).cast();
        // SAFETY: the slice has this length; Metal copies it.
        unsafe { self.0.setBytes_length_atIndex(start, bytes.len(), index) };
    }

    /// Threadgroup memory of the next dispatch.
    pub(crate) fn threadgroup_memory(&self, bytes: usize) {
        // SAFETY: lengths are checked against the device's limits when an op is lowered.
        unsafe { self.0.setThreadgroupMemoryLength_atIndex(bytes.next_multiple_of(16), 0) };
    }

    /// Orders what comes after everything before.
    pub(crate) fn barrier(&self) {
        self.0.memoryBarrierWithScope(MTLBarrierScope::Buffers);
    }

    /// Launches a kernel.
    pub(crate) fn dispatch(&self, pipeline: &Pipeline, groups: [u32; 3], threads: u32) {
        let [width, height, depth] = groups.map(|count| count as usize);
        self.0.setComputePipelineState(&pipeline.state);
        self.0.dispatchThreadgroups_threadsPerThreadgroup(
            MTLSize { width, height, depth },
            MTLSize { width: threads as usize, height: 1, depth: 1 },
        );
    }

    /// Ends the encoder.
    pub(crate) fn end(self) {
        self.0.endEncoding();
    }
}
