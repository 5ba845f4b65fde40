//! Faults on purpose, and what is left after them.

use crate::layer::{
    bind, commands, device, dispatch, encode, finish, floats, library, pipeline, test, values,
};
use metal_sim::objc::Settings;
use metal_sim::objc::faults::{Fault, arm, release_hangs};
use objc2_foundation::NSString;
use objc2_metal::{
    MTLCommandBuffer as _, MTLCommandBufferStatus, MTLDevice as _, MTLLibrary as _,
    MTLResourceOptions,
};

/// The code of a command buffer's error.
fn code(commands: &crate::layer::Commands) -> isize {
    commands.error().unwrap().code()
}

#[test]
fn a_command_buffer_fails_once_and_has_no_effect() {
    test(Settings::default(), || {
        let device = device();
        let y = floats(&device, &[0.0; 32]);
        let increment = pipeline(&device, "increment");
        let run = || {
            let commands = commands(&device);
            encode(&commands, |encoder| {
                bind(encoder, &y, 0, 0);
                dispatch(encoder, &increment, 32);
            });
            finish(&commands).map_err(|_| code(&commands))
        };
        arm(Fault::CommandBuffer, 1);
        assert_eq!([run(), run(), run()], [Ok(()), Err(1), Ok(())]);
        assert_eq!(values(&y), [2.0; 32]);
    });
}

#[test]
fn a_hang_ends_when_it_is_released() {
    test(Settings::default(), || {
        let device = device();
        let commands = commands(&device);
        arm(Fault::Hang, 0);
        commands.commit();
        std::thread::sleep(std::time::Duration::from_millis(50));
        assert!(commands.status() < MTLCommandBufferStatus::Completed);
        release_hangs();
        commands.waitUntilCompleted();
        assert_eq!((commands.status(), code(&commands)), (MTLCommandBufferStatus::Error, 2));
    });
}

#[test]
fn memory_is_not_to_be_had() {
    test(Settings::default(), || {
        let device = device();
        let options = MTLResourceOptions::StorageModeShared;
        arm(Fault::Allocation, 0);
        assert!(device.newBufferWithLength_options(16, options).is_none());
        assert!(device.newBufferWithLength_options(16, options).is_some());
    });
}

#[test]
fn a_kernel_is_missing() {
    test(Settings::default(), || {
        let library = library(&device());
        let name = NSString::from_str("increment");
        arm(Fault::MissingKernel, 0);
        assert!(library.newFunctionWithName(&name).is_none());
        assert!(library.newFunctionWithName(&name).is_some());
    });
}

#[test]
fn a_lost_device_stays_lost_and_a_new_one_works() {
    test(Settings::default(), || {
        let lost = device();
        arm(Fault::DeviceLost, 0);
        for _ in 0..2 {
            let commands = commands(&lost);
            assert!(finish(&commands).unwrap_err().contains("device was lost"));
            assert_eq!(code(&commands), 11);
        }
        finish(&commands(&device())).unwrap();
    });
}
