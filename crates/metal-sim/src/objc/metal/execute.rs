//! Running what command buffers recorded.

use super::buffer::Buffer;
use super::capture;
use super::device::Device;
use super::event::Event;
use crate::objc::faults::{self, Fault};
use crate::objc::foundation::{Domain, Failure};
use crate::objc::settings::{self, Settings};
use crate::{Launch, Outcome, Simulator};
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// `MTLCommandBufferError`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(isize)]
enum Code {
    Internal = 1,
    Timeout = 2,
    PageFault = 3,
    DeviceRemoved = 11,
}

/// One thing that a command buffer does.
pub(super) enum Operation {
    /// A compute encoder.
    Compute(Pass),
    /// A copy between buffers.
    Copy { source: Span, target: Span },
    /// A fill with one byte.
    Fill { target: Span, value: u8 },
    /// Sets an event.
    Signal(Arc<Event>, u64),
    /// Waits for an event.
    Wait(Arc<Event>, u64),
}

/// A part of a buffer; the encoder has checked that it lies inside.
pub(super) struct Span {
    pub(super) buffer: Arc<Buffer>,
    pub(super) offset: usize,
    pub(super) length: usize,
}

impl Span {
    /// A copy of its bytes.
    fn bytes(&self) -> Vec<u8> {
        let start = self.buffer.memory.ptr().wrapping_add(self.offset);
        // SAFETY: the span lies inside its buffer, whose memory lives as long as the span.
        unsafe { std::slice::from_raw_parts(start, self.length) }.to_vec()
    }
}

/// The launches of one encoder.
#[derive(Default)]
pub(super) struct Pass {
    pub(super) launches: Vec<Launch>,
    /// Whether a barrier stands before the launch of this index.
    pub(super) barriers: Vec<bool>,
    /// Keeps the program's memory until the launches have run.
    pub(super) buffers: Vec<Arc<Buffer>>,
}

fn failure(code: Code, text: impl Into<String>) -> Failure {
    Failure { domain: Domain::CommandBuffer, code: code as isize, text: text.into() }
}

/// What the panic of a run comes to.
pub(super) fn panicked(payload: &dyn Any) -> Failure {
    let text = payload.downcast_ref::<String>().map_or("no text", String::as_str);
    let text = payload.downcast_ref::<&str>().copied().unwrap_or(text);
    failure(Code::Internal, format!("the simulator panicked: {text}"))
}

/// Runs all, up to the first failure.
pub(super) fn run(operations: &[Operation], device: &Device) -> Result<(), Failure> {
    if faults::strikes(Fault::DeviceLost) {
        device.lost.store(true, Ordering::Relaxed);
    }
    if device.lost.load(Ordering::Relaxed) {
        return Err(failure(Code::DeviceRemoved, "the device was lost; make a new one"));
    }
    if faults::strikes(Fault::CommandBuffer) {
        return Err(failure(Code::Internal, "a fault was injected; nothing has run"));
    }
    if faults::strikes(Fault::Hang) {
        faults::hang();
        return Err(failure(Code::Timeout, "a hang was injected, and released now"));
    }
    operations.iter().try_for_each(|operation| operation.run(device))
}

impl Operation {
    /// The buffers it uses.
    pub(super) fn buffers(&self) -> Vec<&Buffer> {
        match self {
            Self::Compute(pass) => pass.buffers.iter().map(|buffer| &**buffer).collect(),
            Self::Copy { source, target } => vec![&source.buffer, &target.buffer],
            Self::Fill { target, .. } => vec![&target.buffer],
            Self::Signal(..) | Self::Wait(..) => Vec::new(),
        }
    }

    fn run(&self, device: &Device) -> Result<(), Failure> {
        match self {
            Self::Compute(pass) => pass.run(device),
            Self::Copy { source, target } => {
                target.buffer.memory.write(target.offset, &source.bytes());
                Ok(())
            }
            Self::Fill { target, value } => {
                target.buffer.memory.write(target.offset, &vec![*value; target.length]);
                Ok(())
            }
            Self::Signal(event, value) => {
                event.signal(*value);
                Ok(())
            }
            Self::Wait(event, value) => {
                let timeout = device.settings.timeout;
                let text = || format!("no event of value {value} within {timeout:?}");
                let in_time = event.wait(*value, timeout);
                in_time.then_some(()).ok_or_else(|| failure(Code::Timeout, text()))
            }
        }
    }
}

impl Pass {
    fn run(&self, device: &Device) -> Result<(), Failure> {
        capture::note(device, &self.launches);
        let settings = &device.settings;
        let Settings { profile, workers, seed, watch, patience, .. } = *settings;
        let simulator = Simulator { workers, seed, watch, patience, ..Simulator::new(profile) };
        let outcome = simulator.run_concurrent(&self.launches, &self.barriers);
        let found = describe(&outcome);
        if settings.record {
            settings::remember(outcome);
        }
        found.map_or(Ok(()), |text| Err(failure(Code::PageFault, text)))
    }
}

/// The reports, one a line; none if there are none.
fn describe(outcome: &Outcome) -> Option<String> {
    if outcome.reports.is_empty() {
        return outcome.stopped.then(|| "a launch was stopped".to_owned());
    }
    let lines: Vec<String> = outcome.reports.iter().map(ToString::to_string).collect();
    Some(lines.join("\n"))
}
