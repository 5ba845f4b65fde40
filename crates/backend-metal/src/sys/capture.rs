#![expect(unsafe_code, reason = "objc2-metal's calls that promise no checks")]
//! Traces of the GPU's work, as documents that Xcode opens.

use std::path::Path;

use objc2::rc::autoreleasepool;
use objc2_foundation::{NSString, NSURL};
use objc2_metal::{MTLCaptureDescriptor, MTLCaptureDestination, MTLCaptureManager};

use super::gpu::Gpu;

/// A trace that is being taken; it is written when this is dropped.
pub(crate) struct Capture(());

impl Capture {
    /// Whether a trace can be written there; fails with the reason.
    pub(crate) fn check(path: &Path) -> Result<(), String> {
        if path.exists() {
            return Err("there is a file of this name, which is not replaced".to_owned());
        }
        let supported = autoreleasepool(|_| {
            // SAFETY: the one manager that the process has.
            let manager = unsafe { MTLCaptureManager::sharedCaptureManager() };
            manager.supportsDestination(MTLCaptureDestination::GPUTraceDocument)
        });
        let help = "the system takes no traces of this program: start it with the environment \
                    variable METAL_CAPTURE_ENABLED set to 1";
        if supported { Ok(()) } else { Err(help.to_owned()) }
    }

    /// Traces what goes through the GPU's queue from now on.
    pub(crate) fn begin(gpu: &Gpu, path: &Path) -> Result<Capture, String> {
        autoreleasepool(|_| {
            let descriptor = MTLCaptureDescriptor::new();
            // SAFETY: a queue is one of the objects that can be captured.
            unsafe { descriptor.setCaptureObject(Some((*gpu.queue).as_ref())) };
            descriptor.setDestination(MTLCaptureDestination::GPUTraceDocument);
            let path = NSString::from_str(&path.to_string_lossy());
            descriptor.setOutputURL(Some(&NSURL::fileURLWithPath(&path)));
            // SAFETY: as above.
            let manager = unsafe { MTLCaptureManager::sharedCaptureManager() };
            let begun = manager.startCaptureWithDescriptor_error(&descriptor);
            begun.map_err(|error| error.localizedDescription().to_string())?;
            Ok(Capture(()))
        })
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        // SAFETY: as above; nothing but a capture ends the one that this one began.
        autoreleasepool(|_| unsafe { MTLCaptureManager::sharedCaptureManager() }.stopCapture());
    }
}
