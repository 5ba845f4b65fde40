//! `MTLCommandQueue`: a thread that runs command buffers in the order of their commits, and one
//! that calls their handlers.

use super::command_buffer::CommandBuffer;
use super::descriptors::CommandBufferDescriptor;
use super::device::Device;
use super::label::{Label, labelled};
use super::residency::ResidencySet;
use crate::objc::class::{Class, Methods, class, methods};
use crate::objc::object::{Body, Id, Strong};
use crate::objc::pool::with_pool;
use crate::objc::reports::{Rule, report};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

class!(QUEUE, QUEUE_META, "MetalSimCommandQueue", None, declare);

/// A committed command buffer: its body, and the object that handlers get.
pub(super) struct Work {
    pub(super) buffer: Arc<CommandBuffer>,
    pub(super) object: Strong,
}

/// A queue. Its threads end when it and all its command buffers are gone.
pub(super) struct Queue {
    pub(super) device: Arc<Device>,
    label: Label,
    work: Sender<Work>,
    /// Command buffers made and not completed.
    pub(super) open: AtomicUsize,
    most: usize,
    residency: Mutex<Vec<Arc<ResidencySet>>>,
}

impl Body for Queue {
    fn class() -> &'static Class {
        &QUEUE
    }
}

impl Queue {
    /// A new queue; nil where the system gives no threads.
    pub(super) fn start(device: Arc<Device>, most: usize) -> Id {
        let (work, runs) = channel::<Work>();
        let (ran, done) = channel::<Work>();
        let name = |what: &str| thread::Builder::new().name(format!("metal-sim {what}"));
        let running = name("queue").spawn(move || run(&runs, &ran));
        let calling = name("handlers").spawn(move || finish(&done));
        if running.is_err() || calling.is_err() {
            return Id::NIL;
        }
        let (label, open, residency) = (Label::default(), AtomicUsize::new(0), Mutex::default());
        Strong::new(Self { device, label, work, open, most, residency }).give()
    }

    pub(super) fn submit(&self, work: Work) {
        // The threads end after this sender only.
        if self.work.send(work).is_err() {
            report(Rule::CommandBuffer, "the queue's thread has ended");
        }
    }

    /// A new command buffer, which keeps what it uses unless the program says that it does.
    fn command_buffer(self: &Arc<Self>, retains: bool) -> Id {
        if self.open.fetch_add(1, Ordering::Relaxed) >= self.most {
            let text = format!(
                "command buffer {} of a queue for {}: Metal waits here until one completes",
                self.most + 1,
                self.most
            );
            report(Rule::CommandBuffer, text);
        }
        Strong::new(CommandBuffer::new(Arc::clone(self), retains)).autorelease()
    }
}

fn run(work: &Receiver<Work>, ran: &Sender<Work>) {
    while let Ok(work) = work.recv() {
        with_pool(|| work.buffer.run(work.object.id()));
        if ran.send(work).is_err() {
            return;
        }
    }
}

fn finish(done: &Receiver<Work>) {
    while let Ok(work) = done.recv() {
        with_pool(|| work.buffer.finish(work.object.id()));
    }
}

fn declare(table: &mut Methods) {
    labelled!(table, Queue);
    methods! { table, Queue;
        c"device" = |queue| -> Id { Strong::of(Arc::clone(&queue.device)).autorelease() }
        c"commandBuffer" = |queue| -> Id { queue.command_buffer(true) }
        c"commandBufferWithUnretainedReferences" = |queue| -> Id { queue.command_buffer(false) }
        c"commandBufferWithDescriptor:" = |queue, descriptor: Id| -> Id {
            let descriptor = descriptor.get::<CommandBufferDescriptor>("the descriptor");
            queue.command_buffer(descriptor.is_none_or(|given| given.retains()))
        }
        c"addResidencySet:" = |queue, set: Id| {
            let Some(set) = set.get::<ResidencySet>("addResidencySet:") else { return };
            queue.residency.lock().unwrap_or_else(PoisonError::into_inner).push(set);
        }
        c"removeResidencySet:" = |queue, set: Id| {
            let Some(set) = set.get::<ResidencySet>("removeResidencySet:") else { return };
            let mut sets = queue.residency.lock().unwrap_or_else(PoisonError::into_inner);
            sets.retain(|kept| !Arc::ptr_eq(kept, &set));
        }
    }
}
