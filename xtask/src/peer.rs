//! `cargo xtask peer`: llama.cpp and minfer on the same files, in one interleaved run.
//!
//! llama.cpp is built twice for this machine's processor, with gcc and with clang, since neither
//! compiler is the faster on every row; each row takes the faster of the two. A build that cannot
//! be made is a failure: a comparison with half of the peer would flatter.

mod build;
mod table;

use crate::models;
use crate::process::{build_folder, cargo, command, output, root, run as run_command};
use anyhow::{Context as _, Result, bail, ensure};
use std::path::{Path, PathBuf};
use table::{Row, Runs};

const N_PROMPT: usize = 512;
const N_GEN: usize = 64;
const THREADS: [usize; 2] = [2, 1];

/// How often each program runs on each row.
const REPS: usize = 5;

/// A program under test: what it is called, and how one run of it is typed.
struct Contender {
    name: &'static str,
    program: PathBuf,
    arguments: fn(&Path, usize) -> Vec<String>,
}

/// The entry point.
///
/// # Errors
/// A build fails, a program fails, or a row of minfer is under its goal.
pub fn run(arguments: &[String]) -> Result<()> {
    let (only_build, reps) = options(arguments)?;
    let peers = build::peers()?;
    if only_build {
        return Ok(());
    }
    let models = models::paths()?;
    run_command(cargo().args(["build", "--release", "--locked", "--package", "minfer"]))?;
    let mut contenders = vec![Contender {
        name: "minfer",
        program: build_folder()?.join("release/minfer"),
        arguments: minfer_arguments,
    }];
    let mut notes = Vec::new();
    for build::Peer { name, program, features } in peers {
        notes.push(format!("- {name}: `{features}`"));
        contenders.push(Contender { name, program, arguments: peer_arguments });
    }
    let mut rows = Vec::new();
    for model in &models {
        for threads in THREADS {
            rows.extend(measure(&contenders, model, threads, reps)?);
        }
    }
    let text = table::page(&rows, &notes, &processor(), reps);
    print!("{text}");
    table::write(&root().join("docs/measurements/cpu.md"), &text)?;
    let under: Vec<String> = rows.iter().filter_map(Row::shortfall).collect();
    ensure!(under.is_empty(), "under the goal:\n{}", under.join("\n"));
    Ok(())
}

fn options(arguments: &[String]) -> Result<(bool, usize)> {
    let (mut only_build, mut reps) = (false, REPS);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--build" => only_build = true,
            "--reps" => {
                let value = rest.next().context("--reps needs a number")?;
                reps = value.parse().with_context(|| format!("--reps {value}"))?;
            }
            other => bail!("unknown argument '{other}'; known are: --build --reps N"),
        }
    }
    ensure!(reps > 0, "--reps needs at least one run");
    Ok((only_build, reps))
}

fn minfer_arguments(model: &Path, threads: usize) -> Vec<String> {
    let mut words = vec!["bench".to_owned(), "-m".to_owned(), model.display().to_string()];
    words.extend(
        format!("-p {N_PROMPT} -n {N_GEN} -t {threads} -r 1 -o json").split(' ').map(String::from),
    );
    words
}

fn peer_arguments(model: &Path, threads: usize) -> Vec<String> {
    let numbers = [threads, N_PROMPT, N_GEN, 1].map(|number| number.to_string());
    std::iter::once(model.display().to_string()).chain(numbers).collect()
}

/// Runs every contender in turn, `reps` times over, so that a slow minute of the machine falls on
/// all of them.
fn measure(
    contenders: &[Contender],
    model: &Path,
    threads: usize,
    reps: usize,
) -> Result<[Row; 2]> {
    let mut prefill: Vec<Runs> = contenders.iter().map(|it| Runs::new(it.name)).collect();
    let mut decode = prefill.clone();
    let file = model.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for rep in 1..=reps {
        for (index, contender) in contenders.iter().enumerate() {
            let words = (contender.arguments)(model, threads);
            let text = output(command(&contender.program).args(words))?;
            let (pp, tg) = table::rates(&text)
                .with_context(|| format!("reading what {} printed: {text}", contender.name))?;
            prefill[index].rates.push(pp);
            decode[index].rates.push(tg);
            eprintln!("{file} -t {threads} {rep}/{reps} {}: {pp:.1} {tg:.1}", contender.name);
        }
    }
    let row = |test: String, goal, runs| Row { file: file.clone(), threads, test, goal, runs };
    Ok([row(format!("pp{N_PROMPT}"), 0.7, prefill), row(format!("tg{N_GEN}"), 0.9, decode)])
}

/// The processor's name, as the system gives it.
fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("model name"));
    let name = line.and_then(|line| line.split_once(':')).map(|(_, name)| name.trim().to_owned());
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    format!("{}, {cores} cores", name.unwrap_or_else(|| std::env::consts::ARCH.to_owned()))
}

#[cfg(test)]
#[path = "peer_tests.rs"]
mod tests;
