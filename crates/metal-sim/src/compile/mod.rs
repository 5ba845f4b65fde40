//! From Metal text to a loaded library: the generator, clang, the cache.

mod cache;
mod clang;
mod diagnostics;
mod flags;
mod shim;
mod strict;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::library::{Library, LoadError, Mode};
use crate::source::{Columns, Generated, Signature, escape, generate};
use clang::Clang;
pub use diagnostics::{Diagnostic, Note, Severity};
use shim::Shim;

/// A source of kernels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// What reports call it. `#line` directives in the text are honoured.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// Why a source was not compiled.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// There is no compiler.
    #[error(
        "clang {oldest} or newer is needed to compile Metal kernels, but {found}; install it \
         (Debian, Ubuntu: apt-get install clang-{oldest} libclang-rt-{oldest}-dev) or name its \
         clang++ in {variable}"
    )]
    Missing {
        /// The oldest version that will do.
        oldest: u32,
        /// What was found instead.
        found: String,
        /// The variable that names another compiler.
        variable: &'static str,
    },
    /// The source is wrong.
    #[error("{}", lines(diagnostics))]
    Source {
        /// What is wrong, in the order of finding.
        diagnostics: Vec<Diagnostic>,
    },
    /// The compiler failed and did not say where.
    #[error("the compiler failed:\n{messages}")]
    Compiler {
        /// What it wrote.
        messages: String,
    },
    /// The system failed.
    #[error("{path}: {error}", path = path.display())]
    Io {
        /// A file.
        path: PathBuf,
        /// What happened to it.
        error: io::Error,
    },
    /// The compiled library does not load.
    #[error(transparent)]
    Load(#[from] LoadError),
}

fn lines(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// What a check found in a source that compiles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Its kernels.
    pub signatures: Vec<Signature>,
    /// What the compiler warns of.
    pub warnings: Vec<Diagnostic>,
}

/// Compiles sources of kernels.
#[derive(Clone, Debug)]
pub struct Compiler {
    clang: Clang,
    folder: PathBuf,
    includes: Vec<PathBuf>,
    defines: Vec<(String, String)>,
}

impl Compiler {
    /// Finds the compiler: the one that `METAL_SIM_CLANG` names, else clang 19 or newer.
    ///
    /// # Errors
    /// There is none.
    pub fn find() -> Result<Self, CompileError> {
        Ok(Self {
            clang: Clang::find()?,
            folder: cache::default_folder(),
            includes: Vec::new(),
            defines: Vec::new(),
        })
    }

    /// Keeps compiled libraries in this folder.
    #[must_use]
    pub fn with_cache(mut self, folder: &Path) -> Self {
        self.folder = folder.to_owned();
        self
    }

    /// Looks for included files in this folder too.
    #[must_use]
    pub fn include(mut self, folder: &Path) -> Self {
        self.includes.push(folder.to_owned());
        self
    }

    /// Defines a macro.
    #[must_use]
    pub fn define(mut self, name: &str, value: &str) -> Self {
        self.defines.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Checks types and address spaces as strictly as Apple's compiler does, as far as is known, and
    /// lists the kernels.
    ///
    /// # Errors
    /// The source is wrong, or the compiler cannot be run.
    pub fn check(&self, source: &Source) -> Result<Vec<Signature>, CompileError> {
        Ok(self.inspect(source)?.signatures)
    }

    /// [`Compiler::check`], with what the compiler warns of.
    ///
    /// # Errors
    /// As of `check`.
    pub fn inspect(&self, source: &Source) -> Result<Checked, CompileError> {
        let shim = self.shim()?;
        let Generated { text, signatures, in_spaces } = self.generate(source, &shim)?;
        let flags = with_headers(&flags::strict(), &shim);
        let run = self.clang.run(flags.iter().chain([&OsString::from("-")]), &text)?;
        let hidden = shim.headers.to_string_lossy();
        let strict::Judged { warnings, mut errors, allowed } =
            strict::judge(&run.messages, &hidden, &in_spaces);
        errors.extend(strict::casts(&run.output, &hidden));
        if !errors.is_empty() {
            return Err(CompileError::Source { diagnostics: errors });
        }
        if !run.success && allowed == 0 {
            return Err(CompileError::Compiler { messages: run.messages });
        }
        if allowed > 0 {
            // What was let pass may be wrong for another reason.
            let flags = with_headers(&flags::plain(), &shim);
            let run = self.clang.run(flags.iter().chain([&OsString::from("-")]), &text)?;
            self.judge(&run, &shim)?;
        }
        Ok(Checked { signatures, warnings })
    }

    /// Compiles a source, or finds it in the cache, and loads it.
    ///
    /// # Errors
    /// The source is wrong, or the compiler cannot be run.
    pub fn compile(&self, source: &Source, mode: Mode) -> Result<Library, CompileError> {
        let shim = self.shim()?;
        let Generated { text, .. } = self.generate(source, &shim)?;
        let flags = flags::library(mode);
        let mut hash = shim.hash;
        for part in flags.iter().copied().chain([self.clang.version.as_str(), &text]) {
            hash.add(part);
        }
        let path = self.folder.join(format!("{hash}.so"));
        if !path.is_file() {
            self.make(&path, &text, &with_headers(&flags, &shim), &shim)?;
        }
        Ok(Library::open(&path)?)
    }

    fn make(
        &self,
        path: &Path,
        text: &str,
        flags: &[OsString],
        shim: &Shim,
    ) -> Result<(), CompileError> {
        let failed = |error| CompileError::Io { path: path.to_owned(), error };
        let _lock = cache::lock(path).map_err(failed)?;
        if path.is_file() {
            return Ok(());
        }
        let made = cache::temporary(path);
        let output = ["-o".into(), made.clone().into_os_string(), "-".into(), "-lm".into()];
        let run = self.clang.run(flags.iter().chain(&output), text)?;
        let judged = self.judge(&run, shim);
        if judged.is_ok() {
            fs::rename(&made, path).map_err(failed)?;
        }
        judged.map(|_| ())
    }

    /// Warnings of a run of the compiler, or its errors.
    fn judge(&self, run: &clang::Run, shim: &Shim) -> Result<Vec<Diagnostic>, CompileError> {
        let headers = shim.headers.to_string_lossy().into_owned();
        let found = diagnostics::read(&run.messages, |file| file.starts_with(&headers));
        let (errors, warnings): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|one| one.severity == Severity::Error);
        match (run.success, errors.is_empty()) {
            (true, true) => Ok(warnings),
            (false, true) => Err(CompileError::Compiler { messages: run.messages.clone() }),
            (_, false) => Err(CompileError::Source { diagnostics: errors }),
        }
    }

    fn shim(&self) -> Result<Shim, CompileError> {
        let failed = |error| CompileError::Io { path: self.folder.clone(), error };
        Shim::write(&self.folder).map_err(failed)
    }

    fn generate(&self, source: &Source, shim: &Shim) -> Result<Generated, CompileError> {
        let mut flags: Vec<OsString> = flags::preprocess().iter().map(OsString::from).collect();
        flags.extend(self.defines.iter().map(|(name, value)| format!("-D{name}={value}").into()));
        let folders = [&shim.empty].into_iter().chain(&self.includes);
        flags.extend(folders.flat_map(|folder| ["-I".into(), folder.clone().into_os_string()]));
        flags.push("-".into());
        let text = format!("# 1 \"{}\"\n{}", escape(&source.name), source.text);
        let run = self.clang.run(flags, &text)?;
        self.judge(&run, shim)?;
        let included: Vec<(String, String)> = included(&run.output)
            .into_iter()
            .filter(|file| *file != source.name)
            .filter_map(|file| Some((fs::read_to_string(&file).ok()?, file)))
            .collect();
        let mut columns = Columns::default();
        columns.add(&source.text, &source.name);
        included.iter().for_each(|(text, file)| columns.add(text, file));
        generate(&run.output, &source.name, &columns)
            .map_err(|diagnostics| CompileError::Source { diagnostics })
    }
}

/// Files that line markers name.
fn included(text: &str) -> BTreeSet<String> {
    let markers = text.lines().filter_map(|line| line.strip_prefix("# "));
    let names = markers.filter_map(|marker| Some(marker.split_once('"')?.1.rsplit_once('"')?.0));
    names.filter(|name| !name.starts_with('<')).map(str::to_owned).collect()
}

fn with_headers(flags: &[&str], shim: &Shim) -> Vec<OsString> {
    let mut flags: Vec<OsString> = flags.iter().map(OsString::from).collect();
    flags.extend(["-isystem".into(), shim.headers.clone().into_os_string()]);
    flags
}
