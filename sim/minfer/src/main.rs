//! The `minfer` command, linked to the simulator of Metal: it has the device `metal-sim`.

use std::process::ExitCode;

fn main() -> ExitCode {
    minfer_cli::main()
}
