//! Rates, medians, ratios, and the page they are written to.

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::fs;
use std::path::Path;

const BEGIN: &str = "<!-- peer: begin -->";
const END: &str = "<!-- peer: end -->";

/// Tokens per second of one program, one number a run.
#[derive(Debug, Clone, Default)]
pub struct Runs {
    name: &'static str,
    /// In the order they were taken.
    pub rates: Vec<f64>,
}

/// One line of the table; the first of `runs` is minfer's.
pub struct Row {
    /// The model's file.
    pub file: String,
    /// Threads of each program.
    pub threads: usize,
    /// `pp512`, `tg64`.
    pub test: String,
    /// The least ratio that will do.
    pub goal: f64,
    /// One for each program.
    pub runs: Vec<Runs>,
}

impl Runs {
    /// No run yet.
    pub fn new(name: &'static str) -> Self {
        Self { name, rates: Vec::new() }
    }

    /// The middle run; of an even number, the mean of the two in the middle.
    fn median(&self) -> f64 {
        let mut sorted = self.rates.clone();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        match sorted.len() {
            0 => f64::NAN,
            even if even % 2 == 0 => (sorted[middle - 1] + sorted[middle]) / 2.0,
            _ => sorted[middle],
        }
    }
}

impl Row {
    /// minfer's median over the fastest peer's.
    fn ratio(&self) -> f64 {
        let peers = self.runs.iter().skip(1).map(Runs::median);
        self.runs.first().map_or(f64::NAN, Runs::median) / peers.fold(f64::NAN, f64::max)
    }

    /// What to say when the row is under its goal.
    pub fn shortfall(&self) -> Option<String> {
        let (ratio, Self { file, threads, test, goal, .. }) = (self.ratio(), self);
        // A ratio that is not a number is a shortfall too.
        let good = ratio >= *goal;
        (!good).then(|| format!("{file} -t {threads} {test}: {ratio:.2}, goal {goal:.1}"))
    }
}

/// Prefill's and decode's tokens per second out of llama-bench's JSON.
///
/// # Errors
/// Not that format, or a rate that is missing or not positive.
pub fn rates(text: &str) -> Result<(f64, f64)> {
    let rows: Vec<Value> = serde_json::from_str(text)?;
    let find = |with: &str, without: &str| {
        let row = rows.iter().find(|row| row[with].as_u64() > Some(0) && row[without] == 0);
        let rate = row.and_then(|row| row["avg_ts"].as_f64());
        rate.with_context(|| format!("no row with {with} and avg_ts"))
    };
    let (prefill, decode) = (find("n_prompt", "n_gen")?, find("n_gen", "n_prompt")?);
    ensure!(prefill > 0.0 && decode > 0.0, "rates have to be positive: {prefill}, {decode}");
    Ok((prefill, decode))
}

/// The measured part of the page.
pub fn page(rows: &[Row], notes: &[String], processor: &str, reps: usize) -> String {
    let names: Vec<&str> =
        rows.first().map(|row| row.runs.iter().map(|runs| runs.name).collect()).unwrap_or_default();
    let mut text = format!(
        "{processor}; tokens per second, medians of {reps} interleaved runs; the ratio is minfer \
         over the faster peer.\n\n| model | threads | test | {} | ratio | goal |\n",
        names.join(" | ")
    );
    text += &format!("|---|---:|---|{}---:|---:|\n", "---:|".repeat(names.len()));
    for row in rows {
        let medians: Vec<String> =
            row.runs.iter().map(|runs| format!("{:.1}", runs.median())).collect();
        text += &format!(
            "| {} | {} | {} | {} | {:.2} | {:.1} |\n",
            row.file,
            row.threads,
            row.test,
            medians.join(" | "),
            row.ratio(),
            row.goal
        );
    }
    format!("{text}\n{}\n", notes.join("\n"))
}

/// Puts the measured part between its marks; what people wrote around them stays.
///
/// # Errors
/// The file cannot be read or written, or has only one of the marks.
pub fn write(path: &Path, text: &str) -> Result<()> {
    let found = match fs::read_to_string(path) {
        Ok(found) => found,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            format!("# CPU, measured\n\nWritten by `cargo xtask peer`.\n\n{BEGIN}\n{END}\n")
        }
        Err(error) => return Err(error).with_context(|| path.display().to_string()),
    };
    let page = between(&found, text)
        .with_context(|| format!("{} needs the lines `{BEGIN}` and `{END}`", path.display()))?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, page).with_context(|| path.display().to_string())
}

fn between(page: &str, text: &str) -> Option<String> {
    let (head, rest) = page.split_once(BEGIN)?;
    let (_, tail) = rest.split_once(END)?;
    Some(format!("{head}{BEGIN}\n{text}{END}{tail}"))
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
