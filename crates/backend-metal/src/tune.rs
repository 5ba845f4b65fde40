//! Choices between variants of kernels that measurements decide.
//!
//! The defaults follow from how the kernels are made; `minfer self-test` measures the values on a
//! machine and writes the table that `--tune` reads.

use std::fmt;
use std::ops::RangeInclusive;

use minfer_plan::Choice;

use crate::caps::Staging;

/// A value of each choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tune {
    pub(crate) matmul_few_rows: u32,
    pub(crate) attention_few_rows: u32,
    pub(crate) matmul_simdgroups: u32,
    pub(crate) rms_norm_short_cols: u32,
    pub(crate) rms_norm_simdgroups: u32,
}

impl Default for Tune {
    fn default() -> Tune {
        Tune {
            matmul_few_rows: 8,
            attention_few_rows: 8,
            matmul_simdgroups: 2,
            rms_norm_short_cols: 512,
            rms_norm_simdgroups: 8,
        }
    }
}

/// How ops are lowered, beside the limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct How {
    pub(crate) staging: Staging,
    pub(crate) tune: Tune,
}

/// A table that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TuneError {
    /// The names that there are, or a choice and the values that it takes.
    pub expected: String,
    /// The name or the value.
    pub found: String,
}

impl fmt::Display for TuneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}, found {}", self.expected, self.found)
    }
}

impl std::error::Error for TuneError {}

/// A choice: what it is, the values that it takes, and those worth measuring.
struct Row {
    name: &'static str,
    about: &'static str,
    allowed: RangeInclusive<u32>,
    values: &'static [u32],
    field: fn(&mut Tune) -> &mut u32,
}

const CHOICES: &[Row] = &[
    Row {
        name: "matmul.few_rows",
        about: "rows up to which weights go to registers, not through simdgroup matrices",
        allowed: 1..=8,
        values: &[1, 2, 4, 8],
        field: |tune| &mut tune.matmul_few_rows,
    },
    Row {
        name: "matmul.simdgroups",
        about: "simdgroups of a threadgroup where few rows meet a matrix, each with weight rows",
        allowed: 1..=16,
        values: &[1, 2, 4, 8],
        field: |tune| &mut tune.matmul_simdgroups,
    },
    Row {
        name: "attention.few_rows",
        about: "rows up to which each query row reads the cache for itself",
        allowed: 1..=16,
        values: &[1, 2, 4, 8, 16],
        field: |tune| &mut tune.attention_few_rows,
    },
    Row {
        name: "rms_norm.short_cols",
        about: "columns up to which one simdgroup norms a row, not several",
        allowed: 0..=65536,
        values: &[0, 512, 1024, 4096],
        field: |tune| &mut tune.rms_norm_short_cols,
    },
    Row {
        name: "rms_norm.simdgroups",
        about: "simdgroups that norm a long row",
        allowed: 2..=16,
        values: &[4, 8, 16],
        field: |tune| &mut tune.rms_norm_simdgroups,
    },
];

impl Tune {
    /// The defaults with these values in their place.
    ///
    /// # Errors
    /// A name or a value that is not there.
    pub fn of<'n>(table: impl IntoIterator<Item = (&'n str, u32)>) -> Result<Tune, TuneError> {
        let mut tune = Tune::default();
        for (name, found) in table {
            let row = CHOICES.iter().find(|row| row.name == name);
            let row = row.ok_or_else(|| {
                let known: Vec<&str> = CHOICES.iter().map(|row| row.name).collect();
                TuneError { expected: known.join(", "), found: name.to_owned() }
            })?;
            if !row.allowed.contains(&found) {
                let (from, to) = (row.allowed.start(), row.allowed.end());
                let expected = format!("{name} from {from} to {to}");
                return Err(TuneError { expected, found: found.to_string() });
            }
            *(row.field)(&mut tune) = found;
        }
        Ok(tune)
    }

    /// The choices with their values.
    pub(crate) fn choices(mut self) -> Vec<Choice> {
        let choice = |row: &Row| Choice {
            name: row.name,
            about: row.about,
            values: row.values,
            value: *(row.field)(&mut self),
        };
        CHOICES.iter().map(choice).collect()
    }
}

#[cfg(test)]
#[path = "tune_tests.rs"]
mod tests;
