//! Integration tests, one module per concern.

mod by_hand;
mod clean;
mod compile;
mod detectors;
mod endless;
mod kernels;
mod language;
mod launches;
mod limits;
mod published;
mod traffic;

/// Whether tests must not be skipped.
fn is_required() -> bool {
    ["METAL_SIM_REQUIRED", "CI"].iter().any(|name| std::env::var_os(name).is_some())
}

/// The compiler. Where there is none, a test that needs it proves nothing and returns at once;
/// where tests must not be skipped it fails.
fn require() -> Option<metal_sim::Compiler> {
    match metal_sim::Compiler::find() {
        Ok(compiler) => Some(compiler),
        Err(metal_sim::CompileError::Missing { .. }) if !is_required() => None,
        Err(error) => panic!("{error}"),
    }
}
