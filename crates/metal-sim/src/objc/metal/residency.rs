//! `MTLResidencySet`: which allocations are to stay in memory.

use super::buffer::Buffer;
use super::descriptors::ResidencySetDescriptor;
use super::label::Label;
use crate::objc::abi::ErrorSlot;
use crate::objc::class::{Class, Methods, class, methods};
use crate::objc::foundation::{Domain, Failure, set_error};
use crate::objc::object::{Body, Id, Strong};
use crate::objc::reports::{Rule, report};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

class!(RESIDENCY_SET, RESIDENCY_SET_META, "MetalSimResidencySet", None, declare);

/// A residency set: changes take effect at `commit`.
pub(super) struct ResidencySet {
    label: Label,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    committed: Vec<Arc<Buffer>>,
    pending: Vec<Arc<Buffer>>,
    changed: bool,
}

impl Body for ResidencySet {
    fn class() -> &'static Class {
        &RESIDENCY_SET
    }
}

impl ResidencySet {
    pub(super) fn make(descriptor: Id, error: ErrorSlot) -> Id {
        let Some(descriptor) = descriptor.get::<ResidencySetDescriptor>("the descriptor") else {
            let text = "a residency set needs a descriptor, found nil".to_owned();
            set_error(error, Failure { domain: Domain::ResidencySet, code: 1, text });
            return Id::NIL;
        };
        let label = Label::default();
        label.set(descriptor.label.object());
        Strong::new(Self { label, state: Mutex::default() }).give()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, allocation: Id) {
        let Some(buffer) = allocation.get::<Buffer>("addAllocation:") else { return };
        let mut state = self.lock();
        if !state.pending.iter().any(|held| Arc::ptr_eq(held, &buffer)) {
            state.pending.push(buffer);
            state.changed = true;
        }
    }

    fn remove(&self, allocation: Id) {
        let Some(buffer) = allocation.get::<Buffer>("removeAllocation:") else { return };
        let mut state = self.lock();
        let before = state.pending.len();
        state.pending.retain(|held| !Arc::ptr_eq(held, &buffer));
        state.changed |= state.pending.len() < before;
    }

    fn commit(&self) {
        let mut state = self.lock();
        state.committed = state.pending.clone();
        state.changed = false;
    }

    fn request(&self) {
        if self.lock().changed {
            let text = "requestResidency with changes that were not committed: they have no effect";
            report(Rule::Residency, text);
        }
    }
}

/// The objects that a C array holds.
fn objects(array: *const Id, count: usize) -> Vec<Id> {
    // SAFETY: the caller passes so many objects.
    (0..count).map(|place| unsafe { *array.wrapping_add(place) }).collect()
}

fn declare(table: &mut Methods) {
    super::label::labelled!(table, ResidencySet);
    methods! { table, ResidencySet;
        c"addAllocation:" = |set, allocation: Id| { set.add(allocation); }
        c"addAllocations:count:" = |set, array: *const Id, count: usize| {
            objects(array, count).into_iter().for_each(|allocation| set.add(allocation));
        }
        c"removeAllocation:" = |set, allocation: Id| { set.remove(allocation); }
        c"removeAllAllocations" = |set| {
            let mut state = set.lock();
            state.changed |= !state.pending.is_empty();
            state.pending.clear();
        }
        c"containsAllocation:" = |set, allocation: Id| -> u8 {
            let buffer = allocation.get::<Buffer>("containsAllocation:");
            let holds = |buffer: &Arc<Buffer>| {
                set.lock().pending.iter().any(|held| Arc::ptr_eq(held, buffer))
            };
            u8::from(buffer.as_ref().is_some_and(holds))
        }
        c"allocationCount" = |set| -> usize { set.lock().pending.len() }
        c"allocatedSize" = |set| -> u64 {
            set.lock().committed.iter().map(|buffer| buffer.memory.len() as u64).sum()
        }
        c"commit" = |set| { set.commit(); }
        c"requestResidency" = |set| { set.request(); }
        c"endResidency" = |_set| {}
    }
}
