//! Random data that is the same everywhere: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).

use minfer_quant::Quant;

/// A generator with a seed.
#[derive(Clone, Debug)]
pub struct Seeded(u64);

impl Seeded {
    /// A generator for `seed`.
    pub fn new(seed: u64) -> Seeded {
        Seeded(seed)
    }

    /// A generator for a text, such as a case's name.
    pub fn named(name: &str) -> Seeded {
        let fnv = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3);
        Seeded(name.bytes().fold(0xCBF2_9CE4_8422_2325, fnv))
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// An integer below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.bits() % limit.max(1) as u64) as usize
    }

    /// A number in [-1, 1).
    pub fn unit(&mut self) -> f32 {
        ((self.bits() >> 40) as f32 / (1u64 << 23) as f32) - 1.0
    }

    /// A bell-shaped number with variance 1: the sum of three uniform ones.
    pub fn bell(&mut self) -> f32 {
        self.unit() + self.unit() + self.unit()
    }

    /// Bell-shaped numbers.
    pub fn bells(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.bell()).collect()
    }

    /// Blocks of a format with random bits everywhere and scales that make values of about `size`.
    /// Every packed bit pattern occurs, which encoded data would not promise.
    pub fn blocks(&mut self, quant: Quant, values: usize, size: f32) -> Vec<u8> {
        match quant {
            Quant::F32 => (0..values).flat_map(|_| (self.bell() * size).to_le_bytes()).collect(),
            Quant::F16 | Quant::BF16 => {
                let values: Vec<f32> = (0..values).map(|_| self.bell() * size).collect();
                let mut bytes = vec![0; values.len() * 2];
                quant.encode(&values, &mut bytes).expect("16-bit floats take any value");
                bytes
            }
            Quant::Q4_0
            | Quant::Q4_1
            | Quant::Q5_0
            | Quant::Q5_1
            | Quant::Q8_0
            | Quant::Q2_K
            | Quant::Q3_K
            | Quant::Q4_K
            | Quant::Q5_K
            | Quant::Q6_K
            | Quant::Q8_K
            | Quant::IQ1_S
            | Quant::IQ1_M
            | Quant::IQ2_XXS
            | Quant::IQ2_XS
            | Quant::IQ2_S
            | Quant::IQ3_XXS
            | Quant::IQ3_S
            | Quant::IQ4_NL
            | Quant::IQ4_XS
            | Quant::MXFP4
            | Quant::NVFP4
            | Quant::TQ1_0
            | Quant::TQ2_0 => self.packed(quant, values, size),
        }
    }

    fn packed(&mut self, quant: Quant, values: usize, size: f32) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(values / quant.block_len() * quant.block_bytes());
        for _ in 0..values / quant.block_len() {
            let start = bytes.len();
            bytes.extend((0..quant.block_bytes()).map(|_| self.bits() as u8));
            let block = &mut bytes[start..];
            if quant == Quant::MXFP4 {
                // A power of two near size / 6, the largest value of the table being 6.
                let exponent = (size / 6.0).log2().round() as i32 + 127 + self.below(3) as i32 - 1;
                block[0] = exponent.clamp(1, 254) as u8;
                continue;
            }
            if quant == Quant::NVFP4 {
                // Any fraction, with such an exponent.
                let exponent = (size / 6.0).log2().round() as i32 + 7;
                for scale in &mut block[..4] {
                    *scale = (exponent.clamp(1, 14) as u8) << 3 | (*scale & 7);
                }
                continue;
            }
            for (offset, largest) in scales(quant) {
                let scale = size / largest * (0.5 + self.unit().abs());
                let sign = if self.bits() & 1 == 0 { 1.0 } else { -1.0 };
                put_scale(quant, block, offset, scale * sign);
            }
        }
        bytes
    }
}

/// Offsets of a block's scales, and what a scale of 1 makes of the largest packed value.
fn scales(quant: Quant) -> Vec<(usize, f32)> {
    match quant {
        Quant::Q4_0 => vec![(0, 8.0)],
        Quant::Q4_1 => vec![(0, 15.0), (2, 1.0)],
        Quant::Q5_0 => vec![(0, 16.0)],
        Quant::Q5_1 => vec![(0, 31.0), (2, 1.0)],
        Quant::Q8_0 => vec![(0, 128.0)],
        Quant::Q2_K => vec![(80, 45.0), (82, 15.0)],
        Quant::Q3_K => vec![(108, 128.0)],
        Quant::Q4_K => vec![(0, 945.0), (2, 63.0)],
        Quant::Q5_K => vec![(0, 1953.0), (2, 63.0)],
        Quant::Q6_K => vec![(208, 4096.0)],
        Quant::Q8_K => vec![(0, 128.0)],
        Quant::IQ1_S => vec![(0, 16.875)],
        Quant::IQ1_M => vec![(48, 16.875)],
        Quant::IQ2_XXS | Quant::IQ2_XS | Quant::IQ2_S => vec![(0, 166.625)],
        Quant::IQ3_XXS => vec![(0, 480.5)],
        Quant::IQ3_S => vec![(0, 465.0)],
        Quant::TQ1_0 => vec![(52, 1.0)],
        Quant::TQ2_0 => vec![(64, 2.0)],
        Quant::IQ4_NL => vec![(0, 127.0)],
        Quant::IQ4_XS => vec![(0, 4064.0)],
        Quant::F32 | Quant::F16 | Quant::BF16 | Quant::MXFP4 | Quant::NVFP4 => Vec::new(),
    }
}

fn put_scale(quant: Quant, block: &mut [u8], offset: usize, scale: f32) {
    if quant == Quant::Q8_K {
        block[offset..offset + 4].copy_from_slice(&scale.to_le_bytes());
        return;
    }
    let mut bytes = [0; 2];
    Quant::F16.encode(&[scale], &mut bytes).expect("one value and its two bytes");
    if quant == Quant::IQ1_M {
        // Four bits in the top of each of four words.
        for (k, word) in block[offset..offset + 8].chunks_exact_mut(2).enumerate() {
            word[1] = (word[1] & 15) | (bytes[k / 2] >> (k % 2 * 4)) << 4;
        }
        return;
    }
    block[offset..offset + 2].copy_from_slice(&bytes);
}
