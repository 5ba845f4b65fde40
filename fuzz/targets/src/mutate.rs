//! Changes to inputs: seeded, so that a run can be repeated.

/// Longest input that is made.
pub const BYTES_MAX: usize = 32 << 10;

/// Numbers at which code turns.
const EDGES: [u64; 20] = [
    0,
    1,
    2,
    7,
    8,
    31,
    32,
    63,
    64,
    127,
    128,
    255,
    256,
    0x7FFF,
    0xFFFF,
    0x7FFF_FFFF,
    0x8000_0000,
    0xFFFF_FFFF,
    0x7FFF_FFFF_FFFF_FFFF,
    u64::MAX,
];

/// A source of changed inputs.
#[derive(Debug, Clone)]
pub struct Mutator {
    state: u64,
}

impl Mutator {
    /// The changes of one seed.
    pub fn new(seed: u64) -> Mutator {
        Mutator { state: seed }
    }

    /// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators).
    fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.state ^ self.state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    /// A number below `end`; zero when there is none.
    pub fn below(&mut self, end: usize) -> usize {
        (self.bits() % end.max(1) as u64) as usize
    }

    /// An input of the pool with one to eight changes. The newest are taken most often.
    pub fn input(&mut self, pool: &[Vec<u8>], dictionary: &[&str]) -> Vec<u8> {
        if pool.is_empty() {
            return Vec::new();
        }
        let newest = 64.min(pool.len());
        let at = match self.below(3) {
            0 => pool.len() - 1 - self.below(newest),
            _ => self.below(pool.len()),
        };
        let mut input = pool[at].clone();
        for _ in 0..1 << self.below(4) {
            self.change(&mut input, pool, dictionary);
        }
        input.truncate(BYTES_MAX);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>, pool: &[Vec<u8>], dictionary: &[&str]) {
        let at = self.below(input.len() + 1);
        let end = (at + 1 + self.below(32)).min(input.len());
        match self.below(12) {
            0 => self.at(input, |byte, bits| byte ^ 1 << (bits % 8)),
            1 => self.at(input, |_, bits| bits as u8),
            2 => self.at(input, |byte, bits| byte.wrapping_add((bits % 9) as u8).wrapping_sub(4)),
            3 | 4 => self.number(input, at),
            5 => drop(input.drain(at.min(end)..end)),
            6 => {
                let copy = input[at.min(end)..end].to_vec();
                let place = self.below(input.len() + 1);
                insert(input, place, &copy);
            }
            7 | 8 if !dictionary.is_empty() => {
                let word = dictionary[self.below(dictionary.len())].as_bytes();
                let over = if self.below(2) == 0 { at } else { (at + word.len()).min(input.len()) };
                input.splice(at..over, word.iter().copied());
            }
            9 => {
                let other = &pool[self.below(pool.len())];
                let start = self.below(other.len() + 1);
                let stop = start + self.below(other.len() - start + 1);
                insert(input, at, &other[start..stop]);
            }
            10 if self.below(4) == 0 => input.truncate(at),
            _ => {
                let count = 1 + self.below(8);
                let bytes: Vec<u8> = (0..count).map(|_| self.bits() as u8).collect();
                insert(input, at, &bytes);
            }
        }
    }

    /// Changes one byte.
    fn at(&mut self, input: &mut [u8], change: impl Fn(u8, u64) -> u8) {
        let at = self.below(input.len());
        let bits = self.bits();
        if let Some(byte) = input.get_mut(at) {
            *byte = change(*byte, bits);
        }
    }

    /// Writes a number over one of one to eight bytes, or in digits.
    fn number(&mut self, input: &mut Vec<u8>, at: usize) {
        let edge = EDGES[self.below(EDGES.len())];
        let number = edge.wrapping_add(self.below(3) as u64).wrapping_sub(1);
        if self.below(4) == 0 {
            insert(input, at, number.to_string().as_bytes());
            return;
        }
        let bytes = number.to_le_bytes();
        let width = 1 << self.below(4);
        for (place, byte) in input.iter_mut().skip(at).zip(&bytes[..width]) {
            *place = *byte;
        }
    }
}

fn insert(input: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    input.splice(at..at, bytes.iter().copied());
}
