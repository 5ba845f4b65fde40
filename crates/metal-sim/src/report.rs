//! What a run found, in a form that people and tests can read.

use std::fmt;

use crate::place::Place;

/// Kinds of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Device or constant memory outside the bound slice.
    OutOfBounds,
    /// Threadgroup memory outside its variable or argument.
    ThreadgroupOutOfBounds,
    /// Memory that nothing is bound to.
    Wild,
    /// Memory that nobody wrote.
    Uninitialised,
    /// Two threads of a launch touch a byte, one writes, and nothing orders them.
    Race,
    /// The same between two launches of one encoder.
    LaunchRace,
    /// A threadgroup barrier that not all threads reach alike.
    BarrierDivergence,
    /// A collective that not all lanes reach alike.
    SimdDivergence,
    /// A value asked of a lane that does not exist or has returned.
    InactiveLane,
    /// An address that its type does not allow.
    Misaligned,
    /// Undefined behaviour of the language.
    Undefined,
    /// An argument that is missing or too short.
    Binding,
    /// More than the GPU allows.
    Limits,
    /// A launch that does not end.
    Hang,
    /// A fault of the processor.
    Fault,
}

impl Kind {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::OutOfBounds => "out-of-bounds",
            Kind::ThreadgroupOutOfBounds => "threadgroup-out-of-bounds",
            Kind::Wild => "wild",
            Kind::Uninitialised => "uninitialised",
            Kind::Race => "race",
            Kind::LaunchRace => "launch-race",
            Kind::BarrierDivergence => "barrier-divergence",
            Kind::SimdDivergence => "simd-divergence",
            Kind::InactiveLane => "inactive-lane",
            Kind::Misaligned => "misaligned",
            Kind::Undefined => "undefined",
            Kind::Binding => "binding",
            Kind::Limits => "limits",
            Kind::Hang => "hang",
            Kind::Fault => "fault",
        }
    }
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// What it is.
    pub kind: Kind,
    /// The kernel's name.
    pub kernel: String,
    /// The thread's position in its threadgroup.
    pub thread: Option<[u32; 3]>,
    /// The threadgroup's position in the grid.
    pub threadgroup: Option<[u32; 3]>,
    /// Where in the source.
    pub place: Option<Place>,
    /// What happened, with the numbers.
    pub text: String,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        write!(f, "{}: kernel {}", self.kind.name(), self.kernel)?;
        if let Some([x, y, z]) = self.thread {
            write!(f, ", thread ({x},{y},{z})")?;
        }
        if let Some([x, y, z]) = self.threadgroup {
            let of = if self.thread.is_some() { " of" } else { "," };
            write!(f, "{of} threadgroup ({x},{y},{z})")?;
        }
        write!(f, ": {}", self.text)
    }
}
