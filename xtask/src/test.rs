//! `cargo xtask test`: the whole gate, in parts that are timed, up to the first that fails.
//!
//! It needs Rust, a C compiler and Python, and fetches the rest. Its last line counts tests over
//! all test programs.

mod programs;

use crate::process::{self, cargo, command, output};
use crate::{clang, docs, fixtures, mac, models, sim, tidy};
use anyhow::{Context as _, Result, bail, ensure};
use std::io::{BufRead as _, BufReader};
use std::process::Command;
use std::time::{Duration, Instant};

/// Parts that share a budget: what they may take on two cores from an empty build folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Group {
    name: &'static str,
    budget: Duration,
}

/// Everything but what only one kind of GPU needs.
const CPU: Group = Group { name: "cpu", budget: Duration::from_secs(20 * 60) };

/// Metal's kernels and its device, in the simulator.
const METAL: Group = Group { name: "metal", budget: Duration::from_secs(12 * 60) };

const GROUPS: [Group; 2] = [CPU, METAL];

/// Packages whose tests are Metal's part.
const METAL_PACKAGES: [&str; 2] = ["metal-sim", "minfer-backend-metal"];

/// Tests counted over all programs, and the slowest programs.
#[derive(Default)]
struct Tally {
    passed: u64,
    failed: u64,
    ignored: u64,
    programs: Vec<(f64, String)>,
}

/// Where a part runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum On {
    /// On every machine.
    All,
    /// Where Metal is simulated.
    Simulator,
    /// On a Mac, which has Metal itself.
    Mac,
}

impl On {
    fn is_here(self) -> bool {
        match self {
            On::All => true,
            On::Simulator => !cfg!(target_os = "macos"),
            On::Mac => cfg!(target_os = "macos"),
        }
    }
}

struct Part {
    name: &'static str,
    group: Group,
    on: On,
    /// Whether `--quick` runs it too.
    quick: bool,
    run: fn(&mut Tally) -> Result<()>,
}

const fn cpu(name: &'static str, quick: bool, run: fn(&mut Tally) -> Result<()>) -> Part {
    Part { name, group: CPU, on: On::All, quick, run }
}

const fn metal(name: &'static str, on: On, run: fn(&mut Tally) -> Result<()>) -> Part {
    Part { name, group: METAL, on, quick: false, run }
}

const PARTS: &[Part] = &[
    cpu("tools", true, |_| tools()),
    cpu("models", true, |_| models::run(&[])),
    cpu("fixtures", false, |_| fixtures::run(&[])),
    cpu("fmt", true, |_| fmt()),
    cpu("tidy", true, |_| tidy::run(&[])),
    cpu("clippy", false, |_| clippy()),
    cpu("build", true, |_| build()),
    cpu("docs", false, |_| docs::run(&["--check".to_owned()])),
    cpu("tests", true, cpu_tests),
    // Links the whole command; what is Metal's in it is one crate.
    Part { name: "macos", group: CPU, on: On::Simulator, quick: false, run: |_| mac::test() },
    metal("clang", On::Simulator, |_| clang::run(&[])),
    metal("metal tests", On::Simulator, metal_tests),
    metal("sim tests", On::Simulator, |tally| run_tests(tally, sim::tests()?)),
    metal("self-test", On::Mac, |_| self_test()),
];

/// The entry point.
///
/// # Errors
/// The first part that fails, after the summary.
pub fn run(arguments: &[String]) -> Result<()> {
    let [quick] = process::flags(arguments, ["--quick"])?;
    let mut tally = Tally::default();
    let mut times = Vec::new();
    let mut failure = None;
    for part in PARTS.iter().filter(|part| part.on.is_here() && (part.quick || !quick)) {
        println!("== {}", part.name);
        let begin = Instant::now();
        let result = (part.run)(&mut tally);
        times.push((part, begin.elapsed(), result.is_ok()));
        if let Err(error) = result {
            failure = Some((part.name, error));
            break;
        }
    }
    print!("{}", summary(&times, &tally));
    if let Some((name, error)) = failure {
        println!("FAILED in part '{name}': {error:#}");
        println!("{} passed, {} failed", tally.passed, tally.failed.max(1));
        bail!("part '{name}' failed");
    }
    println!("{} passed, {} failed", tally.passed, tally.failed);
    Ok(())
}

fn summary(times: &[(&Part, Duration, bool)], tally: &Tally) -> String {
    let mut text = String::from("== summary\n");
    for group in GROUPS {
        let mut total = Duration::ZERO;
        for (part, time, good) in times.iter().filter(|(part, ..)| part.group == group) {
            let verdict = if *good { "ok" } else { "FAILED" };
            text += &format!("{:<12} {:>8.1} s  {verdict}\n", part.name, time.as_secs_f64());
            total += *time;
        }
        let verdict = if total <= group.budget { "within" } else { "OVER" };
        text += &format!(
            "{:<12} {:>8.1} s  {verdict} the budget of {} s for two cores\n",
            format!("all {}", group.name),
            total.as_secs_f64(),
            group.budget.as_secs()
        );
    }
    let mut slow: Vec<_> = tally.programs.iter().filter(|(time, _)| *time >= 1.0).collect();
    slow.sort_by(|a, b| b.0.total_cmp(&a.0));
    for (time, program) in slow.iter().take(12) {
        text += &format!("  {time:>8.1} s  {program}\n");
    }
    text
}

/// Says what is missing before minutes are spent.
fn tools() -> Result<()> {
    print!("{}", output(cargo().arg("--version"))?);
    output(cargo().args(["fmt", "--version"])).context("run `rustup component add rustfmt`")?;
    output(cargo().args(["clippy", "--version"])).context("run `rustup component add clippy`")?;
    output(command("cc").arg("--version")).context("a C compiler is needed (Debian: gcc)")?;
    print!("{}", output(command("python3").arg("--version")).context("python3 is needed")?);
    output(command("python3").args(["-m", "pip", "--version"]))
        .context("python3 needs pip (Debian: python3-pip)")?;
    Ok(())
}

fn fmt() -> Result<()> {
    process::run(cargo().args(["fmt", "--all", "--", "--check"])).context("run `cargo fmt --all`")
}

fn clippy() -> Result<()> {
    process::run(
        cargo()
            .args(["clippy", "--workspace", "--all-targets", "--locked", "--quiet"])
            .args(["--", "-D", "warnings"]),
    )
}

/// Builds what the tests run, so that its time is not theirs.
fn build() -> Result<()> {
    process::run(cargo().args(process::BUILD_ALL))
}

/// What the device is and how fast, in the build folder.
const SELF_TEST: &str = "minfer-self-test.json";

/// The device itself, on a machine that must have one. Its report tells what the machine is.
fn self_test() -> Result<()> {
    let report = process::build_folder()?.join(SELF_TEST);
    process::run(
        cargo()
            .args(["run", "--package", "minfer", "--locked", "--quiet", "--"])
            .args(["self-test", "--device", "metal", "--report"])
            .arg(report),
    )
}

/// All tests but Metal's.
fn cpu_tests(tally: &mut Tally) -> Result<()> {
    let mut command = cargo();
    command.args(["test", "--workspace"]);
    for package in METAL_PACKAGES {
        command.args(["--exclude", package]);
    }
    command.args(["--locked", "--no-fail-fast", "--color=never"]);
    run_tests(tally, command)
}

/// Metal's tests, which must run here. Their programs are started one by one: cargo, asked for some
/// packages, would choose other features of what they share with the rest, and compile it anew.
fn metal_tests(tally: &mut Tally) -> Result<()> {
    let programs = programs::of(&METAL_PACKAGES)?;
    programs.into_iter().try_for_each(|program| {
        println!("     Running {}", program.name);
        tally.programs.push((0.0, program.name));
        run_tests(tally, program.command)
    })
}

/// Runs a command of cargo that tests, and counts its tests.
fn run_tests(tally: &mut Tally, mut run: Command) -> Result<()> {
    let before = tally.passed;
    // A missing simulator is a failure, not a reason to leave tests out.
    run.env("METAL_SIM_REQUIRED", "1");
    // One pipe for both streams keeps the names of programs beside their results.
    let (reader, writer) = std::io::pipe()?;
    let mut child = run.stdout(writer.try_clone()?).stderr(writer).spawn()?;
    // The command holds the writing ends; with them open the pipe would never end.
    drop(run);
    for line in BufReader::new(reader).split(b'\n') {
        let line = String::from_utf8_lossy(&line?).into_owned();
        tally.read(&line);
        let dull = line.is_empty() || line.starts_with("test ") && line.ends_with(" ... ok");
        if !dull {
            println!("{line}");
        }
    }
    let status = child.wait()?;
    ensure!(tally.failed == 0, "{} tests failed; they are named above", tally.failed);
    ensure!(status.success(), "the tests ended with {status}");
    ensure!(tally.ignored == 0, "{} tests are ignored; a test runs or goes", tally.ignored);
    ensure!(tally.passed > before, "no test ran");
    Ok(())
}

impl Tally {
    /// Takes in one line of `cargo test`: the name of a program, or its result.
    fn read(&mut self, line: &str) {
        if let Some(program) = line.trim_start().strip_prefix("Running ") {
            self.programs.push((0.0, name_of(program)));
        }
        let Some(result) = line.strip_prefix("test result: ") else { return };
        for (number, what) in result.split([';', '.']).filter_map(|part| {
            let mut words = part.split_whitespace();
            Some((words.next()?.parse::<u64>().ok()?, words.next()?))
        }) {
            match what {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.ignored += number,
                _ => {}
            }
        }
        let time = result.rsplit_once("finished in ").and_then(|(_, time)| {
            time.trim().strip_suffix('s').and_then(|seconds| seconds.parse().ok())
        });
        if let (Some(time), Some(last)) = (time, self.programs.last_mut()) {
            last.0 = time;
        }
    }
}

/// `unittests src/lib.rs (target/debug/deps/minfer_quant-0123)` is `minfer_quant src/lib.rs`.
fn name_of(program: &str) -> String {
    let Some((source, path)) = program.rsplit_once(" (") else { return program.to_owned() };
    let file = path.trim_end_matches(')').rsplit('/').next().unwrap_or(path);
    let krate = file.rsplit_once('-').map_or(file, |(name, _)| name);
    format!("{krate} {}", source.trim_start_matches("unittests "))
}

#[cfg(test)]
#[path = "test_tests.rs"]
mod tests;
