//! `minfer trace diff A B`: where the traces of two devices part.
//!
//! Devices fuse differently, so values are matched by their node's name; those that only one trace
//! has are counted and nothing else.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use minfer_quant::DType;
use serde::Serialize;
use serde_json::json;

use super::HEADER;
use crate::flags::settings::Settings;
use crate::flags::table;
use crate::output::{self, Style};

/// A value of a trace, as its index has it.
#[derive(Clone, Debug)]
struct Entry {
    file: String,
    node: String,
    op: String,
    output: String,
    ty: String,
    bytes: usize,
}

/// A value that both traces have.
#[derive(Clone, Debug, Serialize)]
struct Compared {
    node: String,
    op: String,
    output: String,
    #[serde(rename = "type")]
    ty: String,
    elements: usize,
    /// Largest magnitude in the first trace.
    largest: f64,
    max_difference: f64,
    mean_difference: f64,
    /// The largest difference as a share of the largest magnitude.
    share: f64,
    /// Where the largest difference is: row, column, and what stands there in both.
    row: usize,
    column: usize,
    first: f64,
    second: f64,
    parted: bool,
}

/// Everything that is found.
#[derive(Debug, Serialize)]
struct Report {
    tolerance: f64,
    values: Vec<Compared>,
    /// Values of one trace alone: of the first, of the second.
    unmatched: [usize; 2],
}

/// The command.
///
/// # Errors
/// A trace that cannot be read, two without a common value, and traces that part.
pub fn run(settings: &Settings, _style: Style) -> Result<()> {
    let folder = |name: &str| settings.positional(name).first().cloned().unwrap_or_default();
    let (first, second) = (folder("A"), folder("B"));
    let tolerance = settings.number(&table::TOLERANCE);
    let report = compare([Path::new(&first), Path::new(&second)], tolerance)?;
    if settings.on(&table::JSON) {
        output::json(&json!({ "report": report, "parts_at": report.parts_at() }))?;
    } else {
        output::print(&report.text(settings.on(&table::VERBOSE)))?;
    }
    match report.parts_at() {
        None => Ok(()),
        Some(value) => bail!(
            "the traces part at {}: the largest difference is {:.3e} of the largest value, allowed \
             are {tolerance:.3e}",
            value.name(),
            value.share
        ),
    }
}

fn compare(folders: [&Path; 2], tolerance: f64) -> Result<Report> {
    let [first, second] = folders;
    let (left, right) = (index(first)?, index(second)?);
    let mut others: HashMap<(&str, &str), &Entry> =
        right.iter().map(|entry| ((&*entry.node, &*entry.output), entry)).collect();
    let mut values = Vec::new();
    for entry in &left {
        if let Some(other) = others.remove(&(&*entry.node, &*entry.output)) {
            values.push(both(folders, entry, other, tolerance)?);
        }
    }
    ensure!(
        !values.is_empty(),
        "{} and {} have no node in common: are they of one model?",
        first.display(),
        second.display()
    );
    let unmatched = [left.len() - values.len(), others.len()];
    Ok(Report { tolerance, values, unmatched })
}

/// Reads `index.tsv`.
fn index(folder: &Path) -> Result<Vec<Entry>> {
    let path = folder.join("index.tsv");
    let text = fs::read_to_string(&path)
        .with_context(|| format!("{}: expected a folder that --trace wrote", path.display()))?;
    let mut lines = text.lines();
    let header = lines.next().unwrap_or_default();
    ensure!(
        header == HEADER,
        "{}: expected the columns {HEADER:?}, found {header:?}",
        path.display()
    );
    let entry = |(number, line): (usize, &str)| {
        let place = || format!("{} line {}", path.display(), number + 2);
        let columns: Vec<&str> = line.split('\t').collect();
        let [file, node, op, output, ty, bytes] = columns[..] else {
            bail!("{}: expected 6 columns, found {}", place(), columns.len());
        };
        let bytes = bytes.parse().with_context(|| format!("{}: bytes {bytes:?}", place()))?;
        let plain =
            !file.is_empty() && file.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.');
        ensure!(plain, "{}: expected a plain file name, found {file:?}", place());
        let [file, node, op, output, ty] = [file, node, op, output, ty].map(str::to_owned);
        Ok(Entry { file, node, op, output, ty, bytes })
    };
    lines.enumerate().map(entry).collect()
}

/// Compares a value of both traces.
fn both(
    [first, second]: [&Path; 2],
    entry: &Entry,
    other: &Entry,
    tolerance: f64,
) -> Result<Compared> {
    let (a, cols) = entry.numbers(first)?;
    let (b, other_cols) = other.numbers(second)?;
    ensure!(
        a.len() == b.len() && cols == other_cols,
        "{}: {} numbers ({}) in {} and {} ({}) in {}: were these traces made of one text?",
        entry.node,
        a.len(),
        entry.ty,
        first.display(),
        b.len(),
        other.ty,
        second.display()
    );
    let largest = a.iter().filter(|v| v.is_finite()).fold(0.0, |most: f64, v| most.max(v.abs()));
    let (mut sum, mut worst) = (0.0, (0, 0.0));
    for (at, (a, b)) in a.iter().zip(&b).enumerate() {
        let difference = distance(*a, *b);
        sum += difference;
        if difference > worst.1 {
            worst = (at, difference);
        }
    }
    let (at, max_difference) = worst;
    let share = if max_difference == 0.0 { 0.0 } else { max_difference / largest };
    Ok(Compared {
        node: entry.node.clone(),
        op: entry.op.clone(),
        output: entry.output.clone(),
        ty: entry.ty.clone(),
        elements: a.len(),
        largest,
        max_difference,
        mean_difference: sum / a.len().max(1) as f64,
        share,
        row: at / cols,
        column: at % cols,
        first: a.get(at).copied().unwrap_or_default(),
        second: b.get(at).copied().unwrap_or_default(),
        parted: share > tolerance || share.is_nan(),
    })
}

/// None between equal numbers and between two NaNs; endless where only one is a finite number.
fn distance(a: f64, b: f64) -> f64 {
    if a == b || (a.is_nan() && b.is_nan()) {
        0.0
    } else if a.is_finite() && b.is_finite() {
        (a - b).abs()
    } else {
        f64::INFINITY
    }
}

impl Entry {
    /// The value's numbers, and how many a row has. The type is written as `f32[T,64]`.
    fn numbers(&self, folder: &Path) -> Result<(Vec<f64>, usize)> {
        let path = folder.join(&self.file);
        let bytes = fs::read(&path).with_context(|| path.display().to_string())?;
        ensure!(
            bytes.len() == self.bytes,
            "{}: expected {} bytes, found {}",
            path.display(),
            self.bytes,
            bytes.len()
        );
        let (name, rest) = self.ty.split_once('[').unwrap_or((&self.ty, ""));
        let cols = rest.trim_end_matches(']').rsplit(',').next().and_then(|n| n.parse().ok());
        let (Some(dtype), Some(cols)) = (DType::from_name(name), cols) else {
            bail!("{}: expected a type such as f32[T,64], found {:?}", path.display(), self.ty);
        };
        let row = dtype.row_bytes(cols)?;
        ensure!(
            row > 0 && bytes.len().is_multiple_of(row),
            "{}: {} bytes are not whole rows of {row}",
            path.display(),
            bytes.len()
        );
        let rows = bytes.chunks_exact(row).map(|row| decoded(dtype, cols, row));
        let rows: Result<Vec<Vec<f64>>> = rows.collect();
        Ok((rows?.concat(), cols))
    }
}

/// A row's numbers.
fn decoded(dtype: DType, cols: usize, row: &[u8]) -> Result<Vec<f64>> {
    let planes = dtype.planes(cols)?;
    let [values, scales, _sums] = planes.split(row).context("a row of another length")?;
    let single = |bytes: &[u8]| -> Vec<f64> {
        let words = bytes.as_chunks::<4>().0.iter();
        words.map(|word| f64::from(f32::from_le_bytes(*word))).collect()
    };
    let scales = single(scales);
    let scaled = |values: Vec<f64>| {
        let block = dtype.block_len();
        values.iter().enumerate().map(|(at, value)| value * scales[at / block]).collect()
    };
    let short = values.as_chunks::<2>().0.iter();
    Ok(match dtype {
        DType::F32 => single(values),
        DType::I32 => {
            let words = values.as_chunks::<4>().0.iter();
            words.map(|word| f64::from(i32::from_le_bytes(*word))).collect()
        }
        DType::BF16 => short
            .map(|word| f64::from(f32::from_bits(u32::from(u16::from_le_bytes(*word)) << 16)))
            .collect(),
        DType::F16 => {
            let mut decoded = vec![0.0; cols];
            minfer_quant::Quant::F16.decode(values, &mut decoded)?;
            decoded.into_iter().map(f64::from).collect()
        }
        DType::Q8_0 | DType::Q8_K => {
            scaled(values.iter().map(|value| f64::from(value.cast_signed())).collect())
        }
        DType::Q16_0 => scaled(short.map(|word| f64::from(i16::from_le_bytes(*word))).collect()),
    })
}

impl Compared {
    /// Node and op, and which of its outputs where there are several.
    fn name(&self) -> String {
        let output =
            if self.output == "0" { String::new() } else { format!(", output {}", self.output) };
        format!("{} ({}{output})", self.node, self.op)
    }
}

impl Report {
    /// The first value that differs by more than the tolerance.
    fn parts_at(&self) -> Option<&Compared> {
        self.values.iter().find(|value| value.parted)
    }

    fn text(&self, all: bool) -> String {
        let mut text = String::new();
        if all {
            text += &format!(
                "{:<40} {:<16} {:>10} {:>10} {:>10} {:>10}\n",
                "node", "op", "largest", "max diff", "mean diff", "share"
            );
            for value in &self.values {
                text += &format!(
                    "{:<40} {:<16} {:>10.3e} {:>10.3e} {:>10.3e} {:>10.3e}{}\n",
                    value.node,
                    value.op,
                    value.largest,
                    value.max_difference,
                    value.mean_difference,
                    value.share,
                    if value.parted { " parted" } else { "" }
                );
            }
        }
        let parted = self.values.iter().filter(|value| value.parted).count();
        text += &format!(
            "{} values compared, {parted} of them differ by more than {:.1e}; {} are in the first \
             trace alone, {} in the second\n",
            self.values.len(),
            self.tolerance,
            self.unmatched[0],
            self.unmatched[1]
        );
        if let Some(value) = self.parts_at() {
            text += &format!(
                "first at {}: row {}, column {}: {:e} and {:e}; max {:.3e}, mean {:.3e} of {} \
                 numbers up to {:.3e}\n",
                value.name(),
                value.row,
                value.column,
                value.first as f32,
                value.second as f32,
                value.max_difference,
                value.mean_difference,
                value.elements,
                value.largest
            );
        }
        let worst = self.values.iter().max_by(|a, b| a.share.total_cmp(&b.share));
        if let Some(worst) = worst.filter(|worst| worst.share > 0.0) {
            text +=
                &format!("largest at {}: {:.3e} of the largest value\n", worst.name(), worst.share);
        }
        text
    }
}

#[cfg(test)]
#[path = "diff_tests.rs"]
mod tests;
