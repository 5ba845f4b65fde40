//! The compiler: finding it, asking its version, running it.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::CompileError;

/// The variable that names another compiler.
pub(crate) const VARIABLE: &str = "METAL_SIM_CLANG";

/// The oldest version that knows all that is needed: arithmetic of `__bf16` above all.
const OLDEST: u32 = 19;

/// Names to try, best first.
const NAMES: [&str; 4] = ["clang++-19", "clang++-20", "clang++-21", "clang++"];

/// A compiler that was found.
#[derive(Clone, Debug)]
pub(crate) struct Clang {
    path: PathBuf,
    /// First line of `--version`.
    pub version: String,
}

/// What a run of it gave.
#[derive(Debug)]
pub(crate) struct Run {
    pub success: bool,
    pub output: String,
    pub messages: String,
}

impl Clang {
    /// The compiler that the environment names, or the first fitting one of the search path.
    pub(crate) fn find() -> Result<Self, CompileError> {
        if let Some(path) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
            let path = PathBuf::from(path);
            let version = version(&path).ok_or_else(|| missing(Some(&path), None))?;
            return Self::fitting(path, version);
        }
        let mut unfit = None;
        for name in NAMES {
            let path = PathBuf::from(name);
            if let Some(version) = version(&path) {
                match Self::fitting(path, version) {
                    Ok(clang) => return Ok(clang),
                    Err(error) => unfit = Some(error),
                }
            }
        }
        Err(unfit.unwrap_or_else(|| missing(None, None)))
    }

    fn fitting(path: PathBuf, version: String) -> Result<Self, CompileError> {
        let number = version
            .split("clang version ")
            .nth(1)
            .and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u32>().ok());
        // Apple numbers its own in another way.
        let fits = number.is_some_and(|number| number >= OLDEST) && !version.starts_with("Apple");
        if fits { Ok(Self { path, version }) } else { Err(missing(Some(&path), Some(version))) }
    }

    /// Runs it with `input` on its standard input.
    pub(crate) fn run(
        &self,
        arguments: impl IntoIterator<Item = impl AsRef<OsStr>>,
        input: &str,
    ) -> Result<Run, CompileError> {
        let failed = |error| CompileError::Io { path: self.path.clone(), error };
        let mut child = Command::new(&self.path)
            .args(arguments)
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let output = std::thread::scope(|scope| {
            let stdin = child.stdin.take();
            scope.spawn(move || {
                // A compiler that stops reading says itself why.
                stdin.map(|mut stdin| stdin.write_all(input.as_bytes()))
            });
            child.wait_with_output()
        })
        .map_err(failed)?;
        Ok(Run {
            success: output.status.success(),
            output: String::from_utf8_lossy(&output.stdout).into_owned(),
            messages: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }
}

fn version(path: &Path) -> Option<String> {
    let output = Command::new(path).arg("--version").stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().next().filter(|_| output.status.success()).map(str::to_owned)
}

fn missing(path: Option<&Path>, found: Option<String>) -> CompileError {
    let found = match (path, found) {
        (Some(path), Some(version)) => format!("{} is \"{version}\"", path.display()),
        (Some(path), None) => format!("{} does not run", path.display()),
        (None, _) => format!("none of {} runs", NAMES.join(", ")),
    };
    CompileError::Missing { oldest: OLDEST, found, variable: VARIABLE }
}
