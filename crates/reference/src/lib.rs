//! The executable definition of every op, and a device made of it.
//!
//! Each file of `op/` is the definition of the op of that name: scalar code, generic over
//! `Real`, so that one text has two readings. In [`Mode::Canonical`] it is the
//! sequence of f32 roundings of docs/numerics.md, which every CPU kernel reproduces bit for bit. In
//! [`Mode::F64`] the same formulas run in double precision and are the oracle of tolerances.
//! [`Reference`] is a [`Device`](minfer_plan::Device): it runs planned splits with these
//! definitions, in canonical mode within the planned memory, so that a wrong plan shows as wrong
//! numbers.
//!
//! Not here: speed, beyond what tests of small models need; and any shortcut that would need a
//! proof.

mod cache;
mod canonical;
mod device;
mod dot;
mod memory;
mod op;
mod real;
mod run;
mod tensor;
mod weights;

pub use canonical::exp;
pub use device::Reference;
pub use real::Mode;
