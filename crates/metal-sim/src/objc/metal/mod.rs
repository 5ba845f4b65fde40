//! Metal's objects, as far as compute programs use them.

mod blit;
mod buffer;
mod capture;
mod command_buffer;
mod compute;
mod constants;
mod data;
mod descriptors;
mod device;
mod event;
mod execute;
mod label;
mod library;
mod pipeline;
mod queue;
mod residency;

pub(super) use blit::BLIT_ENCODER;
pub(super) use buffer::BUFFER;
pub(super) use capture::{CAPTURE_DESCRIPTOR, CAPTURE_MANAGER};
pub(super) use command_buffer::COMMAND_BUFFER;
pub(super) use compute::COMPUTE_ENCODER;
pub use compute::metal_sim_bind_length;
pub(super) use constants::CONSTANT_VALUES;
pub(super) use data::DATA;
pub(super) use descriptors::{
    COMMAND_BUFFER_DESCRIPTOR, COMPILE_OPTIONS, PIPELINE_DESCRIPTOR, RESIDENCY_SET_DESCRIPTOR,
};
pub(super) use device::DEVICE;
pub(super) use event::EVENT;
pub(super) use library::{FUNCTION, LIBRARY};
pub(super) use pipeline::PIPELINE;
pub(super) use queue::QUEUE;
pub(super) use residency::RESIDENCY_SET;
