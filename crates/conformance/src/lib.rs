//! Cases for every op and tiny models of every architecture, run on any
//! [`Device`](minfer_plan::Device) and compared with the reference.
//!
//! Cases belong to the op, runs to the device: a new device gets all of them by one line, and a new
//! op is not done before its file in `ops/` has cases. A case sweeps what has hidden faults before:
//! tile edges ± 1, odd sizes, dispatch thresholds ± 1. Operands lie between guard values that must
//! survive, weights between bytes that read as NaN.

mod case;
mod compare;
mod models;
pub mod ops;
mod report;
mod run;
mod seeded;
mod time;
mod tiny;
mod variants;

pub use case::{Case, CaseBuilder, CaseStep};
pub use compare::{Difference, Tolerance, compare};
pub use models::{TinyModel, TinyRows, TinyRun, run_tiny, tiny_logits};
pub use report::{lowered, support};
pub use run::{MakeDevice, Outcome, Verdict, check, check_all, judge, run};
pub use seeded::Seeded;
pub use time::{Timed, time};
pub use tiny::{blueprint_file, tiny_file};
pub use variants::{cached, in_bucket, of_kind, size, tight};
