//! The `minfer` command: see the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    minfer_cli::main()
}
