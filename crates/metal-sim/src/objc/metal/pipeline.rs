//! `MTLComputePipelineState`: a kernel that can be dispatched, and its limits.

use super::descriptors::PipelineDescriptor;
use super::device::Device;
use super::label::Label;
use super::library::Function;
use crate::Kernel;
use crate::abi::LANES;
use crate::objc::abi::ErrorSlot;
use crate::objc::class::{Class, Methods, class, methods};
use crate::objc::foundation::{Domain, Failure, Text, set_error};
use crate::objc::object::{Body, Id, Strong};
use std::sync::Arc;

class!(PIPELINE, PIPELINE_META, "MetalSimComputePipelineState", None, declare);

/// A pipeline.
pub(super) struct Pipeline {
    device: Arc<Device>,
    pub(super) kernel: Kernel,
    pub(super) max_threads: usize,
    label: String,
}

impl Body for Pipeline {
    fn class() -> &'static Class {
        &PIPELINE
    }
}

/// The smallest of what the device, the kernel and the descriptor (zero: nothing) allow.
fn max_threads(device: &Device, kernel: &Kernel, asked: usize) -> usize {
    let device = device.settings.profile.max_threads_per_threadgroup as usize;
    let kernel = kernel.max_threads().map_or(device, |threads| threads as usize);
    let asked = if asked == 0 { device } else { asked };
    device.min(kernel).min(asked)
}

/// `newComputePipelineStateWithFunction:error:`
pub(super) fn of_function(
    device: &Arc<Device>,
    function: Option<Arc<Function>>,
    error: ErrorSlot,
) -> Id {
    build(device, function, 0, String::new(), error)
}

/// `newComputePipelineStateWithDescriptor:options:reflection:error:`
pub(super) fn of_descriptor(
    device: &Arc<Device>,
    descriptor: &PipelineDescriptor,
    error: ErrorSlot,
) -> Id {
    let (label, asked) = (descriptor.label.get(), descriptor.max_threads());
    build(device, descriptor.function(), asked, label, error)
}

fn build(
    device: &Arc<Device>,
    function: Option<Arc<Function>>,
    asked: usize,
    label: String,
    error: ErrorSlot,
) -> Id {
    let Some(function) = function else {
        let text = "a compute pipeline needs a function, found nil".to_owned();
        set_error(error, Failure { domain: Domain::Pipeline, code: 1, text });
        return Id::NIL;
    };
    let kernel = function.kernel.clone();
    let max_threads = max_threads(device, &kernel, asked);
    let device = Arc::clone(device);
    Strong::new(Pipeline { device, kernel, max_threads, label }).give()
}

fn declare(table: &mut Methods) {
    methods! { table, Pipeline;
        c"device" = |pipeline| -> Id { Strong::of(Arc::clone(&pipeline.device)).autorelease() }
        c"label" = |pipeline| -> Id {
            let label = Label::default();
            let text = Strong::new(Text::new(&*pipeline.label));
            label.set(text.id());
            label.object()
        }
        c"maxTotalThreadsPerThreadgroup" = |pipeline| -> usize { pipeline.max_threads }
        c"threadExecutionWidth" = |_pipeline| -> usize { LANES }
        c"staticThreadgroupMemoryLength" = |pipeline| -> usize {
            pipeline.kernel.static_threadgroup_memory().next_multiple_of(16)
        }
    }
}
