//! The device's figures, and buffers.

use crate::layer::{device, expect_misuse, floats, test, values};
use block2::RcBlock;
use metal_sim::Profile;
use metal_sim::objc::{Rule, Settings};
use objc2_metal::{
    MTLBuffer as _, MTLCopyAllDevices, MTLDevice as _, MTLGPUFamily, MTLResourceOptions,
};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::rc::Rc;

#[test]
fn a_device_has_the_figures_of_its_profile() {
    test(Settings { profile: Profile::SMALL, ..Settings::default() }, || {
        let device = device();
        assert_eq!(device.name().to_string(), "Apple small");
        assert!(device.hasUnifiedMemory());
        assert_eq!(device.maxThreadgroupMemoryLength(), 16 << 10);
        assert_eq!(device.maxThreadsPerThreadgroup().width, 512);
        assert_eq!(device.maxBufferLength(), 1 << 28);
        let recommended = Profile::SMALL.recommended_working_set;
        assert_eq!(device.recommendedMaxWorkingSetSize(), recommended);
        let families = [MTLGPUFamily::Apple7, MTLGPUFamily::Apple8, MTLGPUFamily::Metal3];
        let supported = families.map(|family| device.supportsFamily(family));
        assert_eq!(supported, [true, false, true]);
    });
}

#[test]
fn the_list_of_devices_has_one() {
    test(Settings::default(), || {
        let names: Vec<_> = MTLCopyAllDevices().to_vec().iter().map(|one| one.name()).collect();
        assert_eq!(names, [device().name()]);
    });
}

#[test]
fn a_buffer_of_bytes_holds_a_copy_and_counts_until_it_is_released() {
    test(Settings::default(), || {
        let device = device();
        let buffer = floats(&device, &[1.0, 2.0, 3.0]);
        assert_eq!(values(&buffer), [1.0, 2.0, 3.0]);
        assert_eq!((buffer.length(), device.currentAllocatedSize()), (12, 12));
        drop(buffer);
        assert_eq!(device.currentAllocatedSize(), 0);
    });
}

#[test]
fn buffers_the_device_cannot_have_are_nil() {
    test(Settings { profile: Profile::SMALL, ..Settings::default() }, || {
        let device = device();
        let options = MTLResourceOptions::StorageModeShared;
        assert!(device.newBufferWithLength_options((1 << 28) + 1, options).is_none());
        assert!(device.newBufferWithLength_options(0, options).is_none());
        expect_misuse(Rule::Argument, "0 bytes");
    });
}

#[test]
fn memory_of_the_program_is_used_in_place_and_given_back() {
    test(Settings::default(), || {
        let layout = Layout::from_size_align(1 << 14, 1 << 14).unwrap();
        // SAFETY: the layout has a size.
        let memory = NonNull::new(unsafe { alloc_zeroed(layout) }).unwrap();
        let given_back = Rc::new(Cell::new(None));
        let given = Rc::clone(&given_back);
        let block = RcBlock::new(move |start: NonNull<c_void>, length: usize| {
            given.set(Some((start.as_ptr().addr(), length)));
        });
        let device = device();
        let wrap = |start: NonNull<u8>, length| {
            let options = MTLResourceOptions::StorageModeShared;
            // SAFETY: the memory outlives the buffer, whose end the test waits for.
            unsafe {
                device.newBufferWithBytesNoCopy_length_options_deallocator(
                    start.cast(),
                    length,
                    options,
                    Some(&block),
                )
            }
        };
        let buffer = wrap(memory, 1 << 14).unwrap();
        assert_eq!(buffer.contents().cast(), memory);
        assert_eq!(given_back.get(), None);
        drop(buffer);
        assert_eq!(given_back.take(), Some((memory.as_ptr().addr(), 1 << 14)));
        assert!(wrap(memory, 100).is_none());
        expect_misuse(Rule::Argument, "must both be whole pages");
        // SAFETY: allocated above with this layout, and no buffer is left.
        unsafe { dealloc(memory.as_ptr(), layout) };
    });
}
