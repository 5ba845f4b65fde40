//! Libraries from data: archives of sources.

use crate::layer::{Device, Library, SOURCE, device, expect_misuse, test};
use metal_sim::objc::{Rule, Settings};
use metal_sim::{Source, archive};
use objc2::msg_send;
use objc2::rc::Retained;
use objc2::runtime::{AnyObject, ProtocolObject};
use objc2_foundation::{NSError, NSString};
use objc2_metal::{MTLFunction as _, MTLLibrary};
use std::ffi::c_void;
use std::ptr;

// SAFETY: as metal-sim defines it.
unsafe extern "C-unwind" {
    fn dispatch_data_create(
        bytes: *const c_void,
        length: usize,
        queue: *const c_void,
        destructor: *const c_void,
    ) -> *mut AnyObject;
}

fn library(device: &Device, bytes: &[u8]) -> Result<Library, String> {
    let (start, none) = (bytes.as_ptr().cast(), ptr::null());
    // SAFETY: the slice has this length.
    let data = unsafe { Retained::from_raw(dispatch_data_create(start, bytes.len(), none, none)) };
    let data = data.unwrap();
    // SAFETY: what the method takes and gives.
    let made: Result<Retained<ProtocolObject<dyn MTLLibrary>>, Retained<NSError>> =
        unsafe { msg_send![&**device, newLibraryWithData: &*data, error: _] };
    made.map_err(|error| error.localizedDescription().to_string())
}

fn source(text: &str) -> Source {
    Source { name: "one.metal".to_owned(), text: text.to_owned() }
}

#[test]
fn kernels_come_from_whichever_source_has_them() {
    test(Settings::default(), || {
        let device = device();
        let other = "#include <metal_stdlib>\nkernel void other(device float* x [[buffer(0)]],\n\
                     uint i [[thread_position_in_grid]]) { x[i] = 1.0f; }\n";
        let broken = "kernel void broken(device float* x [[buffer(0)]]) { nonsense; }\n";
        let bytes = archive::pack(&[source(broken), source(SOURCE), source(other)]);
        let library = library(&device, &bytes).unwrap();
        for name in ["increment", "other"] {
            let function = library.newFunctionWithName(&NSString::from_str(name));
            assert_eq!(function.unwrap().name().to_string(), name);
        }
        for name in ["none", "broken"] {
            assert!(library.newFunctionWithName(&NSString::from_str(name)).is_none(), "{name}");
        }
        let names = library.functionNames();
        let mut names = (0..names.count()).map(|at| names.objectAtIndex(at).to_string());
        assert!(names.any(|name| name == "other"));
    });
}

#[test]
fn what_is_no_archive_is_an_error() {
    test(Settings::default(), || {
        let device = device();
        for bytes in [&b"MTLB"[..], b"", b"metal-sim archive\nsource 9 a\n"] {
            let error = library(&device, bytes).unwrap_err();
            assert!(error.starts_with("no archive of metal-sim: at byte "), "{error}");
        }
        // SAFETY: no bytes.
        let made = unsafe { dispatch_data_create(ptr::null(), 0, ptr::null(), ptr::dangling()) };
        assert!(made.is_null());
        expect_misuse(Rule::Argument, "takes no destructor");
    });
}
