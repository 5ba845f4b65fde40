//! Libraries, functions, pipelines, and kernels that run.

use crate::layer::{
    SOURCE, bind, bind_slice, bind_u32, commands, device, dispatch, encode, expect_misuse, finish,
    floats, library, pipeline, size, test, values,
};
use metal_sim::objc::{self, Rule, Settings};
use metal_sim::{Mode, Profile, Watch};
use objc2_foundation::NSString;
use objc2_metal::{
    MTLCompileOptions, MTLComputeCommandEncoder as _, MTLComputePipelineDescriptor,
    MTLComputePipelineState as _, MTLDataType, MTLDevice as _, MTLFunctionConstantValues,
    MTLLibrary as _, MTLMathMode, MTLPipelineOption,
};
use std::ptr::NonNull;

fn fast() -> Settings {
    Settings { mode: Mode::Fast, ..Settings::default() }
}

/// `scale` with a value for its constant.
fn scale_by(device: &crate::layer::Device, factor: u32) -> crate::layer::Pipeline {
    let constants = MTLFunctionConstantValues::new();
    let value = NonNull::from(&factor).cast();
    // SAFETY: an unsigned int.
    unsafe { constants.setConstantValue_type_atIndex(value, MTLDataType::UInt, 0) };
    let name = NSString::from_str("scale");
    let function = library(device).newFunctionWithName_constantValues_error(&name, &constants);
    device.newComputePipelineStateWithFunction_error(&function.unwrap()).unwrap()
}

#[test]
fn a_kernel_runs_with_its_buffers_bytes_and_constants() {
    for settings in [Settings::default(), fast()] {
        test(settings, || {
            let device = device();
            let (x, y) = (floats(&device, &[1.0, 2.0, 3.0]), floats(&device, &[0.0; 3]));
            for factor in [3, 5] {
                let commands = commands(&device);
                let scale = scale_by(&device, factor);
                encode(&commands, |encoder| {
                    bind(encoder, &x, 0, 0);
                    bind(encoder, &y, 0, 1);
                    bind_u32(encoder, 3, 2);
                    dispatch(encoder, &scale, 64);
                });
                finish(&commands).unwrap();
                let expected = [1.0, 2.0, 3.0].map(|x| x * factor as f32);
                assert_eq!(values(&y), expected);
            }
        });
    }
}

#[test]
fn threadgroup_memory_comes_with_the_dispatch() {
    test(Settings::default(), || {
        let device = device();
        let start: Vec<f32> = (0..64).map(|n| n as f32).collect();
        let y = floats(&device, &start);
        let commands = commands(&device);
        encode(&commands, |encoder| {
            encoder.setComputePipelineState(&pipeline(&device, "reverse"));
            bind(encoder, &y, 0, 0);
            // SAFETY: 32 floats.
            unsafe { encoder.setThreadgroupMemoryLength_atIndex(128, 0) };
            encoder.dispatchThreadgroups_threadsPerThreadgroup(size(2), size(32));
        });
        finish(&commands).unwrap();
        let expected: Vec<f32> = (0..32).rev().chain((32..64).rev()).map(|n| n as f32).collect();
        assert_eq!(values(&y), expected);
    });
}

#[test]
fn a_source_that_does_not_compile_is_an_error_with_the_place() {
    test(Settings::default(), || {
        let device = device();
        let source =
            NSString::from_str("#include <metal_stdlib>\nkernel void broken(int x) { y; }\n");
        let options = MTLCompileOptions::new();
        options.setMathMode(MTLMathMode::Safe);
        let error = device.newLibraryWithSource_options_error(&source, Some(&options)).unwrap_err();
        assert_eq!(error.domain().to_string(), "MTLLibraryErrorDomain");
        let text = error.localizedDescription().to_string();
        assert!(text.contains("library.metal:2:"), "{text}");
    });
}

#[test]
fn address_spaces_are_types() {
    test(Settings::default(), || {
        let source = NSString::from_str(
            "#line 7 \"own.metal\"\nkernel void mixed(device float* x [[buffer(0)]],\n\
             threadgroup float* y [[threadgroup(0)]]) {\n  x = y;\n}\n",
        );
        let made = device().newLibraryWithSource_options_error(&source, None);
        let text = made.unwrap_err().localizedDescription().to_string();
        assert!(text.contains("own.metal:9:"), "{text}");
    });
}

#[test]
fn a_library_knows_its_kernels() {
    test(Settings::default(), || {
        let device = device();
        let library = library(&device);
        let names = library.functionNames();
        let names: Vec<String> = names.to_vec().iter().map(ToString::to_string).collect();
        assert_eq!(names, ["scale", "increment", "reverse"]);
        let missing = NSString::from_str("scales");
        assert!(library.newFunctionWithName(&missing).is_none());
        let constants = MTLFunctionConstantValues::new();
        let found = library.newFunctionWithName_constantValues_error(&missing, &constants);
        let text = found.unwrap_err().localizedDescription().to_string();
        assert!(text.contains("no kernel `scales`") && text.contains("reverse"), "{text}");
    });
}

#[test]
fn a_pipeline_has_the_limits_of_device_and_descriptor() {
    test(Settings { profile: Profile::SMALL, ..Settings::default() }, || {
        let device = device();
        let increment = pipeline(&device, "increment");
        assert_eq!(increment.maxTotalThreadsPerThreadgroup(), 512);
        assert_eq!(increment.threadExecutionWidth(), 32);
        let descriptor = MTLComputePipelineDescriptor::new();
        let function = library(&device).newFunctionWithName(&NSString::from_str("increment"));
        descriptor.setComputeFunction(function.as_deref());
        descriptor.setLabel(Some(&NSString::from_str("one more")));
        descriptor.setMaxTotalThreadsPerThreadgroup(64);
        let made = device.newComputePipelineStateWithDescriptor_options_reflection_error(
            &descriptor,
            MTLPipelineOption::None,
            None,
        );
        let made = made.unwrap();
        assert_eq!(made.maxTotalThreadsPerThreadgroup(), 64);
        assert_eq!(made.label().unwrap().to_string(), "one more");
        let commands = commands(&device);
        encode(&commands, |encoder| {
            encoder.setComputePipelineState(&made);
            encoder.dispatchThreads_threadsPerThreadgroup(size(128), size(128));
        });
        expect_misuse(Rule::Dispatch, "128 threads a threadgroup, at most 64");
    });
}

#[test]
fn what_a_kernel_does_wrong_fails_its_command_buffer() {
    test(Settings { record: true, ..Settings::default() }, || {
        let device = device();
        let y = floats(&device, &[0.0; 32]);
        let commands = commands(&device);
        encode(&commands, |encoder| {
            bind(encoder, &y, 0, 0);
            dispatch(encoder, &pipeline(&device, "increment"), 33);
        });
        let text = finish(&commands).unwrap_err();
        assert!(text.contains("out-of-bounds: kernel increment"), "{text}");
        assert!(text.contains("library.metal:12:"), "{text}");
        let outcomes = objc::take_outcomes();
        assert_eq!(outcomes.len(), 1);
        assert!(!outcomes[0].reports.is_empty());
    });
}

#[test]
fn traffic_of_each_launch_can_be_had() {
    test(Settings { watch: Watch::Traffic, record: true, ..Settings::default() }, || {
        let device = device();
        let y = floats(&device, &[0.0; 64]);
        let increment = pipeline(&device, "increment");
        let commands = commands(&device);
        encode(&commands, |encoder| {
            bind(encoder, &y, 0, 0);
            dispatch(encoder, &increment, 64);
            dispatch(encoder, &increment, 32);
        });
        finish(&commands).unwrap();
        let outcomes = objc::take_outcomes();
        assert_eq!(outcomes.iter().map(|outcome| outcome.traffic.len()).sum::<usize>(), 2);
    });
}

#[test]
fn a_slice_is_watched_as_if_it_stood_alone() {
    test(Settings::default(), || {
        let device = device();
        let y = floats(&device, &[0.0; 64]);
        let increment = pipeline(&device, "increment");
        for (threads, fits) in [(32, true), (33, false)] {
            let commands = commands(&device);
            encode(&commands, |encoder| {
                bind_slice(encoder, &y, 0, 128, 0);
                dispatch(encoder, &increment, threads);
            });
            assert_eq!(finish(&commands).is_ok(), fits, "{threads} threads");
        }
    });
}

#[test]
fn kernels_keep_their_place_in_the_source() {
    // The reports above name lines of this file.
    let line = SOURCE.lines().position(|line| line.contains("y[i] += 1")).unwrap() + 1;
    assert_eq!(line, 12);
}
