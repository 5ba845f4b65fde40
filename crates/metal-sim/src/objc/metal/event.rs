//! `MTLEvent` and `MTLSharedEvent`: a number that only grows, and those who wait for it.

use crate::objc::class::{Class, Methods, class, methods};
use crate::objc::object::Body;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

class!(EVENT, EVENT_META, "MetalSimEvent", None, declare);

/// An event.
#[derive(Default)]
pub(super) struct Event {
    value: Mutex<u64>,
    changed: Condvar,
}

impl Event {
    pub(super) fn signal(&self, value: u64) {
        *self.value.lock().unwrap_or_else(PoisonError::into_inner) = value;
        self.changed.notify_all();
    }

    /// Waits until the value is at least this; whether it was in time.
    pub(super) fn wait(&self, value: u64, timeout: Duration) -> bool {
        let now = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(now, timeout, |now| *now < value);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }
}

impl Body for Event {
    fn class() -> &'static Class {
        &EVENT
    }
}

fn declare(table: &mut Methods) {
    methods! { table, Event;
        c"signaledValue" = |event| -> u64 {
            *event.value.lock().unwrap_or_else(PoisonError::into_inner)
        }
        c"setSignaledValue:" = |event, value: u64| { event.signal(value); }
        c"waitUntilSignaledValue:timeoutMS:" = |event, value: u64, milliseconds: u64| -> u8 {
            u8::from(event.wait(value, Duration::from_millis(milliseconds)))
        }
    }
}
