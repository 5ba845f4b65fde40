//! Runs the command in a home of its own. Compiled kernels are kept beside the program.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A home.
pub struct Shell {
    home: TempDir,
}

/// How a run ended.
pub struct Ended {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Shell {
    pub fn new() -> Shell {
        Shell { home: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    pub fn run(&self, arguments: &[&str]) -> Ended {
        self.run_with(arguments, &[])
    }

    /// Runs with these variables too.
    pub fn run_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Ended {
        let output = Command::new(env!("CARGO_BIN_EXE_minfer"))
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .envs(variables.iter().copied())
            .current_dir(self.home.path())
            .stdin(Stdio::null())
            .args(arguments)
            .output()
            .unwrap();
        Ended {
            status: output.status.code().expect("ends by itself"),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs, expects success, and gives standard output.
    pub fn good(&self, arguments: &[&str]) -> String {
        let ended = self.run(arguments);
        assert_eq!(ended.status, 0, "{arguments:?}: {}", ended.stderr);
        ended.stdout
    }

    /// Runs, expects a status and that the message says all of `parts`.
    pub fn bad(&self, arguments: &[&str], status: i32, parts: &[&str]) {
        let ended = self.run(arguments);
        assert_eq!(ended.status, status, "{arguments:?}: {}", ended.stderr);
        for part in ["error: "].iter().chain(parts) {
            assert!(ended.stderr.contains(part), "{arguments:?}: no {part:?} in {}", ended.stderr);
        }
        assert!(!ended.stderr.contains("panicked"), "{arguments:?}: {}", ended.stderr);
    }
}
