//! What one render may cost.

use std::fmt;
use std::sync::Arc;

/// Bounds of one render. The default is meant for templates out of files nobody has read.
///
/// Time is bounded twice: by fuel, which is the same everywhere (a million steps take some 60 ms),
/// and by a deadline that the caller holds, because this crate reads no clock. The deadline is
/// asked at every piece of output, and before and during all work that is paid for by its size:
/// that of functions, methods and filters, and of operators on lists and long texts. Between two of
/// them only fuel bounds a loop.
#[derive(Clone)]
pub struct Limits {
    /// Longest template source, in bytes.
    pub source_bytes: usize,
    /// Deepest nesting of the source's statements, brackets and operators; each operator of a chain
    /// is a level.
    pub syntax_depth: usize,
    /// Steps of the template machine, for any request.
    pub fuel: u64,
    /// Further steps for each byte of the request's strings.
    pub fuel_per_byte: u64,
    /// Most steps, however long the request is. A step pays for 64 bytes of text or two slots of a
    /// list, so this bounds the memory too: to some 400 MB.
    pub fuel_max: u64,
    /// Deepest nesting of macros, blocks and loops, and of the request's JSON.
    pub depth: usize,
    /// Longest prompt, in bytes.
    pub output_bytes: usize,
    /// Says whether the time allowed (250 ms is ample) has passed.
    pub expired: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            source_bytes: 1 << 20,
            syntax_depth: 250,
            fuel: 1_000_000,
            fuel_per_byte: 200,
            fuel_max: 4_000_000,
            depth: 100,
            output_bytes: 4 << 20,
            expired: None,
        }
    }
}

impl Limits {
    /// These limits with a deadline.
    #[must_use]
    pub fn with_deadline(mut self, expired: impl Fn() -> bool + Send + Sync + 'static) -> Limits {
        self.expired = Some(Arc::new(expired));
        self
    }

    pub(crate) fn has_expired(&self) -> bool {
        self.expired.as_ref().is_some_and(|expired| expired())
    }

    pub(crate) fn fuel_for(&self, bytes: usize) -> u64 {
        let fuel = self.fuel.saturating_add(self.fuel_per_byte.saturating_mul(bytes as u64));
        fuel.min(self.fuel_max)
    }
}

impl fmt::Debug for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limits")
            .field("source_bytes", &self.source_bytes)
            .field("syntax_depth", &self.syntax_depth)
            .field("fuel", &self.fuel)
            .field("fuel_per_byte", &self.fuel_per_byte)
            .field("fuel_max", &self.fuel_max)
            .field("depth", &self.depth)
            .field("output_bytes", &self.output_bytes)
            .field("expired", &self.expired.is_some())
            .finish()
    }
}
