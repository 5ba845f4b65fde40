//! The smallest device layer: what tests need of Metal, with its unsafe calls in one place.

use metal_sim::objc::{self, Misuse, Rule, Settings};
use objc2::rc::{Retained, autoreleasepool};
use objc2::runtime::ProtocolObject;
use objc2_foundation::NSString;
use objc2_metal::{
    MTLBuffer, MTLCommandBuffer, MTLCommandEncoder as _, MTLCommandQueue, MTLComputeCommandEncoder,
    MTLComputePipelineState, MTLCreateSystemDefaultDevice, MTLDevice, MTLDispatchType, MTLLibrary,
    MTLResourceOptions, MTLSize,
};
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

pub type Device = Retained<ProtocolObject<dyn MTLDevice>>;
pub type Buffer = Retained<ProtocolObject<dyn MTLBuffer>>;
pub type Library = Retained<ProtocolObject<dyn MTLLibrary>>;
pub type Pipeline = Retained<ProtocolObject<dyn MTLComputePipelineState>>;
pub type Commands = Retained<ProtocolObject<dyn MTLCommandBuffer>>;
pub type Encoder = ProtocolObject<dyn MTLComputeCommandEncoder>;

/// The kernels that tests run.
pub const SOURCE: &str = include_str!("kernels.metal");

/// Misuse, faults and the count of objects are the process's, so tests run one after the other.
/// A test fails if it leaves an object alive or a misuse unread.
pub fn test(settings: Settings, body: impl FnOnce()) {
    static ONE: Mutex<()> = Mutex::new(());
    let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    objc::configure(settings);
    objc::faults::disarm();
    objc::take_misuse();
    objc::take_outcomes();
    let before = objc::live_objects();
    autoreleasepool(|_| body());
    assert_eq!(objc::take_misuse(), []);
    assert_eq!(settled(&before), before, "objects are still alive");
    drop(one);
}

/// The count of objects, once the queues' threads have let go of theirs.
fn settled(wanted: &[(&'static str, usize)]) -> Vec<(&'static str, usize)> {
    for _ in 0..200 {
        if objc::live_objects() == wanted {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    objc::live_objects()
}

/// The one misuse since the last call.
#[track_caller]
pub fn expect_misuse(rule: Rule, text: &str) {
    let found = objc::take_misuse();
    let [Misuse { rule: found_rule, text: found_text }] = &found[..] else {
        panic!("expected one misuse, found {found:?}");
    };
    assert!(*found_rule == rule && found_text.contains(text), "{found:?}");
}

pub fn device() -> Device {
    MTLCreateSystemDefaultDevice().unwrap()
}

/// The library of [`SOURCE`].
pub fn library(device: &Device) -> Library {
    let source = NSString::from_str(SOURCE);
    let compiled = device.newLibraryWithSource_options_error(&source, None);
    compiled.unwrap_or_else(|error| panic!("{}", error.localizedDescription()))
}

pub fn pipeline(device: &Device, kernel: &str) -> Pipeline {
    let function = library(device).newFunctionWithName(&NSString::from_str(kernel)).unwrap();
    device.newComputePipelineStateWithFunction_error(&function).unwrap()
}

pub fn commands(device: &Device) -> Commands {
    device.newCommandQueue().unwrap().commandBuffer().unwrap()
}

/// A shared buffer of these values.
pub fn floats(device: &Device, values: &[f32]) -> Buffer {
    let bytes = NonNull::from(values).cast();
    let options = MTLResourceOptions::StorageModeShared;
    // SAFETY: the slice has four bytes a value.
    unsafe { device.newBufferWithBytes_length_options(bytes, values.len() * 4, options) }.unwrap()
}

/// The values of a shared buffer.
pub fn values(buffer: &Buffer) -> Vec<f32> {
    let start = buffer.contents().cast::<f32>().as_ptr();
    // SAFETY: the buffer has so many bytes, and tests wait for what writes them.
    unsafe { std::slice::from_raw_parts(start, buffer.length() / 4) }.to_vec()
}

pub fn bind(encoder: &Encoder, buffer: &Buffer, offset: usize, index: usize) {
    // SAFETY: what is wrong with the offset or the index is reported.
    unsafe { encoder.setBuffer_offset_atIndex(Some(buffer), offset, index) };
}

/// Binds a slice of a buffer whose length the simulator watches.
pub fn bind_slice(encoder: &Encoder, buffer: &Buffer, offset: usize, length: usize, index: usize) {
    bind(encoder, buffer, offset, index);
    let raw = std::ptr::from_ref(encoder).cast();
    // SAFETY: an encoder.
    unsafe { objc::metal_sim_bind_length(raw, index, length) };
}

pub fn bind_u32(encoder: &Encoder, value: u32, index: usize) {
    // SAFETY: four bytes.
    unsafe { encoder.setBytes_length_atIndex(NonNull::from(&value).cast(), 4, index) };
}

pub fn size(width: usize) -> MTLSize {
    MTLSize { width, height: 1, depth: 1 }
}

/// Dispatches threads along one axis, 32 a threadgroup.
pub fn dispatch(encoder: &Encoder, pipeline: &Pipeline, threads: usize) {
    encoder.setComputePipelineState(pipeline);
    encoder.dispatchThreads_threadsPerThreadgroup(size(threads), size(32));
}

/// Records one encoder.
pub fn encode(commands: &Commands, record: impl FnOnce(&Encoder)) {
    let encoder = commands.computeCommandEncoder().unwrap();
    record(&encoder);
    encoder.endEncoding();
}

/// Records one encoder whose dispatches may run at once.
pub fn encode_concurrent(commands: &Commands, record: impl FnOnce(&Encoder)) {
    let kind = MTLDispatchType::Concurrent;
    let encoder = commands.computeCommandEncoderWithDispatchType(kind).unwrap();
    record(&encoder);
    encoder.endEncoding();
}

/// Commits and waits; the error's text, if there is one.
pub fn finish(commands: &Commands) -> Result<(), String> {
    commands.commit();
    commands.waitUntilCompleted();
    commands.error().map_or(Ok(()), |error| Err(error.localizedDescription().to_string()))
}
