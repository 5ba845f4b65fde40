//! Kernels of a library that was made before, by what the build script does on a Mac with Apple's
//! tools; here a script stands in for them.

#[path = "../../../../crates/backend-metal/build/precompile.rs"]
mod precompile;

use std::path::Path;

use metal_sim::Profile;
use metal_sim::objc::Settings;
use minfer_backend_metal::{Metal, MetalOptions, Metallib, Staging, modules};
use minfer_conformance::{Case, Outcome, ops, run};
use minfer_plan::Device;

use crate::gpu::{open, open_with, try_open};

const XCRUN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/xcrun.sh");

/// The library of these modules.
fn library(names: &[&str]) -> Metallib {
    let folder = tempfile::tempdir().unwrap();
    let modules = modules();
    let chosen = modules.iter().filter(|module| names.contains(&module.name));
    let sources: Vec<_> = chosen.map(|module| (module.name, module.text.as_str())).collect();
    let made = precompile::precompile(Path::new(XCRUN), &sources, folder.path()).unwrap();
    let bytes = std::fs::read(made.expect("the tools are there")).unwrap();
    Metallib { name: "some.metallib".to_owned(), bytes: bytes.into() }
}

fn options(metallib: Option<Metallib>) -> MetalOptions {
    MetalOptions { staging: Staging::Full, metallib, ..MetalOptions::default() }
}

fn case(name: &str) -> Case {
    ops::all().into_iter().find(|case| case.name.starts_with(name)).unwrap()
}

#[test]
fn kernels_of_a_library_compute_as_those_of_the_source() {
    let case = case("rms_norm[");
    let mut built_in = open(Profile::M1, options(None));
    let mut given = open(Profile::M1, options(Some(library(&["norms", "elementwise"]))));
    let expected = run(&case, &mut built_in).unwrap();
    assert!(matches!(expected, Outcome::Ran(_)));
    assert_eq!(run(&case, &mut given).unwrap(), expected);
    let said = |device: &Metal| device.target().caps().features.clone();
    assert_eq!(said(&built_in), "unified memory, kernels compiled from source");
    assert_eq!(said(&given), "unified memory, kernels of some.metallib");
    // A device that is brought back loads it again.
    given.recover().unwrap();
    assert_eq!(run(&case, &mut given).unwrap(), expected);
    let error = given.kernels().unwrap_err().to_string();
    assert!(error.contains("kernel embed_f32: some.metallib: "), "{error}");
}

#[test]
fn a_kernel_that_a_library_lacks_is_named_with_the_library() {
    let mut device = open(Profile::M1, options(Some(library(&["elementwise"]))));
    let error = run(&case("rms_norm["), &mut device).unwrap_err().to_string();
    assert!(error.contains("kernel rms_norm: some.metallib: the library has no such"), "{error}");
}

#[test]
fn what_is_no_library_is_refused_at_the_start() {
    let foreign = |bytes: &'static [u8]| {
        let metallib = Metallib { name: "some.metallib".to_owned(), bytes: bytes.into() };
        try_open(Settings::default(), options(Some(metallib))).unwrap_err().to_string()
    };
    let error = foreign(b"GGUF\x03");
    assert!(error.contains("some.metallib is no library: no archive of metal-sim"), "{error}");
    assert!(foreign(b"").contains("some.metallib is no library"), "{error}");
}

#[test]
fn without_tools_or_with_a_mistake_there_is_no_library() {
    let folder = tempfile::tempdir().unwrap();
    let none = folder.path().join("none");
    assert_eq!(precompile::precompile(&none, &[], folder.path()).unwrap(), None);
    assert_eq!(precompile::precompile(Path::new("false"), &[], folder.path()).unwrap(), None);
    let wrong = [("wrong", "#error this one\n")];
    let error = precompile::precompile(Path::new(XCRUN), &wrong, folder.path()).unwrap_err();
    assert_eq!(error, "#error this one");
}

#[test]
fn a_trace_is_written_once_and_replaces_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("first.gputrace");
    let capturing = || MetalOptions { capture: Some(path.clone()), ..options(None) };
    let settings = |capture| Settings { capture, ..Settings::default() };
    let mut device = open_with(settings(true), capturing());
    let case = case("rms_norm[");
    assert!(matches!(run(&case, &mut device).unwrap(), Outcome::Ran(_)));
    assert!(!path.exists(), "the request is not over");
    device.rest();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.lines().count() == 2 && text.contains("\nrms_norm "), "{text}");
    run(&case, &mut device).unwrap();
    device.rest();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "one request is traced");
    let error = try_open(settings(true), capturing()).unwrap_err().to_string();
    assert!(error.contains("first.gputrace: there is a file of this name"), "{error}");
    let other = MetalOptions { capture: Some(folder.path().join("other")), ..options(None) };
    let error = try_open(settings(false), other).unwrap_err().to_string();
    assert!(error.contains("METAL_CAPTURE_ENABLED set to 1"), "{error}");
}
