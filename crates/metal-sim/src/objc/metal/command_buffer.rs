//! `MTLCommandBuffer`: what encoders recorded, run once.

use super::blit::BlitEncoder;
use super::buffer::Buffer;
use super::compute::ComputeEncoder;
use super::event::Event;
use super::execute::{self, Operation};
use super::label::{Label, labelled};
use super::queue::{Queue, Work};
use super::residency::ResidencySet;
use crate::objc::abi::{BlockPointer, Sel};
use crate::objc::block::Block;
use crate::objc::class::{Class, Methods, class, methods};
use crate::objc::foundation::Failure;
use crate::objc::object::{Body, Id, Strong};
use crate::objc::reports::{Rule, report};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

class!(COMMAND_BUFFER, COMMAND_BUFFER_META, "MetalSimCommandBuffer", None, declare);

/// `MTLCommandBufferStatus`
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(usize)]
enum Status {
    NotEnqueued = 0,
    Committed = 2,
    Scheduled = 3,
    Completed = 4,
    Error = 5,
}

/// A command buffer.
pub(super) struct CommandBuffer {
    pub(super) queue: Arc<Queue>,
    label: Label,
    retains: bool,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    status: Status,
    /// An encoder is open.
    encoding: bool,
    /// Handlers were called: nothing changes any more.
    finished: bool,
    operations: Vec<Operation>,
    scheduled: Vec<Block>,
    completed: Vec<Block>,
    failure: Option<Failure>,
    /// Seconds on the device's clock.
    start: f64,
    end: f64,
}

/// The device's clock: seconds since its first use.
fn now() -> f64 {
    static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    ORIGIN.elapsed().as_secs_f64()
}

impl Body for CommandBuffer {
    fn class() -> &'static Class {
        &COMMAND_BUFFER
    }

    fn released(&self) {
        let state = self.lock();
        if state.status == Status::NotEnqueued && !state.operations.is_empty() {
            let name = self.describe();
            report(Rule::CommandBuffer, format!("{name} was released with work and no commit"));
        }
    }
}

impl Drop for CommandBuffer {
    fn drop(&mut self) {
        if self.lock().status == Status::NotEnqueued {
            self.queue.open.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl CommandBuffer {
    pub(super) fn new(queue: Arc<Queue>, retains: bool) -> Self {
        let state = State {
            status: Status::NotEnqueued,
            encoding: false,
            finished: false,
            operations: Vec::new(),
            scheduled: Vec::new(),
            completed: Vec::new(),
            failure: None,
            start: 0.0,
            end: 0.0,
        };
        let (label, state, changed) = (Label::default(), Mutex::new(state), Condvar::new());
        Self { queue, label, retains, state, changed }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn describe(&self) -> String {
        let label = self.label.get();
        if label.is_empty() {
            "a command buffer".into()
        } else {
            format!("command buffer '{label}'")
        }
    }

    /// Whether it still takes work; else a report.
    fn is_open(&self, call: &str) -> bool {
        let committed = self.lock().status > Status::NotEnqueued;
        if committed {
            let name = self.describe();
            report(Rule::CommandBuffer, format!("{call} on {name} that was already committed"));
        }
        !committed
    }

    /// Opens an encoder; nil beside another one or after the commit.
    fn encoder(self: Arc<Self>, call: &str, make: impl FnOnce(Arc<Self>) -> Strong) -> Id {
        if !self.is_open(call) {
            return Id::NIL;
        }
        if std::mem::replace(&mut self.lock().encoding, true) {
            let text = format!("{call} while another encoder of {} is open", self.describe());
            report(Rule::Encoder, text);
            return Id::NIL;
        }
        make(self).autorelease()
    }

    /// Takes what an encoder has recorded, at its end.
    pub(super) fn close_encoder(&self, operations: impl IntoIterator<Item = Operation>) {
        let mut state = self.lock();
        state.encoding = false;
        if state.status == Status::NotEnqueued {
            state.operations.extend(operations);
        }
    }

    /// Records what stands outside encoders.
    fn record(&self, call: &str, operation: Operation) {
        if !self.is_open(call) {
            return;
        }
        let mut state = self.lock();
        if state.encoding {
            report(Rule::Encoder, format!("{call} while an encoder is open; end it before"));
        } else {
            state.operations.push(operation);
        }
    }

    fn commit(self: Arc<Self>, object: Id) {
        if !self.is_open("commit") {
            return;
        }
        if self.lock().encoding {
            let name = self.describe();
            let text = format!("commit of {name} with an open encoder, whose work is left out");
            report(Rule::Encoder, text);
        }
        self.lock().status = Status::Committed;
        let work = Work { object: Strong::retain(object), buffer: Arc::clone(&self) };
        self.queue.submit(work);
    }

    /// On the queue's thread: runs what was recorded.
    pub(super) fn run(&self, object: Id) {
        let (operations, scheduled) = {
            let mut state = self.lock();
            state.status = Status::Scheduled;
            state.start = now();
            (std::mem::take(&mut state.operations), std::mem::take(&mut state.scheduled))
        };
        self.changed.notify_all();
        call_all(&scheduled, object);
        let ran = catch_unwind(AssertUnwindSafe(|| execute::run(&operations, &self.queue.device)));
        let failure = ran.unwrap_or_else(|panic| Err(execute::panicked(&*panic))).err();
        self.check_references(&operations);
        let mut state = self.lock();
        state.end = now();
        state.failure = failure;
    }

    /// On the handlers' thread: completes and calls.
    pub(super) fn finish(&self, object: Id) {
        let handlers = {
            let mut state = self.lock();
            let failed = state.failure.is_some();
            state.status = if failed { Status::Error } else { Status::Completed };
            std::mem::take(&mut state.completed)
        };
        self.queue.open.fetch_sub(1, Ordering::Relaxed);
        call_all(&handlers, object);
        self.lock().finished = true;
        self.changed.notify_all();
    }

    /// Buffers that the program let go of before the end, where it said that it keeps them.
    fn check_references(&self, operations: &[Operation]) {
        let gone = |buffer: &&Buffer| buffer.released.load(Ordering::Relaxed);
        let used = || operations.iter().flat_map(Operation::buffers).find(gone);
        if let Some(buffer) = (!self.retains).then(used).flatten() {
            let (what, name) = (buffer.describe(), self.describe());
            let text =
                format!("{what} was released before {name}, which does not retain it, ended");
            report(Rule::Ownership, text);
        }
    }

    fn wait(&self, call: &str, done: impl Fn(&State) -> bool) {
        let state = self.lock();
        if state.status == Status::NotEnqueued {
            let text = format!("{call} before commit of {} waits for ever", self.describe());
            report(Rule::CommandBuffer, text);
            return;
        }
        let waited = self.changed.wait_while(state, |state| !done(state));
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    fn add_handler(
        &self,
        call: &str,
        block: BlockPointer,
        list: fn(&mut State) -> &mut Vec<Block>,
    ) {
        if let Some(block) = self.is_open(call).then(|| Block::copy(block)).flatten() {
            list(&mut self.lock()).push(block);
        }
    }
}

/// Calls handlers, one after the other. A panic in one must not end the queue's thread, for which
/// others wait.
fn call_all(handlers: &[Block], object: Id) {
    for handler in handlers {
        if catch_unwind(AssertUnwindSafe(|| handler.call(object))).is_err() {
            report(Rule::CommandBuffer, "a handler of a command buffer panicked");
        }
    }
}

fn declare(table: &mut Methods) {
    extern "C-unwind" fn commit(object: Id, _: Sel) {
        object.receiver::<CommandBuffer>().commit(object);
    }
    table.add(c"commit", commit as extern "C-unwind" fn(Id, Sel));
    labelled!(table, CommandBuffer);
    declare_encoders(table);
    methods! { table, CommandBuffer;
        c"device" = |buffer| -> Id { Strong::of(Arc::clone(&buffer.queue.device)).autorelease() }
        c"commandQueue" = |buffer| -> Id { Strong::of(Arc::clone(&buffer.queue)).autorelease() }
        c"retainedReferences" = |buffer| -> u8 { u8::from(buffer.retains) }
        c"status" = |buffer| -> usize { buffer.lock().status as usize }
        c"error" = |buffer| -> Id {
            let failure = buffer.lock().failure.clone();
            failure.map_or(Id::NIL, |failure| Strong::new(failure).autorelease())
        }
        c"GPUStartTime" = |buffer| -> f64 { buffer.lock().start }
        c"GPUEndTime" = |buffer| -> f64 { buffer.lock().end }
        c"kernelStartTime" = |buffer| -> f64 { buffer.lock().start }
        c"kernelEndTime" = |buffer| -> f64 { buffer.lock().end }
        c"waitUntilScheduled" = |buffer| {
            buffer.wait("waitUntilScheduled", |state| state.status >= Status::Scheduled);
        }
        c"waitUntilCompleted" = |buffer| {
            buffer.wait("waitUntilCompleted", |state| state.finished);
        }
        c"addScheduledHandler:" = |buffer, block: BlockPointer| {
            buffer.add_handler("addScheduledHandler:", block, |state| &mut state.scheduled);
        }
        c"addCompletedHandler:" = |buffer, block: BlockPointer| {
            buffer.add_handler("addCompletedHandler:", block, |state| &mut state.completed);
        }
    }
}

fn declare_encoders(table: &mut Methods) {
    methods! { table, CommandBuffer;
        c"computeCommandEncoder" = |buffer| -> Id {
            buffer.encoder("computeCommandEncoder", |b| Strong::new(ComputeEncoder::new(b, false)))
        }
        c"computeCommandEncoderWithDispatchType:" = |buffer, kind: usize| -> Id {
            let call = "computeCommandEncoderWithDispatchType:";
            buffer.encoder(call, |b| Strong::new(ComputeEncoder::new(b, kind == 1)))
        }
        c"blitCommandEncoder" = |buffer| -> Id {
            buffer.encoder("blitCommandEncoder", |b| Strong::new(BlitEncoder::new(b)))
        }
        c"encodeSignalEvent:value:" = |buffer, event: Id, value: u64| {
            if let Some(event) = event.get::<Event>("encodeSignalEvent:") {
                buffer.record("encodeSignalEvent:", Operation::Signal(event, value));
            }
        }
        c"encodeWaitForEvent:value:" = |buffer, event: Id, value: u64| {
            if let Some(event) = event.get::<Event>("encodeWaitForEvent:") {
                buffer.record("encodeWaitForEvent:", Operation::Wait(event, value));
            }
        }
        c"useResidencySet:" = |buffer, set: Id| {
            if set.get::<ResidencySet>("useResidencySet:").is_some() {
                buffer.is_open("useResidencySet:");
            }
        }
        c"pushDebugGroup:" = |_buffer, _name: Id| {}
        c"popDebugGroup" = |_buffer| {}
    }
}
