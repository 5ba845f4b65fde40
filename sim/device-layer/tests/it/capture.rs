//! Traces of what a device runs.

use crate::layer::{
    Device, bind, commands, device, dispatch, encode, expect_misuse, finish, floats, pipeline, test,
};
use metal_sim::objc::{Rule, Settings};
use objc2::rc::Retained;
use objc2_foundation::{NSString, NSURL};
use objc2_metal::{MTLCaptureDescriptor, MTLCaptureDestination, MTLCaptureManager};
use std::path::{Path, PathBuf};

fn settings(capture: bool) -> Settings {
    Settings { capture, ..Settings::default() }
}

fn manager() -> Retained<MTLCaptureManager> {
    // SAFETY: the one manager that there is.
    unsafe { MTLCaptureManager::sharedCaptureManager() }
}

fn path(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("device-layer-{}-{name}", std::process::id()))
}

fn begin(
    device: Option<&Device>,
    destination: MTLCaptureDestination,
    path: Option<&Path>,
) -> Result<(), String> {
    let descriptor = MTLCaptureDescriptor::new();
    // SAFETY: a device can be captured.
    unsafe { descriptor.setCaptureObject(device.map(|device| (**device).as_ref())) };
    descriptor.setDestination(destination);
    let url = path.map(|path| NSURL::fileURLWithPath(&NSString::from_str(path.to_str().unwrap())));
    descriptor.setOutputURL(url.as_deref());
    let begun = manager().startCaptureWithDescriptor_error(&descriptor);
    begun.map_err(|error| error.localizedDescription().to_string())
}

const DOCUMENT: MTLCaptureDestination = MTLCaptureDestination::GPUTraceDocument;

#[test]
fn a_document_has_what_ran_from_start_to_stop() {
    test(settings(true), || {
        let (path, device, other) = (path("trace"), device(), device());
        let fill = |device: &Device| {
            let (commands, buffer) = (commands(device), floats(device, &[0.0; 4]));
            let pipeline = pipeline(device, "increment");
            encode(&commands, |encoder| {
                bind(encoder, &buffer, 0, 0);
                dispatch(encoder, &pipeline, 4);
            });
            finish(&commands).unwrap();
        };
        fill(&device);
        begin(Some(&device), DOCUMENT, Some(&path)).unwrap();
        assert!(manager().isCapturing());
        fill(&device);
        fill(&other);
        let again = begin(Some(&device), DOCUMENT, Some(&path)).unwrap_err();
        assert!(again.contains("has not been stopped"), "{again}");
        manager().stopCapture();
        assert!(!manager().isCapturing());
        fill(&device);
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, "metal-sim trace\nincrement Threads([4, 1, 1])\n");
        let there = begin(Some(&device), DOCUMENT, Some(&path)).unwrap_err();
        assert!(there.contains("exists already"), "{there}");
        std::fs::remove_file(&path).unwrap();
        manager().stopCapture();
        expect_misuse(Rule::Argument, "no capture was started");
    });
}

#[test]
fn what_cannot_be_captured_is_refused_with_the_reason() {
    test(settings(true), || {
        assert!(manager().supportsDestination(DOCUMENT));
        assert!(!manager().supportsDestination(MTLCaptureDestination::DeveloperTools));
        let (path, device) = (path("none"), device());
        let tools = MTLCaptureDestination::DeveloperTools;
        let error = begin(Some(&device), tools, Some(&path)).unwrap_err();
        assert!(error.contains("destination 1 is not supported"), "{error}");
        assert!(begin(None, DOCUMENT, Some(&path)).unwrap_err().contains("no device"));
        assert!(begin(Some(&device), DOCUMENT, None).unwrap_err().contains("output URL"));
    });
    test(settings(false), || {
        assert!(!manager().supportsDestination(DOCUMENT));
        let error = begin(Some(&device()), DOCUMENT, Some(&path("none"))).unwrap_err();
        assert!(error.contains("METAL_CAPTURE_ENABLED is 1"), "{error}");
    });
}
