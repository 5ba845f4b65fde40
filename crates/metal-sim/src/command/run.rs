//! `metal-sim run`: one launch of one kernel.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use metal_sim::{Binding, Grid, Launch, Memory, Mode, Profile, Simulator};

use super::values::{Scalar, bytes, extent, indexed};
use super::{Failure, compiler, compiler_flags, source};

pub fn build() -> Command {
    let argument = |name: &'static str, value: &'static str| Arg::new(name).value_name(value);
    let flag = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).help(help)
    };
    let many = |arg: Arg| arg.action(ArgAction::Append);
    let buffer = "Bind memory: zero bytes, @FILE, TYPE:VALUE,VALUE… or TYPE:FROM..TO";
    let command = Command::new("run")
        .about("Run a kernel once and report what it does wrong")
        .arg(argument("file", "FILE").required(true).value_parser(value_parser!(PathBuf)))
        .arg(argument("kernel", "KERNEL").required(true))
        .arg(flag("grid", "X,Y,Z", "Threads of the grid").default_value("32"))
        .arg(flag("groups", "X,Y,Z", "Threadgroups of the grid, instead of --grid"))
        .arg(flag("threads", "X,Y,Z", "Threads of a threadgroup").default_value("32"))
        .arg(many(flag("buffer", "INDEX=VALUES", buffer)))
        .arg(many(flag("threadgroup", "INDEX=BYTES", "Give threadgroup memory")))
        .arg(many(flag("constant", "INDEX=TYPE:VALUE", "Set a function constant")))
        .arg(many(flag("print", "INDEX=TYPE", "Print a buffer after the run")))
        .arg(flag("seed", "N", "Order of lanes; 0 is in order").default_value("0"))
        .arg(flag("profile", "NAME", "The GPU whose limits hold").default_value("m1"))
        .arg(Arg::new("fast").long("fast").help("Run without checks").action(ArgAction::SetTrue));
    compiler_flags(command)
}

pub fn run(matches: &ArgMatches, out: &mut impl io::Write) -> Result<bool, Failure> {
    let all = |name| matches.get_many::<String>(name).into_iter().flatten();
    let one = |name| matches.get_one::<String>(name).map_or("", String::as_str);
    let path = matches.get_one::<PathBuf>("file").map(PathBuf::as_path).unwrap_or("".as_ref());
    let (source, compiler) = source(path, &compiler(matches)?)?;
    let mode = if matches.get_flag("fast") { Mode::Fast } else { Mode::Checked };
    let library = match compiler.compile(&source, mode) {
        Ok(library) => library,
        Err(metal_sim::CompileError::Source { diagnostics }) => {
            diagnostics.iter().try_for_each(|diagnostic| writeln!(out, "{diagnostic}"))?;
            return Ok(false);
        }
        Err(error) => return Err(error.into()),
    };
    let mut constants = Vec::new();
    for value in all("constant") {
        let (index, value) = indexed("constant", value)?;
        constants.push((index, bytes("constant", value)?));
    }
    let mut memories: Vec<(u32, Arc<Memory>)> = Vec::new();
    for value in all("buffer") {
        let (index, value) = indexed("buffer", value)?;
        memories.push((index, Memory::of(&bytes("buffer", value)?)?));
    }
    let grid = match matches.get_one::<String>("groups") {
        Some(groups) => Grid::Threadgroups(extent("groups", groups)?),
        None => Grid::Threads(extent("grid", one("grid"))?),
    };
    let launch = Launch {
        kernel: library.kernel(one("kernel"))?.with_constants(&constants)?,
        bindings: memories.iter().map(|(index, memory)| Binding::whole(*index, memory)).collect(),
        threadgroup_memory: all("threadgroup")
            .map(|value| threadgroup(value))
            .collect::<Result<_, _>>()?,
        grid,
        threads_per_threadgroup: extent("threads", one("threads"))?,
    };
    let outcome = Simulator {
        seed: number("seed", one("seed"))?,
        ..Simulator::new(profile(one("profile"))?)
    }
    .run(&launch);
    for report in &outcome.reports {
        writeln!(out, "{report}")?;
    }
    for value in all("print") {
        print(value, &memories, out)?;
    }
    Ok(outcome.reports.is_empty())
}

fn number<T: std::str::FromStr>(flag: &'static str, value: &str) -> Result<T, Failure> {
    let failed = |_| Failure::Argument { flag, value: value.to_owned(), expected: "a number" };
    value.parse().map_err(failed)
}

fn threadgroup(value: &str) -> Result<(u32, usize), Failure> {
    let (index, length) = indexed("threadgroup", value)?;
    Ok((index, number("threadgroup", length)?))
}

fn profile(name: &str) -> Result<Profile, Failure> {
    let named = |profile: &Profile| {
        profile.name.rsplit(' ').next().is_some_and(|last| last.eq_ignore_ascii_case(name))
    };
    Profile::ALL.into_iter().find(named).ok_or_else(|| Failure::Argument {
        flag: "profile",
        value: name.to_owned(),
        expected: "m1, m2, m3, m4, m5 or small",
    })
}

fn print(
    value: &str,
    memories: &[(u32, Arc<Memory>)],
    out: &mut impl io::Write,
) -> Result<(), Failure> {
    let (index, scalar) = indexed("print", value)?;
    let bad = |expected| Failure::Argument { flag: "print", value: value.to_owned(), expected };
    let scalar = Scalar::parse(scalar).ok_or_else(|| bad("INDEX=TYPE, for example 1=f32"))?;
    let memory = memories.iter().find(|(known, _)| *known == index);
    let (_, memory) = memory.ok_or_else(|| bad("the index of a --buffer"))?;
    write!(out, "buffer {index}:")?;
    for bytes in memory.read().chunks_exact(scalar.size()) {
        write!(out, " {}", scalar.decode(bytes).unwrap_or_default())?;
    }
    writeln!(out)?;
    Ok(())
}
