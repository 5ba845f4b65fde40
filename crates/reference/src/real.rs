//! The two number types in which a definition can be read.

use std::fmt::Debug;
use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::canonical;

/// How the definitions compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// f32, with the sequences of roundings of docs/numerics.md.
    Canonical,
    /// Double precision throughout. What defines an operand still rounds: weights decode to f32,
    /// quantized rows are int8 with an f32 scale, and the cache holds its stored type.
    F64,
}

/// A number type of a definition.
pub(crate) trait Real:
    Copy
    + Debug
    + PartialOrd
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The mode that computes in it.
    const MODE: Mode;
    /// Not a number.
    const NAN: Self;

    /// The number nearest to `x`.
    fn of(x: f64) -> Self;
    /// `x` itself.
    fn widen(x: f32) -> Self;
    /// The f32 nearest to it.
    fn narrow(self) -> f32;
    /// `self · b + c`; in f32 with one rounding.
    fn fma(self, b: Self, c: Self) -> Self;
    /// e to its power.
    fn exp(self) -> Self;
    /// Square root, correctly rounded.
    fn sqrt(self) -> Self;
    /// The larger of two; the other one where one is NaN.
    fn max(self, other: Self) -> Self;
    /// Whether it is NaN.
    fn is_nan(self) -> bool;
}

impl Real for f32 {
    const MODE: Mode = Mode::Canonical;
    const NAN: f32 = f32::NAN;

    fn of(x: f64) -> f32 {
        x as f32
    }

    fn widen(x: f32) -> f32 {
        x
    }

    fn narrow(self) -> f32 {
        self
    }

    fn fma(self, b: f32, c: f32) -> f32 {
        self.mul_add(b, c)
    }

    fn exp(self) -> f32 {
        canonical::exp(self)
    }

    fn sqrt(self) -> f32 {
        self.sqrt()
    }

    fn max(self, other: f32) -> f32 {
        self.max(other)
    }

    fn is_nan(self) -> bool {
        self.is_nan()
    }
}

impl Real for f64 {
    const MODE: Mode = Mode::F64;
    const NAN: f64 = f64::NAN;

    fn of(x: f64) -> f64 {
        x
    }

    fn widen(x: f32) -> f64 {
        f64::from(x)
    }

    fn narrow(self) -> f32 {
        self as f32
    }

    fn fma(self, b: f64, c: f64) -> f64 {
        self * b + c
    }

    fn exp(self) -> f64 {
        libm::exp(self)
    }

    fn sqrt(self) -> f64 {
        self.sqrt()
    }

    fn max(self, other: f64) -> f64 {
        self.max(other)
    }

    fn is_nan(self) -> bool {
        self.is_nan()
    }
}
