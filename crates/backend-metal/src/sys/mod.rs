//! Metal, through `objc2-metal`: every unsafe call of the crate, behind entries that check lengths.
//!
//! On Apple's platforms these calls reach Metal; in simulator builds they reach metal-sim, which
//! executes the same kernels and checks what Metal leaves unchecked.

mod capture;
mod completion;
mod gpu;
mod pass;
mod residency;

pub(crate) use capture::Capture;
pub(crate) use completion::Completion;
pub(crate) use gpu::{Buffer, Gpu, Library, Pipeline};
pub(crate) use pass::{Commands, ComputePass};
pub(crate) use residency::Residency;
