//! The engine with the device `metal-sim`: the two reference models, tiny models spread over GPU
//! and CPU, and the ways in which a file can lie on disk.

#[path = "../../../../crates/engine/tests/golden/data.rs"]
mod data;
mod files;
mod golden;
mod layers;
#[path = "../../../../crates/engine/tests/golden/text.rs"]
mod text;
mod tiny;
