#![expect(unsafe_code, reason = "loads shared objects and reads the tables that they export")]
//! Compiled kernels: a shared object in memory, its kernels, their parameters, its function
//! constants.
//!
//! A library's function constants are variables of the loaded object. A [`Kernel`] carries the
//! values it was made with; they are written when a launch begins, under a lock that keeps launches
//! with other values out until it ends. The system's loader has one copy of a file, so all
//! [`Library`] values of one file share that lock.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, c_char};
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::abi;
use crate::place::Place;
use crate::run::symbols;

/// What a library was compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Speed: guard pages alone watch over memory.
    Fast,
    /// Every access is checked.
    Checked,
}

/// A file that is not a library of kernels.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The system's loader refuses it.
    #[error("{path}: not a loadable library of kernels: {reason}", path = path.display())]
    Loader {
        /// The file.
        path: PathBuf,
        /// What the loader says.
        reason: libloading::Error,
    },
    /// It was made by another version of this crate.
    #[error(
        "{path}: the library speaks version {found} of the interface, this crate {expected}; \
         compile it again",
        path = path.display()
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// The version of the library.
        found: u32,
        /// The version of this crate.
        expected: u32,
    },
    /// A table in it holds what cannot be.
    #[error(
        "{path}: the library's table of {table} is broken; compile it again",
        path = path.display()
    )]
    Table {
        /// The file.
        path: PathBuf,
        /// "kernels", "parameters" or "function constants".
        table: &'static str,
    },
}

/// A name that no kernel of the library has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no kernel `{name}` in {file}; it has {}", list(known))]
pub struct NoKernel {
    /// The name.
    pub name: String,
    /// File of the library.
    pub file: String,
    /// The names there are.
    pub known: Vec<String>,
}

/// A value that a function constant cannot take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConstantError {
    /// No function constant has this index.
    #[error("no function constant {index} in {file}; it has {}", list(known))]
    Unknown {
        /// The index.
        index: u32,
        /// File of the library.
        file: String,
        /// Index and name of those there are.
        known: Vec<String>,
    },
    /// The value has another size than the constant's type.
    #[error("function constant {index} (`{kind} {name}`) takes {expected} bytes, found {found}")]
    Size {
        /// The index.
        index: u32,
        /// The constant's name.
        name: String,
        /// Its type.
        kind: String,
        /// Bytes of its type.
        expected: usize,
        /// Bytes of the value.
        found: usize,
    },
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// Of what kind a parameter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParameterKind {
    /// A pointer or reference to device or constant memory.
    Buffer,
    /// Threadgroup memory whose size the launch gives.
    Threadgroup,
    /// A value that every thread is given.
    Builtin,
}

/// One parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Of what kind.
    pub kind: ParameterKind,
    /// Of the buffer or threadgroup memory; for a built-in value, of [`abi::builtin`].
    pub index: u32,
    /// Its name.
    pub name: String,
    /// Whether it is a reference, which needs all bytes of its type.
    pub reference: bool,
    /// Whether the kernel cannot write through it.
    pub constant: bool,
    /// Bytes of what it points to, or of the value.
    pub size: usize,
    /// Alignment of the same.
    pub align: usize,
}

/// A function constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constant {
    /// Its index.
    pub index: u32,
    /// Its name.
    pub name: String,
    /// Its type, as the source spells it.
    pub kind: String,
    /// Bytes of its type.
    pub size: usize,
}

/// The libraries that are loaded now.
static LOADED: Mutex<Vec<Weak<Loaded>>> = Mutex::new(Vec::new());

/// A loaded library of kernels. Copies share it; it stays loaded while a copy or a kernel lives.
#[derive(Clone, Debug)]
pub struct Library(Arc<Loaded>);

struct Loaded {
    path: PathBuf,
    exports: abi::Exports,
    /// In the library's order.
    kernels: Vec<Entry>,
    constants: Vec<Constant>,
    /// Where the object lies in memory; nothing where the system does not tell.
    segments: Vec<Range<usize>>,
    /// Held by the launch whose constants are in the library.
    running: Mutex<()>,
    // Last, so that what points into the object goes before it.
    _object: libloading::Library,
}

#[derive(Debug)]
struct Entry {
    raw: abi::Kernel,
    name: String,
    place: Place,
    parameters: Vec<Parameter>,
    /// Bytes of its threadgroup variables.
    variables: usize,
}

// SAFETY: the tables are constants of the object; its variables are written under `running` only.
unsafe impl Send for Loaded {}
// SAFETY: as above.
unsafe impl Sync for Loaded {}

impl fmt::Debug for Loaded {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Loaded").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Loaded {
    fn new(path: PathBuf) -> Result<Self, LoadError> {
        // SAFETY: libraries of kernels have no initialisers beyond those of constant tables.
        let object = match unsafe { libloading::Library::new(&path) } {
            Ok(object) => object,
            Err(reason) => return Err(LoadError::Loader { path, reason }),
        };
        // SAFETY: the symbol's name carries the version of its type.
        let exports = match unsafe { object.get::<*const abi::Exports>(abi::SYMBOL) } {
            // SAFETY: the symbol is the table itself, alive while the object is loaded.
            Ok(symbol) => unsafe { **symbol },
            Err(reason) => return Err(LoadError::Loader { path, reason }),
        };
        if exports.abi != abi::VERSION {
            return Err(LoadError::Version { path, found: exports.abi, expected: abi::VERSION });
        }
        let kernels = match read_kernels(&exports) {
            Ok(kernels) => kernels,
            Err(table) => return Err(LoadError::Table { path, table }),
        };
        let Some(constants) = read_constants(&exports) else {
            return Err(LoadError::Table { path, table: "function constants" });
        };
        let segments = symbols::segments(exports.attach as *const () as usize);
        let running = Mutex::new(());
        Ok(Self { path, exports, kernels, constants, segments, running, _object: object })
    }
}

impl Library {
    /// Loads a compiled library.
    ///
    /// # Errors
    /// The file is no library, or one of another version.
    pub fn open(path: &Path) -> Result<Self, LoadError> {
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.retain(|library| library.strong_count() > 0);
        if let Some(known) = loaded.iter().filter_map(Weak::upgrade).find(|one| one.path == path) {
            return Ok(Self(known));
        }
        let library = Arc::new(Loaded::new(path)?);
        loaded.push(Arc::downgrade(&library));
        Ok(Self(library))
    }

    /// Names of its kernels, in the order of the source.
    pub fn kernels(&self) -> impl Iterator<Item = &str> {
        self.0.kernels.iter().map(|entry| entry.name.as_str())
    }

    /// A kernel by its name; its function constants have no values.
    ///
    /// # Errors
    /// There is none of this name.
    pub fn kernel(&self, name: &str) -> Result<Kernel, NoKernel> {
        match self.0.kernels.iter().position(|entry| entry.name == name) {
            Some(entry) => Ok(Kernel { library: self.clone(), entry, values: Arc::default() }),
            None => Err(NoKernel {
                name: name.to_owned(),
                file: self.0.path.display().to_string(),
                known: self.kernels().map(str::to_owned).collect(),
            }),
        }
    }

    /// The function constants.
    #[must_use]
    pub fn constants(&self) -> &[Constant] {
        &self.0.constants
    }

    /// What it was compiled for.
    #[must_use]
    pub fn mode(&self) -> Mode {
        if self.0.exports.checked == 0 { Mode::Fast } else { Mode::Checked }
    }

    /// Its file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Where it lies in memory; nothing where the system does not tell.
    pub(crate) fn segments(&self) -> &[Range<usize>] {
        &self.0.segments
    }

    /// What it exports.
    pub(crate) fn exports(&self) -> &abi::Exports {
        &self.0.exports
    }
}

/// A kernel with the values of its function constants.
#[derive(Clone, Debug)]
pub struct Kernel {
    library: Library,
    entry: usize,
    /// By index of the constant in the library's table.
    values: Arc<BTreeMap<usize, Vec<u8>>>,
}

impl Kernel {
    fn entry(&self) -> &Entry {
        &self.library.0.kernels[self.entry]
    }

    /// Its name: that of `host_name` where the source gives one.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.entry().name
    }

    /// Where it is defined.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.entry().place
    }

    /// `max_total_threads_per_threadgroup`; none where the source does not say.
    #[must_use]
    pub fn max_threads(&self) -> Option<u32> {
        Some(self.entry().raw.max_threads).filter(|threads| *threads > 0)
    }

    /// Bytes of threadgroup memory that its variables take, without arguments.
    #[must_use]
    pub fn static_threadgroup_memory(&self) -> usize {
        self.entry().variables
    }

    /// Its parameters, in the order of the source.
    #[must_use]
    pub fn parameters(&self) -> &[Parameter] {
        &self.entry().parameters
    }

    /// The same kernel with values for function constants, by index. They replace all earlier ones.
    ///
    /// # Errors
    /// No constant has such an index, or it has another size.
    pub fn with_constants(mut self, values: &[(u32, Vec<u8>)]) -> Result<Self, ConstantError> {
        let constants = self.library.constants();
        let mut by_place = BTreeMap::new();
        for (index, bytes) in values {
            // One index may belong to constants of several types, as the overloads of a template.
            let mut places =
                (0..constants.len()).filter(|place| constants[*place].index == *index).peekable();
            if places.peek().is_none() {
                return Err(ConstantError::Unknown {
                    index: *index,
                    file: self.library.path().display().to_string(),
                    known: constants.iter().map(|c| format!("{} ({})", c.index, c.name)).collect(),
                });
            }
            for place in places {
                let constant = &constants[place];
                if constant.size != bytes.len() {
                    return Err(ConstantError::Size {
                        index: *index,
                        name: constant.name.clone(),
                        kind: constant.kind.clone(),
                        expected: constant.size,
                        found: bytes.len(),
                    });
                }
                by_place.insert(place, bytes.clone());
            }
        }
        self.values = Arc::new(by_place);
        Ok(self)
    }

    /// Its library.
    #[must_use]
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// Its row in the library's table.
    pub(crate) fn raw(&self) -> &abi::Kernel {
        &self.entry().raw
    }

    /// Puts the values of its function constants into the library, and keeps launches with other
    /// values out while the guard lives. A thread may hold one guard of a library at a time.
    pub(crate) fn hold(&self) -> Held<'_> {
        let loaded = &*self.library.0;
        if loaded.constants.is_empty() {
            return Held { _guard: None };
        }
        let guard = loaded.running.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: `read_constants` saw this very table when the library was loaded.
        let table = unsafe {
            slice::from_raw_parts(loaded.exports.constants, loaded.exports.constant_count as usize)
        };
        for (place, raw) in table.iter().enumerate() {
            let value = self.values.get(&place);
            // SAFETY: a variable of the library, which only the holder of the lock touches.
            unsafe { *raw.is_set = u8::from(value.is_some()) };
            // SAFETY: as above; the table gives its size.
            let target = unsafe { slice::from_raw_parts_mut(raw.value.cast(), raw.size as usize) };
            match value {
                Some(value) => target.copy_from_slice(value),
                None => target.fill(0),
            }
        }
        Held { _guard: Some(guard) }
    }
}

/// While it lives, the library has the values of one kernel's function constants.
#[derive(Debug)]
pub(crate) struct Held<'a> {
    _guard: Option<MutexGuard<'a, ()>>,
}

/// The kernels of a library, or the name of the table that is broken.
fn read_kernels(exports: &abi::Exports) -> Result<Vec<Entry>, &'static str> {
    let rows = table(exports.kernels, exports.kernel_count).ok_or("kernels")?;
    let variables = read_variables(exports, rows);
    let mut kernels = Vec::with_capacity(rows.len());
    for raw in rows {
        let name = text(raw.name).ok_or("kernels")?;
        let file = text(raw.file).ok_or("kernels")?;
        let parameters = table(raw.parameters, raw.parameter_count).ok_or("parameters")?;
        let parameters = parameters.iter().map(parameter).collect::<Option<Vec<_>>>();
        kernels.push(Entry {
            raw: *raw,
            name,
            place: Place { file, line: raw.line, column: 0 },
            parameters: parameters.ok_or("parameters")?,
            variables: variables.get(&owner(raw)).copied().unwrap_or_default(),
        });
    }
    Ok(kernels)
}

/// What tells kernels apart: two names may be of one kernel.
fn owner(kernel: &abi::Kernel) -> usize {
    if kernel.body.is_null() { kernel.call as *const () as usize } else { kernel.body as usize }
}

/// Bytes of threadgroup variables of each kernel that has any.
fn read_variables(exports: &abi::Exports, kernels: &[abi::Kernel]) -> BTreeMap<usize, usize> {
    let size = exports.variables_end as usize - exports.variables as usize;
    let rows = table(exports.variables, (size / size_of::<abi::Variable>()) as u32);
    // A kernel's code stands in its body, and in its caller where it was put in there.
    let mut code = BTreeMap::new();
    for kernel in kernels {
        code.insert(owner(kernel), owner(kernel));
        code.insert(kernel.call as *const () as usize, owner(kernel));
    }
    let mut seen = BTreeSet::new();
    let mut bytes: BTreeMap<usize, usize> = BTreeMap::new();
    for row in rows.unwrap_or_default() {
        let place = (&raw const row.code as usize).wrapping_add_signed(row.code as isize);
        let Some((_, &owner)) = code.range(..=place).next_back() else { continue };
        if seen.insert((owner, row.id)) {
            let total = bytes.entry(owner).or_default();
            *total = total.next_multiple_of(row.align.max(1) as usize) + row.size as usize;
        }
    }
    bytes
}

fn parameter(raw: &abi::Parameter) -> Option<Parameter> {
    let kind = match raw.kind {
        abi::parameter::BUFFER => ParameterKind::Buffer,
        abi::parameter::THREADGROUP => ParameterKind::Threadgroup,
        abi::parameter::BUILTIN => ParameterKind::Builtin,
        _ => return None,
    };
    let limit = match kind {
        ParameterKind::Buffer | ParameterKind::Threadgroup => 32,
        ParameterKind::Builtin => abi::BUILTINS,
    };
    let align = usize::try_from(raw.align).ok().filter(|align| align.is_power_of_two())?;
    (raw.index < u32::try_from(limit).ok()?).then_some(Parameter {
        kind,
        index: raw.index,
        name: text(raw.name)?,
        reference: raw.reference != 0,
        constant: raw.constant != 0,
        size: usize::try_from(raw.size).ok()?,
        align,
    })
}

fn read_constants(exports: &abi::Exports) -> Option<Vec<Constant>> {
    let rows = table(exports.constants, exports.constant_count)?;
    let read = |raw: &abi::Constant| {
        let usable = !raw.value.is_null() && !raw.is_set.is_null();
        let (name, kind) = (text(raw.name)?, text(raw.kind)?);
        usable.then_some(Constant { index: raw.index, name, kind, size: raw.size as usize })
    };
    rows.iter().map(read).collect()
}

/// A table of a loaded library. The caller keeps the library loaded while it uses the rows.
fn table<'a, T>(rows: *const T, count: u32) -> Option<&'a [T]> {
    if count == 0 {
        return Some(&[]);
    }
    // SAFETY: the interface says that so many rows stand there, for as long as the library.
    (!rows.is_null()).then(|| unsafe { slice::from_raw_parts(rows, count as usize) })
}

fn text(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the interface says NUL-terminated.
    let text = unsafe { CStr::from_ptr(text) };
    Some(text.to_string_lossy().into_owned())
}
