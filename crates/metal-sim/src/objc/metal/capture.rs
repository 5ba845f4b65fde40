//! `MTLCaptureManager`: a trace of what a device runs, as a document.
//!
//! As on macOS, programs outside Xcode may write documents where `METAL_CAPTURE_ENABLED` is 1. The
//! simulator's document is a text: a line for each launch that ran from start to stop.

use super::device::Device;
use super::queue::Queue;
use crate::Launch;
use crate::objc::abi::{ErrorSlot, Sel};
use crate::objc::class::{Class, Methods, class, methods};
use crate::objc::foundation::{Domain, Failure, Url, set_error};
use crate::objc::object::{Body, Id, Strong, declare_class_methods};
use crate::objc::reports::{Rule, report};
use crate::objc::settings;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicIsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

class!(
    CAPTURE_MANAGER,
    CAPTURE_MANAGER_META,
    "MTLCaptureManager",
    Some(|| Arc::new(Captures)),
    declare_manager,
    declare_manager_class
);
class!(
    CAPTURE_DESCRIPTOR,
    CAPTURE_DESCRIPTOR_META,
    "MTLCaptureDescriptor",
    Some(|| Arc::<CaptureDescriptor>::default()),
    declare_descriptor
);

/// `MTLCaptureDestinationGPUTraceDocument`
const DOCUMENT: isize = 2;

/// `MTLCaptureError`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(isize)]
enum Code {
    NotSupported = 1,
    AlreadyCapturing = 2,
    InvalidDescriptor = 3,
}

/// The trace that is being taken: the process has one at most.
struct Trace {
    device: Arc<Device>,
    path: PathBuf,
    text: String,
}

static TRACE: Mutex<Option<Trace>> = Mutex::new(None);

fn trace() -> MutexGuard<'static, Option<Trace>> {
    TRACE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes launches of a device that is traced.
pub(super) fn note(device: &Device, launches: &[Launch]) {
    let mut trace = trace();
    let traced = trace.as_mut().filter(|trace| std::ptr::eq(&*trace.device, device));
    if let Some(Trace { text, .. }) = traced {
        for launch in launches {
            let _ = writeln!(text, "{} {:?}", launch.kernel.name(), launch.grid);
        }
    }
}

/// Starts and stops traces; every manager is the shared one.
struct Captures;

impl Body for Captures {
    fn class() -> &'static Class {
        &CAPTURE_MANAGER
    }
}

/// What to trace, and where to.
#[derive(Default)]
struct CaptureDescriptor {
    device: Mutex<Option<Arc<Device>>>,
    destination: AtomicIsize,
    path: Mutex<Option<PathBuf>>,
}

impl Body for CaptureDescriptor {
    fn class() -> &'static Class {
        &CAPTURE_DESCRIPTOR
    }
}

fn supports(destination: isize) -> bool {
    destination == DOCUMENT && settings::current().capture
}

fn start(descriptor: &CaptureDescriptor) -> Result<(), (Code, String)> {
    let invalid = |text: &str| (Code::InvalidDescriptor, text.to_owned());
    let device = descriptor.device.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let device = device.ok_or_else(|| invalid("the capture object is no device and no queue"))?;
    let destination = descriptor.destination.load(Ordering::Relaxed);
    if destination != DOCUMENT || !device.settings.capture {
        let text = format!(
            "destination {destination} is not supported; documents are, where \
             METAL_CAPTURE_ENABLED is 1"
        );
        return Err((Code::NotSupported, text));
    }
    let path = descriptor.path.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let path = path.ok_or_else(|| invalid("a document needs an output URL"))?;
    if path.exists() {
        return Err(invalid(&format!("{} exists already", path.display())));
    }
    let mut trace = trace();
    if trace.is_some() {
        let text = "another capture has not been stopped".to_owned();
        return Err((Code::AlreadyCapturing, text));
    }
    *trace = Some(Trace { device, path, text: "metal-sim trace\n".to_owned() });
    Ok(())
}

fn stop() {
    let Some(Trace { path, text, .. }) = trace().take() else {
        report(Rule::Argument, "stopCapture: no capture was started");
        return;
    };
    if let Err(error) = fs::write(&path, text) {
        report(Rule::Argument, format!("stopCapture: {}: {error}", path.display()));
    }
}

fn declare_manager(table: &mut Methods) {
    methods! { table, Captures;
        c"supportsDestination:" = |_manager, destination: isize| -> u8 {
            u8::from(supports(destination))
        }
        c"isCapturing" = |_manager| -> u8 { u8::from(trace().is_some()) }
        c"startCaptureWithDescriptor:error:" = |
            _manager, descriptor: Id, error: ErrorSlot
        | -> u8 {
            let descriptor = descriptor.get::<CaptureDescriptor>("the descriptor");
            let started = descriptor.map_or_else(
                || Err((Code::InvalidDescriptor, "the descriptor is nil".to_owned())),
                |descriptor| start(&descriptor),
            );
            let Err((code, text)) = started else { return 1 };
            set_error(error, Failure { domain: Domain::Capture, code: code as isize, text });
            0
        }
        c"stopCapture" = |_manager| { stop(); }
    }
}

fn declare_manager_class(table: &mut Methods) {
    extern "C-unwind" fn shared(_: Id, _: Sel) -> Id {
        Strong::new(Captures).autorelease()
    }
    declare_class_methods(table);
    table.add(c"sharedCaptureManager", shared as extern "C-unwind" fn(Id, Sel) -> Id);
}

fn declare_descriptor(table: &mut Methods) {
    methods! { table, CaptureDescriptor;
        c"setCaptureObject:" = |descriptor, object: Id| {
            let queue = object.peek::<Queue>().map(|queue| Arc::clone(&queue.device));
            let device = object.peek::<Device>().or(queue);
            *descriptor.device.lock().unwrap_or_else(PoisonError::into_inner) = device;
        }
        c"setDestination:" = |descriptor, destination: isize| {
            descriptor.destination.store(destination, Ordering::Relaxed);
        }
        c"setOutputURL:" = |descriptor, url: Id| {
            let path = url.get::<Url>("setOutputURL:").map(|url| url.path().to_owned());
            *descriptor.path.lock().unwrap_or_else(PoisonError::into_inner) = path;
        }
    }
}
