//! `MTLComputeCommandEncoder`: arguments, dispatches and the barriers between them.

use super::buffer::Buffer;
use super::command_buffer::CommandBuffer;
use super::execute::{Operation, Pass};
use super::label::{Label, labelled};
use super::pipeline::Pipeline;
use crate::objc::abi::{Range, Size};
use crate::objc::class::{Class, Methods, class, methods};
use crate::objc::object::{Body, Id};
use crate::objc::reports::{Rule, report};
use crate::{Binding, Grid, Launch};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

class!(COMPUTE_ENCODER, COMPUTE_ENCODER_META, "MetalSimComputeCommandEncoder", None, declare);

/// Indices of buffers, and of threadgroup memory.
const INDICES: usize = 31;

/// A compute encoder.
pub(super) struct ComputeEncoder {
    buffer: Arc<CommandBuffer>,
    label: Label,
    /// Whether launches may run at once.
    concurrent: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    ended: bool,
    pipeline: Option<Arc<Pipeline>>,
    slots: BTreeMap<u32, Slot>,
    threadgroup_memory: BTreeMap<u32, usize>,
    /// A barrier stands before the next launch.
    barrier: bool,
    pass: Pass,
}

/// What is bound at an index.
#[derive(Clone)]
enum Slot {
    Buffer { buffer: Arc<Buffer>, offset: usize, length: usize },
    Bytes(Vec<u8>),
}

impl Slot {
    fn binding(&self, index: u32) -> Binding {
        match self {
            Self::Buffer { buffer, offset, length } => {
                let memory = Arc::clone(&buffer.memory);
                Binding::Buffer { index, memory, offset: *offset, length: *length }
            }
            Self::Bytes(bytes) => Binding::Bytes { index, bytes: bytes.clone() },
        }
    }
}

impl Body for ComputeEncoder {
    fn class() -> &'static Class {
        &COMPUTE_ENCODER
    }

    fn released(&self) {
        if !self.lock().ended {
            report(Rule::Encoder, "a compute encoder was released without endEncoding");
        }
    }
}

impl ComputeEncoder {
    pub(super) fn new(buffer: Arc<CommandBuffer>, concurrent: bool) -> Self {
        Self { buffer, label: Label::default(), concurrent, state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state, while it takes commands; else a report.
    fn open(&self, call: &str) -> Option<MutexGuard<'_, State>> {
        let state = self.lock();
        if state.ended {
            report(Rule::Encoder, format!("{call} after endEncoding"));
            return None;
        }
        Some(state)
    }

    /// The same, with an index that can be bound.
    fn open_at(&self, call: &str, index: usize) -> Option<(MutexGuard<'_, State>, u32)> {
        let state = self.open(call)?;
        if index >= INDICES {
            report(Rule::Argument, format!("{call} at index {index}, at most {}", INDICES - 1));
            return None;
        }
        Some((state, u32::try_from(index).ok()?))
    }

    fn set_buffer(&self, buffer: Id, offset: usize, index: usize) {
        let call = "setBuffer:offset:atIndex:";
        let Some((mut state, index)) = self.open_at(call, index) else { return };
        if buffer.is_nil() {
            state.slots.remove(&index);
            return;
        }
        let Some(buffer) = buffer.get::<Buffer>(call) else { return };
        state.bind(call, buffer, offset, index);
    }

    fn set_offset(&self, offset: usize, index: usize) {
        let call = "setBufferOffset:atIndex:";
        let Some((mut state, index)) = self.open_at(call, index) else { return };
        match state.slots.get(&index) {
            Some(Slot::Buffer { buffer, .. }) => {
                let buffer = Arc::clone(buffer);
                state.bind(call, buffer, offset, index);
            }
            Some(Slot::Bytes(_)) | None => {
                report(Rule::Argument, format!("{call}: no buffer is bound at index {index}"));
            }
        }
    }

    fn set_bytes(&self, bytes: *const c_void, length: usize, index: usize) {
        let call = "setBytes:length:atIndex:";
        let Some((mut state, index)) = self.open_at(call, index) else { return };
        let most = self.buffer.queue.device.settings.profile.argument_bytes as usize;
        if bytes.is_null() || length == 0 || length > most {
            let text = format!("{call}: {length} bytes, at least 1 and at most {most}");
            report(Rule::Argument, text);
            return;
        }
        // SAFETY: the caller passes so many bytes.
        let bytes = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), length) };
        state.slots.insert(index, Slot::Bytes(bytes.to_vec()));
    }

    /// Narrows the slice that is bound at an index.
    fn set_length(&self, index: usize, wanted: usize) {
        let call = "metal_sim_bind_length";
        let Some((mut state, index)) = self.open_at(call, index) else { return };
        let Some(Slot::Buffer { buffer, offset, length }) = state.slots.get_mut(&index) else {
            report(Rule::Argument, format!("{call}: no buffer is bound at index {index}"));
            return;
        };
        if wanted > buffer.memory.len() - *offset {
            let what = buffer.describe();
            let text = format!("{call}: {wanted} bytes from {offset} at index {index} of {what}");
            report(Rule::Argument, text);
            return;
        }
        *length = wanted;
    }

    fn set_threadgroup_memory(&self, length: usize, index: usize) {
        let call = "setThreadgroupMemoryLength:atIndex:";
        let Some((mut state, index)) = self.open_at(call, index) else { return };
        if !length.is_multiple_of(16) {
            report(Rule::Argument, format!("{call}: {length} bytes are no multiple of 16"));
            return;
        }
        state.threadgroup_memory.insert(index, length);
    }

    fn dispatch(&self, call: &str, grid: fn([u32; 3]) -> Grid, extent: Size, threads: Size) {
        let Some(mut state) = self.open(call) else { return };
        let Some(pipeline) = state.pipeline.clone() else {
            report(Rule::Dispatch, format!("{call} without a pipeline: set one before"));
            return;
        };
        let name = pipeline.kernel.name();
        let (Some(extent), Some(threads_per_threadgroup)) = (extent.extents(), threads.extents())
        else {
            report(Rule::Dispatch, format!("{call} of {name}: {extent:?} of {threads:?} is empty"));
            return;
        };
        let count: u64 = threads_per_threadgroup.iter().map(|&n| u64::from(n)).product();
        if count > pipeline.max_threads as u64 {
            let most = pipeline.max_threads;
            let text = format!("{call} of {name}: {count} threads a threadgroup, at most {most}");
            report(Rule::Dispatch, text);
            return;
        }
        let launch = Launch {
            kernel: pipeline.kernel.clone(),
            bindings: state.slots.iter().map(|(index, slot)| slot.binding(*index)).collect(),
            threadgroup_memory: state.threadgroup_memory.iter().map(|(i, n)| (*i, *n)).collect(),
            grid: grid(extent),
            threads_per_threadgroup,
        };
        if state.barrier
            && let Some(omission) = &self.buffer.queue.device.settings.omission
            && let Some(before) = state.pass.launches.last()
            && omission.strikes(before.kernel.name(), launch.kernel.name())
        {
            state.barrier = false;
        }
        state.launch(launch, self.concurrent);
    }

    fn barrier(&self, call: &str) {
        let Some(mut state) = self.open(call) else { return };
        state.barrier = true;
    }

    fn end(&self) {
        let Some(mut state) = self.open("endEncoding") else { return };
        state.ended = true;
        let pass = std::mem::take(&mut state.pass);
        drop(state);
        let pass = (!pass.launches.is_empty()).then_some(Operation::Compute(pass));
        self.buffer.close_encoder(pass);
    }
}

impl State {
    /// Binds a buffer from an offset to its end.
    fn bind(&mut self, call: &str, buffer: Arc<Buffer>, offset: usize, index: u32) {
        match buffer.memory.len().checked_sub(offset).filter(|length| *length > 0) {
            Some(length) => {
                self.slots.insert(index, Slot::Buffer { buffer, offset, length });
            }
            None => {
                let what = buffer.describe();
                let text = format!("{call}: offset {offset} at index {index} is past {what}");
                report(Rule::Argument, text);
            }
        }
    }

    fn launch(&mut self, launch: Launch, concurrent: bool) {
        for slot in self.slots.values() {
            if let Slot::Buffer { buffer, .. } = slot {
                self.pass.buffers.push(Arc::clone(buffer));
            }
        }
        self.pass.launches.push(launch);
        self.pass.barriers.push(!concurrent || self.barrier);
        self.barrier = false;
    }
}

/// Tells the simulator how many bytes of the buffer at `index` belong to the argument: to be
/// called after `setBuffer:offset:atIndex:`, which binds all that follows the offset.
///
/// # Safety
/// `encoder` is a compute encoder.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn metal_sim_bind_length(
    encoder: *const c_void,
    index: usize,
    length: usize,
) {
    // SAFETY: the caller's promise.
    let encoder = unsafe { Id::from_raw(encoder) };
    if let Some(encoder) = encoder.get::<ComputeEncoder>("metal_sim_bind_length") {
        encoder.set_length(index, length);
    }
}

fn declare(table: &mut Methods) {
    labelled!(table, ComputeEncoder);
    declare_arguments(table);
    methods! { table, ComputeEncoder;
        c"dispatchType" = |encoder| -> usize { usize::from(encoder.concurrent) }
        c"dispatchThreadgroups:threadsPerThreadgroup:" = |encoder, groups: Size, threads: Size| {
            encoder.dispatch("dispatchThreadgroups:", Grid::Threadgroups, groups, threads);
        }
        c"dispatchThreads:threadsPerThreadgroup:" = |encoder, grid: Size, threads: Size| {
            encoder.dispatch("dispatchThreads:", Grid::Threads, grid, threads);
        }
        c"memoryBarrierWithScope:" = |encoder, _scope: usize| {
            encoder.barrier("memoryBarrierWithScope:");
        }
        c"memoryBarrierWithResources:count:" = |encoder, _resources: *const Id, _count: usize| {
            encoder.barrier("memoryBarrierWithResources:");
        }
        c"endEncoding" = |encoder| { encoder.end(); }
        c"pushDebugGroup:" = |_encoder, _name: Id| {}
        c"popDebugGroup" = |_encoder| {}
        c"insertDebugSignpost:" = |_encoder, _name: Id| {}
    }
}

fn declare_arguments(table: &mut Methods) {
    methods! { table, ComputeEncoder;
        c"setComputePipelineState:" = |encoder, pipeline: Id| {
            let call = "setComputePipelineState:";
            let (Some(mut state), Some(pipeline)) = (encoder.open(call), pipeline.get(call)) else {
                return;
            };
            state.pipeline = Some(pipeline);
        }
        c"setBuffer:offset:atIndex:" = |encoder, buffer: Id, offset: usize, index: usize| {
            encoder.set_buffer(buffer, offset, index);
        }
        c"setBuffers:offsets:withRange:" = |
            encoder, buffers: *const Id, offsets: *const usize, range: Range
        | {
            for place in 0..range.length {
                // SAFETY: the caller passes as many buffers as the range has.
                let buffer = unsafe { *buffers.wrapping_add(place) };
                // SAFETY: and as many offsets.
                let offset = unsafe { *offsets.wrapping_add(place) };
                encoder.set_buffer(buffer, offset, range.location.saturating_add(place));
            }
        }
        c"setBufferOffset:atIndex:" = |encoder, offset: usize, index: usize| {
            encoder.set_offset(offset, index);
        }
        c"setBytes:length:atIndex:" = |
            encoder, bytes: *const c_void, length: usize, index: usize
        | { encoder.set_bytes(bytes, length, index); }
        c"setThreadgroupMemoryLength:atIndex:" = |encoder, length: usize, index: usize| {
            encoder.set_threadgroup_memory(length, index);
        }
        c"useResource:usage:" = |encoder, resource: Id, _usage: usize| {
            if encoder.open("useResource:usage:").is_some() {
                resource.get::<Buffer>("useResource:usage:");
            }
        }
    }
}
