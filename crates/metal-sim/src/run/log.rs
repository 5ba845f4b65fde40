//! Findings of a running launch, until they become reports.
//!
//! Fibers have small stacks, so they note addresses; names of places are looked up afterwards.
#![expect(unsafe_code, reason = "file names come as C strings")]

use std::ffi::CStr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::core::Core;
use crate::abi;
use crate::place::Place;
use crate::report::Kind;

/// Where something was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spot {
    /// The kernel as a whole.
    Kernel,
    /// A place of the source.
    Place(Place),
    /// An instruction of the library.
    Instruction(usize),
}

impl Spot {
    /// A place that the library passed; the kernel as a whole where it passed none.
    pub fn of(site: abi::Site) -> Spot {
        if site.file.is_null() || site.line == 0 {
            return Spot::Kernel;
        }
        // SAFETY: a string of the library, which is loaded while its kernel runs.
        let file = unsafe { CStr::from_ptr(site.file) };
        let file = file.to_string_lossy().into_owned();
        Spot::Place(Place { file, line: site.line, column: site.column })
    }

    /// The call that returns to this address.
    pub fn before(pc: u64) -> Spot {
        Spot::Instruction((pc as usize).saturating_sub(1))
    }
}

/// One finding.
#[derive(Clone, Debug)]
pub struct Finding {
    pub kind: Kind,
    pub spot: Spot,
    pub thread: Option<[u32; 3]>,
    pub threadgroup: Option<[u32; 3]>,
    pub text: String,
}

/// The findings of one launch, each kind once a place.
pub struct Log {
    found: Mutex<Vec<Finding>>,
    limit: usize,
}

impl Log {
    /// Keeps this many.
    pub fn new(limit: usize) -> Log {
        Log { found: Mutex::new(Vec::new()), limit: limit.max(1) }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Finding>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a finding unless its like is there; false once there is no room for another.
    pub fn add(&self, finding: Finding) -> bool {
        let mut found = self.lock();
        let alike = |old: &Finding| old.kind == finding.kind && old.spot == finding.spot;
        if found.len() < self.limit && !found.iter().any(alike) {
            found.push(finding);
        }
        found.len() < self.limit
    }

    /// Adds a finding although it may stand at the same place as another.
    pub fn add_always(&self, finding: Finding) {
        self.lock().push(finding);
    }

    /// Whether anything was found.
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// All of them, in the order they were found.
    pub fn take(&self) -> Vec<Finding> {
        std::mem::take(&mut *self.lock())
    }
}

impl Core {
    /// Notes what a thread of the running threadgroup did.
    pub fn report(&self, kind: Kind, thread: usize, spot: Spot, text: String) {
        let Some(dispatch) = self.dispatch() else { return };
        let thread = Some(self.position_of(thread));
        let threadgroup = Some(self.position.get());
        let room = dispatch.log.add(Finding { kind, spot, thread, threadgroup, text });
        if !room {
            // The next rendezvous or access sees it.
            self.killed.set(true);
            self.steps.set(0);
        }
    }

    /// Notes what the running thread did, and ends the launch.
    pub fn fail(&self, kind: Kind, spot: Spot, text: String) -> ! {
        self.report(kind, self.current.get(), spot, text);
        self.kill()
    }
}

/// How texts give a position.
pub fn point([x, y, z]: [u32; 3]) -> String {
    format!("({x},{y},{z})")
}
