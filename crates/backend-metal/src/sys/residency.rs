#![expect(unsafe_code, reason = "says that a residency set may move between threads")]
//! Memory that is to stay where the GPU finds it.

use objc2::rc::{Retained, autoreleasepool};
use objc2::runtime::{NSObjectProtocol as _, ProtocolObject};
use objc2::sel;
use objc2_metal::{
    MTLCommandQueue as _, MTLDevice as _, MTLResidencySet, MTLResidencySetDescriptor,
};

use super::gpu::{Buffer, Gpu};

/// Buffers that stay resident while requests run: without it, weights that were not used for a
/// second are unwired, and the next step waits for them.
pub(crate) struct Residency(Retained<ProtocolObject<dyn MTLResidencySet>>);

// SAFETY: the set is an object without ties to a thread, and is used by its one owner alone.
unsafe impl Send for Residency {}

impl Residency {
    /// An empty set of the queue's; `None` where the system has none (before macOS 15).
    pub(crate) fn new(gpu: &Gpu) -> Option<Residency> {
        autoreleasepool(|_| {
            if !gpu.device.respondsToSelector(sel!(newResidencySetWithDescriptor:error:)) {
                return None;
            }
            let descriptor = MTLResidencySetDescriptor::new();
            let set = gpu.device.newResidencySetWithDescriptor_error(&descriptor).ok()?;
            gpu.queue.addResidencySet(&set);
            Some(Residency(set))
        })
    }

    /// Makes these buffers, and no others, stay.
    pub(crate) fn hold<'b>(&self, buffers: impl Iterator<Item = &'b Buffer>) {
        self.0.removeAllAllocations();
        for buffer in buffers {
            self.0.addAllocation(buffer.raw.as_ref());
        }
        self.0.commit();
        self.0.requestResidency();
    }

    /// Lets them go.
    pub(crate) fn release(&self) {
        self.0.endResidency();
    }

    /// Bytes that it holds.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.allocatedSize()
    }
}
