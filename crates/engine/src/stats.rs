//! Numbers about an engine and its work.

use minfer_plan::DeviceKind;

/// Memory that an engine uses on its devices, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryPlan {
    /// Each device.
    pub devices: Vec<DeviceMemory>,
    /// Bytes of weights on all of them.
    pub weights_bytes: u64,
    /// Bytes of KV pages on all of them.
    pub kv_bytes: u64,
    /// Bytes of arenas on all of them.
    pub arena_bytes: u64,
    /// Positions of the longest sequence.
    pub context: usize,
    /// Which layers are where, and why.
    pub placement: String,
}

/// Memory on one device, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceMemory {
    /// Its family.
    pub kind: DeviceKind,
    /// Its name.
    pub name: String,
    /// Layers placed on it.
    pub layers: usize,
    /// Weights, as stored in the file.
    pub weights_bytes: u64,
    /// KV pages of all groups.
    pub kv_bytes: u64,
    /// The arena and staging areas of the largest step.
    pub arena_bytes: u64,
}

/// A moment of an engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EngineStats {
    /// Sequences that hold pages.
    pub running: usize,
    /// Sequences that wait.
    pub waiting: usize,
    /// Pages that no one holds, of all KV groups.
    pub free_pages: usize,
    /// Pages that the prefix cache alone holds and gives back when needed.
    pub cached_pages: usize,
    /// All pages.
    pub total_pages: usize,
    /// Steps that ran.
    pub steps: u64,
    /// Admissions that found a start in the prefix cache.
    pub prefix_hits: u64,
    /// Tokens that came from there.
    pub prefix_tokens: u64,
    /// Sequences that had to give their pages back and start over.
    pub preempted: u64,
}

/// What the launches of one op and kernel took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpProfile {
    /// The op.
    pub op: &'static str,
    /// The kernel, as launches name it.
    pub kernel: String,
    /// Launches.
    pub calls: u64,
    /// Nanoseconds in all of them.
    pub nanoseconds: u64,
    /// Nanoseconds in which the host encoded them; 0 where it ran them itself.
    pub encoding: u64,
    /// Bytes of weights and activations read and written.
    pub bytes: u64,
    /// Multiply-accumulates.
    pub macs: u64,
}

/// How long the host waited for devices that work while it goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitProfile {
    /// Submits that were waited for.
    pub submits: u64,
    /// Nanoseconds in all of them.
    pub nanoseconds: u64,
}

/// A 64-bit hash of rows of logits: equal bits, equal hash, on every machine.
///
/// Eight lanes are 64-bit FNV-1a over 32-bit words. Lane j starts with the offset basis plus j and
/// takes words j, j + 8, j + 16, … of each row (the bits of its f32 values), row after row, by
/// `h = (h ^ word) · prime`. The value is the same step over the lanes in order, from the offset
/// basis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogitsHash([u64; LANES]);

const LANES: usize = 8;
const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

impl Default for LogitsHash {
    fn default() -> LogitsHash {
        LogitsHash(std::array::from_fn(|lane| OFFSET_BASIS.wrapping_add(lane as u64)))
    }
}

impl LogitsHash {
    /// Takes a row in.
    pub fn push(&mut self, row: &[f32]) {
        for words in row.chunks(LANES) {
            for (lane, word) in self.0.iter_mut().zip(words) {
                *lane = mix(*lane, u64::from(word.to_bits()));
            }
        }
    }

    /// The hash of the rows so far.
    pub fn value(self) -> u64 {
        self.0.iter().fold(OFFSET_BASIS, |hash, lane| mix(hash, *lane))
    }
}

fn mix(hash: u64, word: u64) -> u64 {
    (hash ^ word).wrapping_mul(PRIME)
}

#[cfg(test)]
#[path = "stats_tests.rs"]
mod tests;
