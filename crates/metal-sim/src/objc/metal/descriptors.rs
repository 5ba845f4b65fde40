//! Descriptors and options: objects that the program makes and fills.

use super::label::{Label, labelled};
use super::library::Function;
use crate::objc::class::{Class, Methods, class, methods};
use crate::objc::object::{Body, Id};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

class!(
    COMPILE_OPTIONS,
    COMPILE_OPTIONS_META,
    "MTLCompileOptions",
    Some(|| Arc::new(CompileOptions)),
    declare_options
);
class!(
    COMMAND_BUFFER_DESCRIPTOR,
    COMMAND_BUFFER_DESCRIPTOR_META,
    "MTLCommandBufferDescriptor",
    Some(|| Arc::<CommandBufferDescriptor>::default()),
    declare_command_buffer
);
class!(
    PIPELINE_DESCRIPTOR,
    PIPELINE_DESCRIPTOR_META,
    "MTLComputePipelineDescriptor",
    Some(|| Arc::<PipelineDescriptor>::default()),
    declare_pipeline
);
class!(
    RESIDENCY_SET_DESCRIPTOR,
    RESIDENCY_SET_DESCRIPTOR_META,
    "MTLResidencySetDescriptor",
    Some(|| Arc::<ResidencySetDescriptor>::default()),
    declare_residency
);

/// Options of a library. Kernels are always compiled alike: as safe mathematics has it.
pub(super) struct CompileOptions;

impl Body for CompileOptions {
    fn class() -> &'static Class {
        &COMPILE_OPTIONS
    }
}

fn declare_options(table: &mut Methods) {
    methods! { table, CompileOptions;
        c"setFastMathEnabled:" = |_options, _enabled: u8| {}
        c"setLanguageVersion:" = |_options, _version: usize| {}
        c"setMathFloatingPointFunctions:" = |_options, _functions: isize| {}
        c"setMathMode:" = |_options, _mode: isize| {}
        c"setMaxTotalThreadsPerThreadgroup:" = |_options, _count: usize| {}
        c"setOptimizationLevel:" = |_options, _level: isize| {}
        c"setPreserveInvariance:" = |_options, _preserve: u8| {}
    }
}

/// How a pipeline is to be made.
#[derive(Default)]
pub(super) struct PipelineDescriptor {
    pub(super) label: Label,
    function: Mutex<Option<Arc<Function>>>,
    /// Zero where the program does not say.
    max_threads: AtomicUsize,
}

impl PipelineDescriptor {
    pub(super) fn function(&self) -> Option<Arc<Function>> {
        self.function.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn max_threads(&self) -> usize {
        self.max_threads.load(Ordering::Relaxed)
    }
}

impl Body for PipelineDescriptor {
    fn class() -> &'static Class {
        &PIPELINE_DESCRIPTOR
    }
}

fn declare_pipeline(table: &mut Methods) {
    labelled!(table, PipelineDescriptor);
    methods! { table, PipelineDescriptor;
        c"setComputeFunction:" = |descriptor, function: Id| {
            let function = function.get::<Function>("setComputeFunction:");
            *descriptor.function.lock().unwrap_or_else(PoisonError::into_inner) = function;
        }
        c"setMaxTotalThreadsPerThreadgroup:" = |descriptor, count: usize| {
            descriptor.max_threads.store(count, Ordering::Relaxed);
        }
        c"setThreadGroupSizeIsMultipleOfThreadExecutionWidth:" = |_descriptor, _multiple: u8| {}
    }
}

/// How a command buffer is to be made.
#[derive(Default)]
pub(super) struct CommandBufferDescriptor {
    unretained: AtomicBool,
}

impl CommandBufferDescriptor {
    pub(super) fn retains(&self) -> bool {
        !self.unretained.load(Ordering::Relaxed)
    }
}

impl Body for CommandBufferDescriptor {
    fn class() -> &'static Class {
        &COMMAND_BUFFER_DESCRIPTOR
    }
}

fn declare_command_buffer(table: &mut Methods) {
    methods! { table, CommandBufferDescriptor;
        c"retainedReferences" = |descriptor| -> u8 { u8::from(descriptor.retains()) }
        c"setRetainedReferences:" = |descriptor, retains: u8| {
            descriptor.unretained.store(retains == 0, Ordering::Relaxed);
        }
        c"setErrorOptions:" = |_descriptor, _options: usize| {}
    }
}

/// How a residency set is to be made.
#[derive(Default)]
pub(super) struct ResidencySetDescriptor {
    pub(super) label: Label,
}

impl Body for ResidencySetDescriptor {
    fn class() -> &'static Class {
        &RESIDENCY_SET_DESCRIPTOR
    }
}

fn declare_residency(table: &mut Methods) {
    labelled!(table, ResidencySetDescriptor);
    methods! { table, ResidencySetDescriptor;
        c"setInitialCapacity:" = |_descriptor, _capacity: usize| {}
    }
}
