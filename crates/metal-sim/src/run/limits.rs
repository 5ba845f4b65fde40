//! What can be said of a launch before it runs: its arguments and the GPU's limits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32};

use super::dispatch::{Dispatch, Shape, Slice};
use super::log::{Finding, Log, Spot};
use super::{Simulator, core};
use crate::abi::{self, builtin};
use crate::launch::{Binding, Launch};
use crate::library::{Parameter, ParameterKind};
use crate::memory::Memory;
use crate::profile::Profile;
use crate::report::Kind;

/// Buffers of a kernel, at most; Metal has 31.
const BUFFERS: u32 = 31;

/// A launch being looked at.
struct Inspection<'a> {
    launch: &'a Launch,
    profile: &'a Profile,
    log: &'a Log,
}

/// The launch as the cores read it; none where something is wrong with it, which `log` then says.
pub fn inspect(simulator: &Simulator, launch: &Launch, log: &Arc<Log>) -> Option<Dispatch> {
    let inspection = Inspection { launch, profile: &simulator.profile, log };
    let shape = inspection.shape();
    inspection.threadgroup_memory();
    let slices = inspection.slices();
    if !log.is_empty() {
        return None;
    }
    let (shape, slices) = (shape?, slices?);
    let kernel = &launch.kernel;
    let mut arguments = abi::Arguments {
        buffer: [std::ptr::null_mut(); 32],
        threadgroup: [std::ptr::null_mut(); 32],
        builtin: [[0; 3]; abi::BUILTINS],
    };
    for slice in &slices {
        if let Some(buffer) = arguments.buffer.get_mut(slice.index as usize) {
            *buffer = slice.memory.ptr().wrapping_add(slice.offset);
        }
    }
    let values = &mut arguments.builtin;
    values[builtin::DISPATCH_THREADS_PER_THREADGROUP] = shape.size;
    values[builtin::THREADGROUPS_PER_GRID] = shape.groups;
    values[builtin::THREADS_PER_GRID] = shape.threads;
    values[builtin::THREADS_PER_SIMDGROUP][0] = abi::LANES as u32;
    Some(Dispatch {
        library: kernel.library().clone(),
        kernel: *kernel.raw(),
        name: kernel.name().to_owned(),
        arguments,
        slices,
        threadgroup_memory: launch.threadgroup_memory.clone(),
        shape,
        profile: simulator.profile,
        seed: simulator.seed,
        steps: simulator.steps,
        patience: simulator.patience,
        watch: simulator.watch,
        log: Arc::clone(log),
        next: AtomicU32::new(0),
        stop: AtomicBool::new(false),
    })
}

impl Inspection<'_> {
    fn found(&self, kind: Kind, text: String) {
        let spot = Spot::Kernel;
        self.log.add_always(Finding { kind, spot, thread: None, threadgroup: None, text });
    }

    fn shape(&self) -> Option<Shape> {
        let size = self.launch.threads_per_threadgroup;
        let threads = size.iter().map(|&side| u64::from(side)).product::<u64>();
        let most = self.profile.max_threads_per_threadgroup.min(core::THREADS as u32);
        let most = self.launch.kernel.max_threads().map_or(most, |threads| threads.min(most));
        if threads == 0 || threads > u64::from(most) {
            let text = format!("{threads} threads in a threadgroup; allowed are 1 to {most}");
            self.found(Kind::Limits, text);
            return None;
        }
        let shape = Shape::new(self.launch.grid, size);
        if shape.is_none() {
            let text = format!("a grid of {:?} has no threads or too many", self.launch.grid);
            self.found(Kind::Limits, text);
        }
        shape
    }

    fn threadgroup_memory(&self) {
        let mut total = 0_usize;
        for &(index, length) in &self.launch.threadgroup_memory {
            total = total.saturating_add(length);
            if index >= BUFFERS {
                let text = format!("threadgroup memory at index {index}; the last is 30");
                self.found(Kind::Limits, text);
            }
            if length % 16 != 0 {
                let text = format!(
                    "{length} bytes of threadgroup memory at index {index}: not a multiple of 16"
                );
                self.found(Kind::Limits, text);
            }
        }
        let most = self.profile.threadgroup_memory;
        if total > most as usize {
            let text = format!("{total} bytes of threadgroup memory; the GPU has {most}");
            self.found(Kind::Limits, text);
        }
        for parameter in self.launch.kernel.parameters() {
            let set = |&(index, length): &(u32, usize)| index == parameter.index && length > 0;
            let wanted = parameter.kind == ParameterKind::Threadgroup;
            if wanted && !self.launch.threadgroup_memory.iter().any(set) {
                let text = format!(
                    "no threadgroup memory for '{}' [[threadgroup({})]]",
                    parameter.name, parameter.index
                );
                self.found(Kind::Binding, text);
            }
        }
    }

    /// The slices of all buffer parameters.
    fn slices(&self) -> Option<Vec<Slice>> {
        for binding in &self.launch.bindings {
            if binding.index() >= BUFFERS {
                let text = format!("a buffer at index {}; the last is 30", binding.index());
                self.found(Kind::Limits, text);
            }
        }
        let parameters = self.launch.kernel.parameters();
        let buffers = parameters.iter().filter(|one| one.kind == ParameterKind::Buffer);
        buffers.map(|parameter| self.slice(parameter)).collect()
    }

    fn slice(&self, parameter: &Parameter) -> Option<Slice> {
        let Parameter { index, name, .. } = parameter;
        let called = format!("'{name}' [[buffer({index})]]");
        // As with Metal, the last one set counts.
        let binding = self.launch.bindings.iter().rev().find(|one| one.index() == *index);
        let Some(binding) = binding else {
            self.found(Kind::Binding, format!("nothing is bound to {called}"));
            return None;
        };
        let (memory, offset, length) = match binding {
            Binding::Buffer { memory, offset, length, .. } => {
                self.buffer(&called, memory, *offset, *length)?;
                (Arc::clone(memory), *offset, *length)
            }
            Binding::Bytes { bytes, .. } => (self.bytes(&called, bytes)?, 0, bytes.len()),
        };
        if parameter.reference && length < parameter.size {
            let text = format!("{called} takes {} bytes, {length} are bound", parameter.size);
            self.found(Kind::Binding, text);
        }
        if parameter.align > 1 && offset % parameter.align != 0 {
            let text = format!(
                "{called} is bound at offset {offset}; its type needs multiples of {}",
                parameter.align
            );
            self.found(Kind::Misaligned, text);
        }
        let (index, name) = (*index, name.clone());
        Some(Slice { index, memory, offset, length, writable: !parameter.constant, name })
    }

    fn buffer(&self, called: &str, memory: &Memory, offset: usize, length: usize) -> Option<()> {
        let most = self.profile.max_buffer_length;
        if memory.len() as u64 > most {
            let text =
                format!("{called} is a buffer of {} bytes; the GPU allows {most}", memory.len());
            self.found(Kind::Limits, text);
        }
        if offset.checked_add(length).is_none_or(|end| end > memory.len()) {
            let text = format!(
                "{called} is bound to {length} bytes from offset {offset} of a buffer of {}",
                memory.len()
            );
            self.found(Kind::Binding, text);
            return None;
        }
        Some(())
    }

    fn bytes(&self, called: &str, bytes: &[u8]) -> Option<Arc<Memory>> {
        let most = self.profile.argument_bytes;
        if bytes.len() > most as usize {
            let text = format!("{called} is given {} bytes; setBytes takes {most}", bytes.len());
            self.found(Kind::Limits, text);
        }
        match Memory::of(bytes) {
            Ok(memory) => Some(memory),
            Err(error) => {
                self.found(Kind::Binding, format!("{called}: {error}"));
                None
            }
        }
    }
}
