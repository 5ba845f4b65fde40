//! Runs the command in a home of its own, with none of the machine's settings.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A home, and what is run in it.
pub struct Shell {
    pub home: TempDir,
    environment: Vec<(String, String)>,
}

/// How a run ended.
pub struct Ended {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Shell {
    pub fn new() -> Shell {
        Shell { home: tempfile::tempdir().unwrap(), environment: Vec::new() }
    }

    pub fn with(mut self, name: &str, value: impl AsRef<str>) -> Shell {
        self.environment.push((name.to_owned(), value.as_ref().to_owned()));
        self
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    pub fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_minfer"));
        command
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", std::env::var("PATH").unwrap());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.current_dir(self.home.path()).stdin(Stdio::null());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ended {
        ended(self.command().args(arguments).output().unwrap())
    }

    /// Runs with text on standard input.
    pub fn feed(&self, arguments: &[&str], input: &str) -> Ended {
        let file = self.write("standard-input", input);
        let input = std::fs::File::open(file).unwrap();
        ended(self.command().args(arguments).stdin(input).output().unwrap())
    }

    /// Runs, expects success, and gives standard output.
    pub fn good(&self, arguments: &[&str]) -> String {
        let ended = self.run(arguments);
        assert_eq!(ended.status, 0, "{arguments:?}: {}", ended.stderr);
        ended.stdout
    }

    /// Runs, expects success and JSON.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let out = self.good(arguments);
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {out}"))
    }

    /// Runs, expects a status and that the message says all of `parts`, in one `error: ` line.
    pub fn bad(&self, arguments: &[&str], status: i32, parts: &[&str]) {
        let ended = self.run(arguments);
        assert_eq!(ended.status, status, "{arguments:?}: {}", ended.stderr);
        assert_eq!(ended.stdout, "", "{arguments:?}: answers only on standard output");
        assert!(ended.stderr.contains("error: "), "{arguments:?}: {}", ended.stderr);
        assert!(!ended.stderr.contains("panicked"), "{arguments:?}: {}", ended.stderr);
        for part in parts {
            assert!(ended.stderr.contains(part), "{arguments:?}: no {part:?} in {}", ended.stderr);
        }
    }
}

pub fn ended(output: Output) -> Ended {
    Ended {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// The path of SmolLM2, which is there or the test fails.
pub fn smollm2() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../target/models/SmolLM2-135M-Instruct.Q4_1.gguf");
    assert!(path.exists(), "{} is missing: run `cargo xtask models`", path.display());
    path.to_string_lossy().into_owned()
}
