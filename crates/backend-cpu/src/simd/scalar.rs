//! [`Lanes`] in plain code.

use super::lanes::{LANES, Lanes, Tiled};

/// Sixteen f32 in an array.
#[derive(Clone, Copy)]
pub(super) struct ScalarLanes([f32; LANES]);

impl ScalarLanes {
    #[inline(always)]
    fn each(self, f: impl Fn(f32) -> f32) -> Self {
        Self(self.0.map(f))
    }

    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        Self(std::array::from_fn(|i| f(self.0[i], other.0[i])))
    }
}

impl Lanes for ScalarLanes {
    #[inline(always)]
    fn splat(x: f32) -> Self {
        Self([x; LANES])
    }

    #[inline(always)]
    fn load(from: &[f32; LANES]) -> Self {
        Self(*from)
    }

    #[inline(always)]
    fn store(self, to: &mut [f32; LANES]) {
        *to = self.0;
    }

    #[inline(always)]
    fn load_f16(from: &[u16; LANES]) -> Self {
        Self(from.map(minfer_quant::f16_to_f32))
    }

    #[inline(always)]
    fn store_f16(self, to: &mut [u16; LANES]) {
        *to = self.0.map(|x| half::f16::from_f32(x).to_bits());
    }

    #[inline(always)]
    fn load_bf16(from: &[u16; LANES]) -> Self {
        Self(from.map(|bits| f32::from_bits(u32::from(bits) << 16)))
    }

    #[inline(always)]
    fn load_i8(from: &[i8; LANES]) -> Self {
        Self(from.map(f32::from))
    }

    #[inline(always)]
    fn store_i8(self, to: &mut [i8; LANES]) {
        *to = self.0.map(|x| x as i8);
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.zip(other, |a, b| a / b)
    }

    #[inline(always)]
    fn fma(self, b: Self, c: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i].mul_add(b.0[i], c.0[i])))
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { a } else { b })
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.zip(other, |a, b| if a < b { a } else { b })
    }

    #[inline(always)]
    fn abs(self) -> Self {
        self.each(f32::abs)
    }

    #[inline(always)]
    fn max_bits(self, other: Self) -> Self {
        self.zip(other, |a, b| f32::from_bits(a.to_bits().max(b.to_bits())))
    }

    #[inline(always)]
    fn round(self) -> Self {
        self.each(f32::round_ties_even)
    }

    #[inline(always)]
    fn times_power(self, n: Self) -> Self {
        self.zip(n, |x, n| {
            let n = n as i32;
            let half = n >> 1;
            let power = |n: i32| f32::from_bits(((n + 127) as u32) << 23);
            (x * power(half)) * power(n - half)
        })
    }

    #[inline(always)]
    fn largest(self) -> f32 {
        self.0.iter().fold(f32::NEG_INFINITY, |most, x| most.max(*x))
    }

    #[inline(always)]
    fn tree(self) -> f32 {
        let mut lanes = self.0;
        for step in [8, 4, 2, 1] {
            for i in 0..step {
                lanes[i] += lanes[i + step];
            }
        }
        lanes[0]
    }

    #[inline(always)]
    fn trees(vectors: [Self; LANES]) -> Self {
        Self(vectors.map(Self::tree))
    }

    #[inline(always)]
    fn tiled(work: impl Tiled) {
        // A processor with 32 registers of four lanes holds six sums.
        work.run::<Self, 2, 3>();
    }
}
