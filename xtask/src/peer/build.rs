//! Building the peer: the sources of `xtask/peer` copied below `target/peer`, once per compiler.

use crate::process::{self, cargo, command, output, python_with, root};
use anyhow::{Context as _, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};

/// One build of llama.cpp.
pub struct Peer {
    /// What the table calls it.
    pub name: &'static str,
    /// The program.
    pub program: PathBuf,
    /// ggml's own line of what it was built with.
    pub features: String,
}

struct Compiler {
    name: &'static str,
    c: &'static str,
    cpp: &'static str,
    /// OpenMP is llama.cpp's default; clang's would need a run-time library of its own, and
    /// ggml's own threads take its place.
    features: &'static [&'static str],
    /// gcc before 14 tells its optimizer only of the first bytes that `ldtilecfg` reads, so that
    /// the rest of a tile configuration may be dropped: ggml's AMX kernels then end in an illegal
    /// instruction. They stay out of that build; clang's has them.
    flags: &'static str,
}

const COMPILERS: [Compiler; 2] = [
    Compiler {
        name: "llama.cpp gcc",
        c: "gcc",
        cpp: "g++",
        features: &["--features", "openmp"],
        flags: "-U__AMX_INT8__",
    },
    Compiler {
        name: "llama.cpp clang-19",
        c: "clang-19",
        cpp: "clang++-19",
        features: &[],
        flags: "",
    },
];

const PYTHON_TOOLS: [&str; 2] = ["cmake==3.31.6", "libclang==18.1.1"];

/// Builds what is not built yet, and asks each build what it is.
///
/// # Errors
/// A tool cannot be had or a build fails.
pub fn peers() -> Result<Vec<Peer>> {
    let folder = root().join("target/peer");
    copy_sources(&folder.join("source"))?;
    bring_clang()?;
    let python = python_with("peer/venv", &PYTHON_TOOLS)?;
    let mut peers = Vec::new();
    for compiler in &COMPILERS {
        let program = build(compiler, &folder, &python)
            .with_context(|| format!("building {}", compiler.name))?;
        let features = output(command(&program).arg("--features"))?.trim().to_owned();
        println!("{}: {features}", compiler.name);
        peers.push(Peer { name: compiler.name, program, features });
    }
    Ok(peers)
}

/// Cargo takes no file of `xtask/peer` for a package, since each ends in `.in`.
fn copy_sources(target: &Path) -> Result<()> {
    let source = root().join("xtask/peer");
    fs::create_dir_all(target.join("src"))?;
    for (from, to) in [("Cargo.toml.in", "Cargo.toml"), ("main.rs.in", "src/main.rs")] {
        let text = fs::read(source.join(from))?;
        // An unchanged file keeps its time, so that nothing is built again.
        if fs::read(target.join(to)).ok().as_ref() != Some(&text) {
            fs::write(target.join(to), text)?;
        }
    }
    Ok(())
}

/// clang is Debian's; where this is not Debian or not root, the user has to bring it.
fn bring_clang() -> Result<()> {
    if output(command("clang++-19").arg("--version")).is_ok() {
        return Ok(());
    }
    let advice = "clang-19 is needed and could not be installed: `apt-get install clang-19` as \
                  root, or put clang-19 and clang++-19 on the path";
    println!("installing clang-19");
    output(command("apt-get").args(["update", "-q"])).context(advice)?;
    output(
        command("apt-get")
            .args(["install", "-y", "-q", "--no-install-recommends", "clang-19"])
            .env("DEBIAN_FRONTEND", "noninteractive"),
    )
    .context(advice)?;
    output(command("clang++-19").arg("--version")).context(advice)?;
    Ok(())
}

fn build(compiler: &Compiler, folder: &Path, python: &Path) -> Result<PathBuf> {
    let target = folder.join(compiler.c);
    let tools = python.parent().context("a Python has a folder")?;
    let libclang = "import clang, os; print(os.path.join(list(clang.__path__)[0], 'native'))";
    let libclang = output(command(python).args(["-c", libclang]))?;
    // The library comes without the headers that belong to a compiler; gcc's serve.
    let headers = output(command("gcc").arg("-print-file-name=include"))?;
    process::run(
        cargo()
            .args(["build", "--release", "--manifest-path"])
            .arg(folder.join("source/Cargo.toml"))
            .args(compiler.features)
            .env("CARGO_TARGET_DIR", &target)
            .env("RUSTFLAGS", "-C target-cpu=native")
            .env("CC", compiler.c)
            .env("CXX", compiler.cpp)
            .env("CFLAGS", compiler.flags)
            .env("CXXFLAGS", compiler.flags)
            .env("CMAKE", tools.join("cmake"))
            .env("LIBCLANG_PATH", libclang.trim())
            .env("BINDGEN_EXTRA_CLANG_ARGS", format!("-I{}", headers.trim())),
    )?;
    let program = target.join("release/peer");
    ensure!(program.exists(), "{} is missing after the build", program.display());
    Ok(program)
}
