//! Copies and fills, and memory that the host cannot see.

use crate::layer::{
    Buffer, Commands, bind, commands, device, dispatch, encode, expect_misuse, finish, floats,
    pipeline, test, values,
};
use metal_sim::objc::{Rule, Settings};
use objc2::runtime::ProtocolObject;
use objc2_foundation::NSRange;
use objc2_metal::{
    MTLBlitCommandEncoder, MTLCommandBuffer as _, MTLCommandEncoder as _, MTLDevice as _,
    MTLResourceOptions,
};

type Blit = ProtocolObject<dyn MTLBlitCommandEncoder>;

fn blit(commands: &Commands, record: impl FnOnce(&Blit)) {
    let encoder = commands.blitCommandEncoder().unwrap();
    record(&encoder);
    encoder.endEncoding();
}

fn copy(encoder: &Blit, source: (&Buffer, usize), target: (&Buffer, usize), length: usize) {
    // SAFETY: what reaches past an end is reported.
    unsafe {
        encoder.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size(
            source.0, source.1, target.0, target.1, length,
        );
    }
}

#[test]
fn private_memory_is_filled_and_read_by_copies() {
    test(Settings::default(), || {
        let device = device();
        let options = MTLResourceOptions::StorageModePrivate;
        let private = device.newBufferWithLength_options(128, options).unwrap();
        let start = floats(&device, &[5.0; 32]);
        let result = floats(&device, &[0.0; 32]);
        let commands = commands(&device);
        blit(&commands, |encoder| copy(encoder, (&start, 0), (&private, 0), 128));
        encode(&commands, |encoder| {
            bind(encoder, &private, 0, 0);
            dispatch(encoder, &pipeline(&device, "increment"), 32);
        });
        blit(&commands, |encoder| copy(encoder, (&private, 64), (&result, 0), 64));
        finish(&commands).unwrap();
        assert_eq!(values(&result), [[6.0; 16], [0.0; 16]].concat());
    });
}

#[test]
fn private_memory_that_nobody_wrote_is_not_to_be_read() {
    test(Settings::default(), || {
        let device = device();
        let options = MTLResourceOptions::StorageModePrivate;
        let private = device.newBufferWithLength_options(128, options).unwrap();
        let commands = commands(&device);
        encode(&commands, |encoder| {
            bind(encoder, &private, 0, 0);
            dispatch(encoder, &pipeline(&device, "increment"), 32);
        });
        let text = finish(&commands).unwrap_err();
        assert!(text.contains("uninitialised"), "{text}");
    });
}

#[test]
fn a_fill_writes_its_range() {
    test(Settings::default(), || {
        let device = device();
        let buffer = floats(&device, &[1.0; 4]);
        let commands = commands(&device);
        blit(&commands, |encoder| {
            encoder.fillBuffer_range_value(&buffer, NSRange::new(4, 8), 0);
            encoder.fillBuffer_range_value(&buffer, NSRange::new(8, 9), 7);
            expect_misuse(Rule::Argument, "fillBuffer: 9 bytes from 8 of a buffer of 16 bytes");
        });
        finish(&commands).unwrap();
        assert_eq!(values(&buffer), [1.0, 0.0, 0.0, 1.0]);
    });
}
