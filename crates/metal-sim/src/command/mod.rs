//! The commands, one file each, and what they share.

mod check;
mod run;
mod values;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use metal_sim::{CompileError, Compiler, ConstantError, NoKernel, OutOfMemory, Source};

/// Why a command could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// No compiler, or a failure of the system while compiling.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The kernel does not exist.
    #[error(transparent)]
    NoKernel(#[from] NoKernel),
    /// A function constant does not exist or has another size.
    #[error(transparent)]
    Constant(#[from] ConstantError),
    /// A buffer is too large.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// A file cannot be read.
    #[error("{path}: {error}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// An argument that cannot be read.
    #[error("--{flag} {value}: expected {expected}")]
    Argument {
        /// Its flag.
        flag: &'static str,
        /// Its value.
        value: String,
        /// What it should be.
        expected: &'static str,
    },
    /// Standard output is closed.
    #[error("standard output: {0}")]
    Output(#[from] io::Error),
}

/// The command line.
pub fn build() -> Command {
    Command::new("metal-sim")
        .about("Runs and sanitizes Metal compute kernels on an ordinary processor")
        .version(env!("CARGO_PKG_VERSION"))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(check::build())
        .subcommand(run::build())
}

/// Runs the command that was asked for; the answer says whether nothing was found.
pub fn dispatch(matches: &ArgMatches, out: &mut impl io::Write) -> Result<bool, Failure> {
    match matches.subcommand() {
        Some(("check", matches)) => check::run(matches, out),
        Some(("run", matches)) => run::run(matches, out),
        _ => Ok(true),
    }
}

/// Flags of whatever compiles.
fn compiler_flags(command: Command) -> Command {
    let folder = Arg::new("include")
        .short('I')
        .value_name("FOLDER")
        .action(ArgAction::Append)
        .value_parser(value_parser!(PathBuf))
        .help("Look for included files in this folder too");
    let define = Arg::new("define")
        .short('D')
        .value_name("NAME[=VALUE]")
        .action(ArgAction::Append)
        .help("Define a macro");
    let cache = Arg::new("cache")
        .long("cache")
        .value_name("FOLDER")
        .value_parser(value_parser!(PathBuf))
        .help("Keep compiled kernels in this folder");
    command.arg(folder).arg(define).arg(cache)
}

fn compiler(matches: &ArgMatches) -> Result<Compiler, Failure> {
    let mut compiler = Compiler::find()?;
    if let Some(folder) = matches.get_one::<PathBuf>("cache") {
        compiler = compiler.with_cache(folder);
    }
    for folder in matches.get_many::<PathBuf>("include").into_iter().flatten() {
        compiler = compiler.include(folder);
    }
    for define in matches.get_many::<String>("define").into_iter().flatten() {
        let (name, value) = define.split_once('=').unwrap_or((define, "1"));
        compiler = compiler.define(name, value);
    }
    Ok(compiler)
}

/// A source, and a compiler that finds what it includes from beside it.
fn source(path: &Path, compiler: &Compiler) -> Result<(Source, Compiler), Failure> {
    let text =
        fs::read_to_string(path).map_err(|error| Failure::File { path: path.to_owned(), error })?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let compiler = compiler.clone().include(folder.unwrap_or(Path::new(".")));
    Ok((Source { name: path.display().to_string(), text }, compiler))
}
