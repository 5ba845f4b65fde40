//! `cargo xtask mac`: the command for macOS, compiled and linked on Linux, and the system symbols
//! that it uses, held against the list in `mac/symbols.txt`.
//!
//! Nothing of Apple's is needed: the linker is LLVM's, and what it links against are stubs that
//! are written from the list. So the list is also the review of what the command asks of macOS. It
//! proves types, names and linkage; only a Mac can run the result.

mod symbols;

use crate::process::{self, cargo, command, output, root, run as run_command};
use crate::{apt, clang};
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use symbols::Library;

pub const TARGET: &str = "aarch64-apple-darwin";

/// What is linked: the command with the Metal device.
const PROGRAM: [&str; 4] = ["--package", "minfer", "--bin", "minfer"];

/// LLVM's linker for Apple's platforms, its C compiler's archiver, and its reader of symbols.
const LINKER: &str = "ld64.lld-19";
const ARCHIVER: &str = "llvm-ar-19";
const NAMES: &str = "llvm-nm-19";

/// Debian's compiler, and the source of its standard library: built where rustup has none ready.
const RUSTC: &str = "/usr/bin/rustc";
const SOURCE: &str = "/usr/lib/rustlib/src/rust/library/std/Cargo.toml";

/// Packages of Debian that bring them.
const LINKER_PACKAGES: [&str; 2] = ["lld-19", "llvm-19"];
const RUST_PACKAGES: [&str; 2] = ["rustc-web", "rust-web-src"];

/// The list, and how its first lines name the compiler that it was written with.
const LIST: &str = "xtask/src/mac/symbols.txt";
const WRITTEN_WITH: &str = "# Written with ";

/// The one header that C sources ask for, and what of it they use.
const HEADER: &str = "usr/include/TargetConditionals.h";
const CONDITIONALS: &str = "#define TARGET_OS_MAC 1\n#define TARGET_OS_OSX 1\n";

/// Variables that make a missing tool a failure.
const REQUIRED: [&str; 2] = ["CI", "METAL_SIM_REQUIRED"];

/// Which compiler, and whether its standard library is built along.
struct Toolchain {
    rustc: PathBuf,
    version: String,
    build_std: bool,
}

/// The entry point.
///
/// # Errors
/// A tool cannot be installed, the command does not compile or link, or it uses other symbols than
/// the list has.
pub fn run(arguments: &[String]) -> Result<()> {
    process::flags(arguments, [])?;
    check(&toolchain()?)
}

/// A part of the whole gate: as [`run`], but where the tools cannot be had it says so, loudly, and
/// fails only where everything must run.
///
/// # Errors
/// As [`run`].
pub fn test() -> Result<()> {
    let toolchain = match toolchain() {
        Ok(toolchain) => toolchain,
        Err(error) if REQUIRED.iter().any(|name| std::env::var_os(name).is_some()) => {
            return Err(error);
        }
        Err(error) => {
            println!("NOT RUN: the link for macOS: {error:#}");
            return Ok(());
        }
    };
    check(&toolchain)
}

/// Finds or installs the tools.
fn toolchain() -> Result<Toolchain> {
    clang::run(&[])?;
    if !runs(LINKER) || !runs(ARCHIVER) || !runs(NAMES) {
        apt::install(&LINKER_PACKAGES, "")?;
    }
    let rustc = std::env::var_os("RUSTC").map_or_else(|| PathBuf::from("rustc"), PathBuf::from);
    let sysroot = output(command(&rustc).args(["--print", "sysroot"]))?;
    let ready = Path::new(sysroot.trim()).join("lib/rustlib").join(TARGET).exists();
    if !ready && !Path::new(SOURCE).exists() {
        let other = format!(", or run `rustup target add {TARGET}`");
        apt::install(&RUST_PACKAGES, &other)?;
    }
    let rustc = if ready { rustc } else { PathBuf::from(RUSTC) };
    let version = output(command(&rustc).arg("--version"))?;
    let version = version.split(" (").next().unwrap_or_default().trim().to_owned();
    Ok(Toolchain { rustc, version, build_std: !ready })
}

fn runs(program: &str) -> bool {
    output(command(program).arg("--version")).is_ok()
}

/// Compiles, links, and compares the symbols.
fn check(toolchain: &Toolchain) -> Result<()> {
    let text = fs::read_to_string(root().join(LIST))?;
    let listed = symbols::parse(&text).with_context(|| LIST.to_owned())?;
    let folder = root().join("target/mac");
    let stubs = folder.join("sdk");
    write_stubs(&listed, &stubs)?;
    println!(
        "{} for {TARGET}{}",
        toolchain.version,
        match toolchain.build_std {
            true => ", with its standard library",
            false => "",
        }
    );
    run_command(&mut build(toolchain, &folder, &stubs)).context("the command for macOS")?;
    let program = folder.join("build").join(TARGET).join("debug/minfer");
    let names = output(command(NAMES).args(["-m", "--undefined-only"]).arg(&program))?;
    let used = symbols::used(&names)?;
    let same = text.lines().any(|line| line == format!("{WRITTEN_WITH}{}", toolchain.version));
    compare(&listed, &used, same)?;
    let count: usize = used.iter().map(|library| library.symbols.len()).sum();
    println!("{} symbols of {} libraries, as listed in {LIST}", count, used.len());
    Ok(())
}

/// Cargo that builds the command.
fn build(toolchain: &Toolchain, folder: &Path, stubs: &Path) -> Command {
    let mut build = cargo();
    build.args(["build", "--locked", "--quiet", "--target", TARGET]).args(PROGRAM);
    build.arg("--target-dir").arg(folder.join("build"));
    // Nothing of it is run: time is what counts.
    for setting in ["opt-level=0", "debug=false", "debug-assertions=false"] {
        build.args(["--config", &format!("profile.dev.{setting}")]);
    }
    build.args(["--config", "profile.dev.package.\"*\".opt-level=0"]);
    build.env("RUSTC", &toolchain.rustc).env("CARGO_INCREMENTAL", "0");
    if toolchain.build_std {
        // Debian's compiler is a stable one.
        build.env("RUSTC_BOOTSTRAP", "1");
        build.args(["-Zbuild-std=std", "-Zbuild-std-features=panic-unwind"]);
    }
    // Symbols that no stub has are left open and found by the comparison, all at once.
    let flags =
        "-Clinker-flavor=ld64.lld -Clink-arg=-undefined -Clink-arg=dynamic_lookup -Cstrip=none";
    build.env("CARGO_TARGET_AARCH64_APPLE_DARWIN_LINKER", LINKER);
    build.env("CARGO_TARGET_AARCH64_APPLE_DARWIN_RUSTFLAGS", flags);
    build.env("SDKROOT", stubs);
    // What is written in C brings its own declarations where there are no headers.
    let headers = stubs.join("usr/include").display().to_string();
    let c = format!("-nostdlibinc -DRING_CORE_NOSTDLIBINC=1 -isystem {headers}");
    build.env("CC_aarch64_apple_darwin", "clang-19").env("CFLAGS_aarch64_apple_darwin", c);
    build.env("AR_aarch64_apple_darwin", ARCHIVER);
    build
}

/// The stubs, in the folders of an SDK.
fn write_stubs(libraries: &[Library], folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    let header = folder.join(HEADER);
    fs::create_dir_all(header.parent().context("a header lies in a folder")?)?;
    fs::write(header, CONDITIONALS)?;
    for library in libraries {
        let path = folder.join(library.stub_path()?);
        fs::create_dir_all(path.parent().context("a stub lies in a folder")?)?;
        fs::write(&path, library.stub())?;
        // What C programs ask for by other names is this library, too.
        if library.path == symbols::SYSTEM {
            for name in ["libc.tbd", "libm.tbd"] {
                fs::copy(&path, path.with_file_name(name))?;
            }
        }
    }
    Ok(())
}

/// Holds what is used against the list. `same_compiler`: another compiler's standard library may
/// use other symbols of the system's library, which is told and no failure.
fn compare(listed: &[Library], used: &[Library], same_compiler: bool) -> Result<()> {
    let differences = symbols::differences(listed, used);
    if differences.is_empty() {
        return Ok(());
    }
    let of_std = differences.iter().all(|difference| difference.may_be_of_std());
    let text: String = differences.iter().map(|difference| format!("\n  {difference}")).collect();
    if !same_compiler && of_std {
        println!("another compiler than {LIST} was written with uses other symbols:{text}");
        return Ok(());
    }
    bail!("the command uses other symbols of macOS than {LIST} lists:{text}");
}

#[cfg(test)]
#[path = "mac_tests.rs"]
mod tests;
