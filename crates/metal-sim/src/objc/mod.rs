//! Metal's objects and the Objective-C runtime below them, for programs that are written against
//! Metal and linked here instead: `newLibraryWithSource` compiles with clang, `commit` runs the
//! kernels.
//!
//! Rust programs reach it through the crate `objc2-metal`, built for this platform with the
//! features `gnustep-2-1` and without the attribute that links Apple's framework. Type codes are
//! complete, so `objc2` checks every message. Command buffers run in order on a thread of their
//! queue, handlers on another one.
//!
//! A mistake of the program is a value in [`take_misuse`]; the call that made it has no effect. A
//! message to a released object or one that does not exist panics, as Apple's runtime throws.
//! What kernels do wrong makes their command buffer fail, with the report as its error's text.
//!
//! The length of a binding is unknown to Metal. A program that calls [`metal_sim_bind_length`]
//! beside `setBuffer:offset:atIndex:` has each slice of a buffer watched as if it stood alone.
//!
//! Not here: textures, rendering, heaps, argument buffers, indirect commands, Metal 4. Barriers
//! order all of memory, whatever resources they name. Encoders of a queue run one after the other,
//! so what an untracked resource would need fences for is not seen.
#![expect(unsafe_code, reason = "the border with callers that speak C")]

mod abi;
mod block;
mod class;
pub mod faults;
mod foundation;
mod metal;
mod object;
mod pool;
mod reports;
mod selector;
mod settings;

pub use class::live_objects;
pub use metal::metal_sim_bind_length;
pub use reports::{Misuse, Rule, take_misuse};
pub use settings::{Omission, Settings, configure, take_outcomes};

use class::Class;

/// Every class there is.
static CLASSES: &[&Class] = &[
    &foundation::NS_ARRAY,
    &foundation::NS_ERROR,
    &foundation::NS_STRING,
    &foundation::NS_URL,
    &metal::BLIT_ENCODER,
    &metal::BUFFER,
    &metal::CAPTURE_DESCRIPTOR,
    &metal::CAPTURE_MANAGER,
    &metal::COMMAND_BUFFER,
    &metal::COMMAND_BUFFER_DESCRIPTOR,
    &metal::COMPILE_OPTIONS,
    &metal::COMPUTE_ENCODER,
    &metal::CONSTANT_VALUES,
    &metal::DATA,
    &metal::DEVICE,
    &metal::EVENT,
    &metal::FUNCTION,
    &metal::LIBRARY,
    &metal::PIPELINE,
    &metal::PIPELINE_DESCRIPTOR,
    &metal::QUEUE,
    &metal::RESIDENCY_SET,
    &metal::RESIDENCY_SET_DESCRIPTOR,
];
