//! `metal-sim check`: types, address spaces, attributes; then the kernels and their parameters.

use std::io;
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use metal_sim::{CompileError, Signature, Slot};

use super::{Failure, compiler, compiler_flags, source};

pub fn build() -> Command {
    let files = Arg::new("files")
        .value_name("FILE")
        .required(true)
        .num_args(1..)
        .value_parser(value_parser!(PathBuf))
        .help("Metal sources");
    let quiet = Arg::new("quiet")
        .short('q')
        .long("quiet")
        .action(ArgAction::SetTrue)
        .help("List no kernels");
    let warnings = Arg::new("deny-warnings")
        .long("deny-warnings")
        .action(ArgAction::SetTrue)
        .help("Warnings are findings too");
    let about = "Check types and address spaces of Metal sources and list their kernels";
    compiler_flags(Command::new("check").about(about)).arg(quiet).arg(warnings).arg(files)
}

pub fn run(matches: &ArgMatches, out: &mut impl io::Write) -> Result<bool, Failure> {
    let compiler = compiler(matches)?;
    let mut clean = true;
    for path in matches.get_many::<PathBuf>("files").into_iter().flatten() {
        let (source, compiler) = source(path, &compiler)?;
        let checked = match compiler.inspect(&source) {
            Ok(checked) => checked,
            Err(CompileError::Source { diagnostics }) => {
                clean = false;
                for diagnostic in &diagnostics {
                    writeln!(out, "{diagnostic}")?;
                }
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        for warning in &checked.warnings {
            writeln!(out, "{warning}")?;
        }
        clean &= checked.warnings.is_empty() || !matches.get_flag("deny-warnings");
        if !matches.get_flag("quiet") {
            checked.signatures.iter().try_for_each(|signature| list(signature, out))?;
        }
    }
    Ok(clean)
}

fn list(signature: &Signature, out: &mut impl io::Write) -> io::Result<()> {
    let place = &signature.place;
    write!(out, "{}:{}: kernel {}", place.file, place.line, signature.name)?;
    if let Some(threads) = &signature.max_threads {
        write!(out, ", at most {threads} threads")?;
    }
    writeln!(out)?;
    for parameter in &signature.parameters {
        let binding = match &parameter.binding {
            Slot::Buffer(index) => format!("buffer {}", index.as_deref().unwrap_or("?")),
            Slot::Threadgroup(index) => format!("threadgroup {}", index.as_deref().unwrap_or("?")),
            Slot::Builtin { attribute, .. } => (*attribute).to_owned(),
        };
        let condition =
            parameter.optional.as_ref().map_or(String::new(), |name| format!(", if {name}"));
        writeln!(out, "    {} {}: {binding}{condition}", parameter.kind, parameter.name)?;
    }
    Ok(())
}
