//! Eight f32 lanes: what the float kernels are written in.

/// Lanes of a vector. The 16 virtual lanes of the numbers rule are two vectors.
pub(crate) const LANES: usize = 8;

/// Eight f32. Every operation acts lane by lane and rounds once.
pub(crate) trait Lanes: Copy {
    fn splat(x: f32) -> Self;
    fn load(from: &[f32; LANES]) -> Self;
    fn store(self, to: &mut [f32; LANES]);
    fn load_f16(from: &[u16; LANES]) -> Self;
    /// Rounds to nearest even.
    fn store_f16(self, to: &mut [u16; LANES]);
    fn load_bf16(from: &[u16; LANES]) -> Self;
    fn load_i8(from: &[i8; LANES]) -> Self;
    /// Whole numbers from -127 to 127.
    fn store_i8(self, to: &mut [i8; LANES]);
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    /// `self * b + c`, rounded once.
    fn fma(self, b: Self, c: Self) -> Self;
    /// `self` where it is greater, else `other`; so `other` where either is NaN.
    fn max(self, other: Self) -> Self;
    /// `self` where it is less, else `other`; so `other` where either is NaN.
    fn min(self, other: Self) -> Self;
    fn abs(self) -> Self;
    /// The larger of the bit patterns as integers; both without a sign.
    fn max_bits(self, other: Self) -> Self;
    /// To the nearest whole number, ties to even.
    fn round(self) -> Self;
    /// `self · 2^⌊n/2⌋ · 2^(n − ⌊n/2⌋)` for whole n from -150 to 150.
    fn times_power(self, n: Self) -> Self;
    /// The numbers rule's tree over 16 lanes, of which `low` are the first eight.
    fn tree(low: Self, high: Self) -> f32;
    /// Eight such trees whose first step (lane i + lane i+8) is done.
    fn trees(vectors: [Self; LANES]) -> Self;

    /// The lanes as numbers.
    #[inline(always)]
    fn array(self) -> [f32; LANES] {
        let mut array = [0.0; LANES];
        self.store(&mut array);
        array
    }
}
