//! Driving the compiler: preprocess, generate, check or build, load.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::clang::{Clang, Run};
use super::diagnostics::{Diagnostic, Reader, Severity};
use super::notes::Notes;
use super::shim::Shim;
use super::{Checked, CompileError, Source, cache, flags, strict};
use crate::Place;
use crate::library::{Library, Mode};
use crate::source::{Columns, Generated, Signature, escape, generate};

/// Compiles sources of kernels.
#[derive(Clone, Debug)]
pub struct Compiler {
    clang: Clang,
    folder: PathBuf,
    bound: u64,
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
            bound: cache::BOUND,
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

    /// Keeps this many bytes of libraries at most: those used last.
    #[must_use]
    pub fn with_cache_bound(mut self, bytes: u64) -> Self {
        self.bound = bytes;
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

    /// Checks types and address spaces as strictly as Apple's compiler does, as far as is known,
    /// and lists the kernels.
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
        let headers = shim.headers.to_string_lossy();
        let kernels: Vec<Place> = signatures.iter().map(|one| one.place.clone()).collect();
        let reader = Reader { headers: &headers, kernels: &kernels };
        let strict::Judged { warnings, mut errors, allowed } =
            strict::judge(reader.read(&run.messages), &in_spaces);
        errors.extend(strict::casts(&run.output, &headers));
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
            judge(&run, reader)?;
        }
        Ok(Checked { signatures, warnings })
    }

    /// Compiles a source, or finds it in the cache, and loads it.
    ///
    /// # Errors
    /// The source is wrong, or the compiler cannot be run.
    pub fn compile(&self, source: &Source, mode: Mode) -> Result<Library, CompileError> {
        let shim = self.shim()?;
        let generated = self.generate(source, &shim)?;
        let flags = flags::library(mode);
        let mut hash = shim.hash;
        for part in flags.iter().copied().chain([self.clang.version.as_str(), &generated.text]) {
            hash.add(part);
        }
        let path = self.folder.join(format!("{hash}.so"));
        if cache::touch(&path) {
            // Another process may have pruned it just now.
            if let Ok(library) = Library::open(&path) {
                return Ok(library);
            }
        }
        self.make(&path, &generated, &flags, &shim)?;
        let library = Library::open(&path)?;
        cache::prune(&self.folder, self.bound);
        Ok(library)
    }

    /// [`Compiler::check`], then [`Compiler::compile`]. A source that includes no files, and that
    /// any process has found right before, is loaded without a run of the compiler.
    ///
    /// # Errors
    /// As of `check`.
    pub fn build(&self, source: &Source, mode: Mode) -> Result<Library, CompileError> {
        let shim = self.shim()?;
        let notes = self.notes(source, &shim);
        if !notes.is_checked() {
            self.check(source)?;
            notes.set_checked();
        }
        // A library that was pruned just now is made again.
        if let Some(library) = notes.library(mode).and_then(|path| Library::open(&path).ok()) {
            return Ok(library);
        }
        let library = self.compile(source, mode)?;
        notes.set_library(mode, library.path());
        Ok(library)
    }

    fn notes(&self, source: &Source, shim: &Shim) -> Notes {
        let libraries = [Mode::Fast, Mode::Checked].map(flags::library).concat();
        let flags = [flags::preprocess(), flags::strict(), libraries].concat();
        let defines = self.defines.iter().flat_map(|(name, value)| [name.as_str(), value]);
        let words = [source.name.as_str(), &self.clang.version].into_iter().chain(defines);
        Notes::new(&self.folder, &source.text, shim.hash, words.chain(flags))
    }

    fn make(
        &self,
        path: &Path,
        generated: &Generated,
        flags: &[&str],
        shim: &Shim,
    ) -> Result<(), CompileError> {
        let failed = |error| CompileError::Io { path: path.to_owned(), error };
        let _lock = cache::lock(path).map_err(failed)?;
        if path.is_file() {
            return Ok(());
        }
        let made = cache::temporary(path);
        let output = ["-o".into(), made.clone().into_os_string(), "-".into(), "-lm".into()];
        let flags = with_headers(flags, shim);
        let run = self.clang.run(flags.iter().chain(&output), &generated.text)?;
        let kernels: Vec<Place> =
            generated.signatures.iter().map(|signature| signature.place.clone()).collect();
        judge(&run, Reader { headers: &shim.headers.to_string_lossy(), kernels: &kernels })?;
        fs::rename(&made, path).map_err(failed)
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
        judge(&run, Reader { headers: &shim.headers.to_string_lossy(), kernels: &[] })?;
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

/// Warnings of a run of the compiler, or its errors.
fn judge(run: &Run, reader: Reader<'_>) -> Result<Vec<Diagnostic>, CompileError> {
    let (errors, warnings): (Vec<_>, Vec<_>) = reader
        .read(&run.messages)
        .into_iter()
        .partition(|diagnostic| diagnostic.severity == Severity::Error);
    match (run.success, errors.is_empty()) {
        (true, true) => Ok(warnings),
        (false, true) => Err(CompileError::Compiler { messages: run.messages.clone() }),
        (_, false) => Err(CompileError::Source { diagnostics: errors }),
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
