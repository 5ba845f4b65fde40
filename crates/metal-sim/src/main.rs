//! The `metal-sim` command: checks Metal sources, and runs a kernel for a quick look.
//!
//! Answers go to standard output. Exit status 0 is clean, 1 is findings, 2 is anything else.

mod command;

use std::io::{self, Write as _};
use std::process::ExitCode;

use command::Failure;

fn main() -> ExitCode {
    let matches = command::build().get_matches();
    let mut out = io::stdout().lock();
    match command::dispatch(&matches, &mut out) {
        Ok(clean) => ExitCode::from(u8::from(!clean)),
        // A reader that has gone has seen enough.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(failure) => {
            let _ = writeln!(io::stderr(), "error: {failure}");
            ExitCode::from(2)
        }
    }
}
