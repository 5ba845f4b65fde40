//! What a program must not do with encoders and command buffers: one report each, no effect.

use crate::layer::{
    Commands, bind, bind_slice, bind_u32, commands, device, dispatch, encode, expect_misuse,
    finish, floats, pipeline, size, test, values,
};
use metal_sim::objc::{Rule, Settings};
use objc2::rc::autoreleasepool;
use objc2_foundation::NSRange;
use objc2_metal::{MTLCommandBuffer as _, MTLCommandEncoder as _, MTLComputeCommandEncoder as _};
use std::ptr::NonNull;

/// A test that has a command buffer.
fn with_commands(body: impl FnOnce(Commands)) {
    test(Settings::default(), || body(commands(&device())));
}

#[test]
fn an_encoder_that_was_not_ended() {
    with_commands(|commands| {
        autoreleasepool(|_| drop(commands.computeCommandEncoder().unwrap()));
        expect_misuse(Rule::Encoder, "released without endEncoding");
    });
}

#[test]
fn a_commit_with_an_open_encoder() {
    with_commands(|commands| {
        let encoder = commands.computeCommandEncoder().unwrap();
        finish(&commands).unwrap();
        expect_misuse(Rule::Encoder, "with an open encoder");
        encoder.endEncoding();
    });
}

#[test]
fn two_commits() {
    with_commands(|commands| {
        finish(&commands).unwrap();
        commands.commit();
        expect_misuse(Rule::CommandBuffer, "commit on a command buffer that was already committed");
        assert!(commands.computeCommandEncoder().is_none());
        expect_misuse(Rule::CommandBuffer, "computeCommandEncoder on");
    });
}

#[test]
fn two_encoders_at_once() {
    with_commands(|commands| {
        let encoder = commands.computeCommandEncoder().unwrap();
        assert!(commands.blitCommandEncoder().is_none());
        expect_misuse(Rule::Encoder, "while another encoder");
        encoder.endEncoding();
        assert!(commands.blitCommandEncoder().map(|blit| blit.endEncoding()).is_some());
    });
}

#[test]
fn an_encoder_after_its_end() {
    test(Settings::default(), || {
        let device = device();
        let commands = commands(&device);
        let encoder = commands.computeCommandEncoder().unwrap();
        encoder.endEncoding();
        encoder.endEncoding();
        expect_misuse(Rule::Encoder, "endEncoding after endEncoding");
        bind(&encoder, &floats(&device, &[0.0]), 0, 0);
        expect_misuse(Rule::Encoder, "setBuffer:offset:atIndex: after endEncoding");
    });
}

#[test]
fn arguments_out_of_range() {
    test(Settings::default(), || {
        let device = device();
        let buffer = floats(&device, &[0.0; 4]);
        encode(&commands(&device), |encoder| {
            bind(encoder, &buffer, 16, 0);
            expect_misuse(Rule::Argument, "offset 16 at index 0 is past a buffer of 16 bytes");
            bind(encoder, &buffer, 0, 31);
            expect_misuse(Rule::Argument, "at index 31, at most 30");
            bind_slice(encoder, &buffer, 4, 16, 0);
            expect_misuse(Rule::Argument, "metal_sim_bind_length: 16 bytes from 4 at index 0");
            let bytes = [0_u8; 4097];
            // SAFETY: so many bytes are there.
            unsafe { encoder.setBytes_length_atIndex(NonNull::from(&bytes).cast(), 4097, 0) };
            expect_misuse(Rule::Argument, "4097 bytes, at least 1 and at most 4096");
            // SAFETY: reported.
            unsafe { encoder.setThreadgroupMemoryLength_atIndex(20, 0) };
            expect_misuse(Rule::Argument, "20 bytes are no multiple of 16");
            // SAFETY: reported.
            unsafe { encoder.setBufferOffset_atIndex(4, 7) };
            expect_misuse(Rule::Argument, "no buffer is bound at index 7");
        });
    });
}

#[test]
fn several_buffers_are_checked_one_by_one() {
    test(Settings::default(), || {
        let device = device();
        let y = floats(&device, &[1.0; 32]);
        let commands = commands(&device);
        encode(&commands, |encoder| {
            let buffers: [*const _; 2] = [&raw const *y, &raw const *y];
            let (buffers, offsets) =
                (NonNull::from(&buffers).cast(), NonNull::from(&[0_usize, 128]));
            // SAFETY: two of each; the second offset is reported.
            unsafe {
                encoder.setBuffers_offsets_withRange(buffers, offsets.cast(), NSRange::new(0, 2));
            }
            expect_misuse(Rule::Argument, "offset 128 at index 1 is past a buffer of 128 bytes");
            dispatch(encoder, &pipeline(&device, "increment"), 32);
        });
        finish(&commands).unwrap();
        assert_eq!(values(&y), [2.0; 32]);
    });
}

#[test]
fn dispatches_that_cannot_run() {
    test(Settings::default(), || {
        let device = device();
        let y = floats(&device, &[0.0; 32]);
        let increment = pipeline(&device, "increment");
        let commands = commands(&device);
        encode(&commands, |encoder| {
            bind(encoder, &y, 0, 0);
            encoder.dispatchThreadgroups_threadsPerThreadgroup(size(1), size(32));
            expect_misuse(Rule::Dispatch, "without a pipeline");
            encoder.setComputePipelineState(&increment);
            encoder.dispatchThreadgroups_threadsPerThreadgroup(size(0), size(32));
            expect_misuse(Rule::Dispatch, "is empty");
            encoder.dispatchThreadgroups_threadsPerThreadgroup(size(1), size(1025));
            expect_misuse(Rule::Dispatch, "1025 threads a threadgroup, at most 1024");
        });
        finish(&commands).unwrap();
        assert_eq!(values(&y), [0.0; 32]);
    });
}

#[test]
fn a_wait_before_the_commit() {
    with_commands(|commands| {
        commands.waitUntilCompleted();
        expect_misuse(Rule::CommandBuffer, "waitUntilCompleted before commit");
    });
}

#[test]
fn work_that_is_never_committed() {
    test(Settings::default(), || {
        let device = device();
        let increment = pipeline(&device, "increment");
        autoreleasepool(|_| {
            encode(&commands(&device), |encoder| {
                bind_u32(encoder, 0, 0);
                dispatch(encoder, &increment, 1);
            });
        });
        expect_misuse(Rule::CommandBuffer, "released with work and no commit");
    });
}
