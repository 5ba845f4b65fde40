//! References: what over-release, late messages and missing pools come to.

use crate::layer::{device, expect_misuse, floats, test};
use metal_sim::objc::{self, Rule, Settings};
use objc2::ffi::{objc_release, objc_retain};
use objc2::msg_send;
use objc2::rc::{Retained, autoreleasepool};
use objc2::runtime::AnyObject;
use objc2_foundation::NSString;
use objc2_metal::MTLDevice as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a panicking call says.
fn panic_of(call: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(call)).unwrap_err();
    payload.downcast_ref::<String>().cloned().unwrap_or_default()
}

/// A buffer without references.
fn released() -> *mut AnyObject {
    Retained::as_ptr(&floats(&device(), &[0.0])).cast_mut().cast()
}

#[test]
fn live_objects_are_counted_by_class() {
    test(Settings::default(), || {
        let device = device();
        let buffers = [floats(&device, &[0.0]), floats(&device, &[0.0])];
        let live = objc::live_objects();
        assert!(live.contains(&("MetalSimBuffer", 2)), "{live:?}");
        drop(buffers);
        assert!(!objc::live_objects().iter().any(|(class, _)| *class == "MetalSimBuffer"));
    });
}

#[test]
fn one_release_too_many_is_reported() {
    test(Settings::default(), || {
        let object = released();
        // SAFETY: headers of released objects stay, and the stand-in reports their use.
        unsafe { objc_release(object) };
        expect_misuse(Rule::Ownership, "over-release of a MetalSimBuffer");
        // SAFETY: as above.
        unsafe { objc_retain(object) };
        expect_misuse(Rule::Ownership, "retain of a MetalSimBuffer that was already released");
    });
}

#[test]
fn a_message_to_a_released_object_panics_and_is_reported() {
    test(Settings::default(), || {
        let object = released();
        // SAFETY: as above.
        let text = panic_of(|| {
            // SAFETY: as above.
            let _: usize = unsafe { msg_send![object, length] };
        });
        assert!(text.contains("to a MetalSimBuffer that was already released"), "{text}");
        expect_misuse(Rule::Ownership, "message length");
    });
}

#[test]
fn messages_are_checked_against_their_methods() {
    test(Settings::default(), || {
        let device = device();
        // SAFETY: no such method exists, so nothing is called.
        let text = panic_of(|| unsafe { msg_send![&*device, misspelt] });
        assert!(text.contains("method not found"), "{text}");
        // SAFETY: `objc2` refuses the call.
        let text = panic_of(|| unsafe { msg_send![&*device, supportsFamily: 1.5_f64] });
        assert!(text.contains("expected return to have type code"), "{text}");
    });
}

#[test]
fn strings_are_equal_by_their_text() {
    test(Settings::default(), || {
        let [a, b, c] = ["näme", "näme", "name"].map(NSString::from_str);
        assert_eq!(a, b);
        assert_ne!(a, c);
        assert_eq!((a.length(), a.len()), (4, 5));
        // SAFETY: the method's signature.
        let same: bool = unsafe { msg_send![&*a, isEqual: &*device()] };
        assert!(!same);
    });
}

#[test]
fn an_object_of_another_class_is_no_argument() {
    test(Settings::default(), || {
        let device = device();
        let text = NSString::from_str("no descriptor");
        let error: *mut *mut AnyObject = std::ptr::null_mut();
        // SAFETY: a wrong object is what the test is about; the result is nil.
        let made: Option<Retained<AnyObject>> = unsafe {
            msg_send![&*device, newComputePipelineStateWithFunction: &*text, error: error]
        };
        assert!(made.is_none());
        expect_misuse(Rule::Argument, "expected a MetalSimFunction, found a NSString");
    });
}

#[test]
fn without_a_pool_an_autoreleased_object_leaks() {
    test(Settings::default(), || {
        let device = device();
        // Another thread has no pool around it. It sends the message itself: what `objc2` would do
        // with the result is to retain it.
        let device = std::ptr::from_ref(&*device).addr();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let device = std::ptr::with_exposed_provenance_mut::<AnyObject>(device);
                // SAFETY: the device outlives the thread.
                let name: *mut AnyObject = unsafe { msg_send![device, name] };
                // SAFETY: what no pool releases has one reference, which the test takes.
                unsafe { objc_release(name) };
            });
        });
        expect_misuse(Rule::Ownership, "autorelease with no pool");
    });
}

#[test]
fn a_pool_releases_what_was_made_in_it() {
    test(Settings::default(), || {
        let device = device();
        let strings =
            || objc::live_objects().iter().find(|row| row.0 == "NSString").map(|row| row.1);
        let before = strings();
        autoreleasepool(|_| {
            device.name();
            assert_ne!(strings(), before);
        });
        assert_eq!(strings(), before);
    });
}
