//! Sixteen f32 lanes: what the float kernels are written in.

/// The virtual lanes of the numbers rule; every vector has all of them.
pub(crate) const LANES: usize = 16;

/// Sixteen f32. Every operation acts lane by lane and rounds once.
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
    /// `self · 2^⌊n/2⌋ · 2^(n − ⌊n/2⌋)` for whole n from -150 to 150. Of numbers near 1 the first
    /// product is exact, so that one rounding of `self · 2^n` is the same.
    fn times_power(self, n: Self) -> Self;
    /// The largest lane; any number if one is NaN.
    fn largest(self) -> f32;
    /// The numbers rule's tree.
    fn tree(self) -> f32;
    /// The trees of sixteen vectors.
    fn trees(vectors: [Self; LANES]) -> Self;

    /// Runs a loop with tiles that fit the registers.
    fn tiled(work: impl Tiled);

    /// The lanes as numbers.
    #[inline(always)]
    fn array(self) -> [f32; LANES] {
        let mut array = [0.0; LANES];
        self.store(&mut array);
        array
    }
}

/// A loop over tiles, in which `R` rows meet up to `V` vectors and the lanes of all pairs stay in
/// registers.
pub(super) trait Tiled {
    fn run<L: Lanes, const R: usize, const V: usize>(self);
}

/// What is left of a row, filled up.
#[inline(always)]
pub(super) fn padded(rest: &[f32], with: f32) -> [f32; LANES] {
    let mut last = [with; LANES];
    last[..rest.len()].copy_from_slice(rest);
    last
}
