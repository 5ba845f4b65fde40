//! `MTLLibrary` and `MTLFunction`: compiled source, and a kernel of it. What stands in for a
//! precompiled library is an archive of sources, each compiled when a kernel of it is asked for.

use super::constants::ConstantValues;
use super::data::Data;
use super::device::Device;
use super::label::{Label, labelled};
use crate::objc::abi::ErrorSlot;
use crate::objc::class::{Class, Methods, class, methods};
use crate::objc::faults::{self, Fault};
use crate::objc::foundation::{Domain, Failure, List, Text, set_error};
use crate::objc::object::{Body, Id, Strong};
use crate::objc::settings::Settings;
use crate::{CompileError, Compiler, Kernel, Mode, Source, archive};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};

class!(LIBRARY, LIBRARY_META, "MetalSimLibrary", None, declare);
class!(FUNCTION, FUNCTION_META, "MetalSimFunction", None, declare_function);

/// `MTLLibraryErrorInternal`
const INTERNAL: isize = 2;
/// `MTLLibraryErrorCompileFailure`
const COMPILE_FAILURE: isize = 3;
/// `MTLLibraryErrorFunctionNotFound`
const FUNCTION_NOT_FOUND: isize = 5;

/// What sources are called in reports.
const SOURCE_NAME: &str = "library.metal";

/// Compiled sources.
pub(super) struct Library {
    device: Arc<Device>,
    parts: Vec<Part>,
    label: Label,
}

/// A source, and what it compiles to.
struct Part {
    source: Source,
    compiled: OnceLock<crate::Library>,
}

impl Part {
    fn new(source: Source) -> Self {
        Self { source, compiled: OnceLock::new() }
    }

    fn compiled(&self, device: &Device) -> Result<&crate::Library, CompileError> {
        if let Some(compiled) = self.compiled.get() {
            return Ok(compiled);
        }
        let compiled = build(device, &self.source)?;
        Ok(self.compiled.get_or_init(|| compiled))
    }
}

impl Body for Library {
    fn class() -> &'static Class {
        &LIBRARY
    }
}

/// A kernel, with the values of its constants.
pub(super) struct Function {
    device: Arc<Device>,
    pub(super) kernel: Kernel,
    label: Label,
}

impl Body for Function {
    fn class() -> &'static Class {
        &FUNCTION
    }
}

/// What this process has built of each source, by its compiler.
static BUILT: LazyLock<Mutex<HashMap<Built, crate::Library>>> = LazyLock::new(Mutex::default);

/// A compiler, a source, a mode.
type Built = (String, String, Mode);

/// The compiler of devices that are given none.
static FOUND: OnceLock<Compiler> = OnceLock::new();

/// Checks what compiled code does not show any more, then compiles or finds it in the cache; each
/// once a process.
fn build(device: &Device, source: &Source) -> Result<crate::Library, CompileError> {
    let Settings { compiler, mode, .. } = &device.settings;
    let key = (format!("{compiler:?}"), source.text.clone(), *mode);
    let known = || BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(library) = known().get(&key) {
        return Ok(library.clone());
    }
    let compiler = match (compiler, FOUND.get()) {
        (Some(compiler), _) | (None, Some(compiler)) => compiler.clone(),
        (None, None) => FOUND
            .get_or_init({
                let found = Compiler::find()?;
                || found
            })
            .clone(),
    };
    let library = compiler.build(source, *mode)?;
    known().insert(key, library.clone());
    Ok(library)
}

/// `newLibraryWithSource:options:error:`. A `#line` directive gives the source its name.
pub(super) fn compile(device: Arc<Device>, source: Id, error: ErrorSlot) -> Id {
    let text = Text::of(source, "the source").unwrap_or_default();
    let part = Part::new(Source { name: SOURCE_NAME.to_owned(), text });
    match part.compiled(&device) {
        Ok(_) => Library::give(device, vec![part]),
        Err(reason) => refuse(error, COMPILE_FAILURE, reason.to_string()),
    }
}

/// `newLibraryWithData:error:`.
pub(super) fn precompiled(device: Arc<Device>, data: Id, error: ErrorSlot) -> Id {
    let data = data.get::<Data>("the data");
    let bytes = data.as_ref().map_or(&[][..], |data| &data.0);
    match archive::unpack(bytes) {
        Ok(sources) => {
            // A source is the same under any name, and compiled once a process.
            let part = |source| Part::new(Source { name: SOURCE_NAME.to_owned(), ..source });
            Library::give(device, sources.into_iter().map(part).collect())
        }
        Err(reason) => refuse(error, INTERNAL, reason.to_string()),
    }
}

fn refuse(slot: ErrorSlot, code: isize, text: String) -> Id {
    set_error(slot, Failure { domain: Domain::Library, code, text });
    Id::NIL
}

impl Library {
    fn give(device: Arc<Device>, parts: Vec<Part>) -> Id {
        Strong::new(Self { device, parts, label: Label::default() }).give()
    }

    /// A kernel, and the library that has it.
    fn kernel(&self, name: &str) -> Result<(Kernel, &crate::Library), (isize, String)> {
        let mut reason = format!("no source of the library has a kernel named {name:?}");
        // In an archive only sources that have the name are compiled for it.
        let all = self.parts.len() == 1;
        for part in self.parts.iter().filter(|part| all || part.source.text.contains(name)) {
            let compiled = part.compiled(&self.device);
            let compiled = compiled.map_err(|error| (COMPILE_FAILURE, error.to_string()))?;
            match compiled.kernel(name) {
                Ok(kernel) => return Ok((kernel, compiled)),
                Err(missing) => reason = missing.to_string(),
            }
        }
        Err((FUNCTION_NOT_FOUND, reason))
    }

    fn function(&self, name: Id, values: Option<&ConstantValues>) -> Result<Strong, Failure> {
        let fail = |(code, text)| Failure { domain: Domain::Library, code, text };
        let name = Text::of(name, "the name of a function").unwrap_or_default();
        let missing = faults::strikes(Fault::MissingKernel);
        let (kernel, library) = self.kernel(if missing { "" } else { &name }).map_err(fail)?;
        let used = |index: u32| library.constants().iter().any(|used| used.index == index);
        // Metal takes values for constants that a library does not have.
        let values = values.map(ConstantValues::values).unwrap_or_default();
        let values: Vec<_> = values.into_iter().filter(|(index, _)| used(*index)).collect();
        let kernel = kernel
            .with_constants(&values)
            .map_err(|reason| fail((COMPILE_FAILURE, reason.to_string())))?;
        let device = Arc::clone(&self.device);
        Ok(Strong::new(Function { device, kernel, label: Label::default() }))
    }

    /// Names of all kernels of the sources that compile.
    fn names(&self) -> Vec<Strong> {
        let compiled = self.parts.iter().filter_map(|part| part.compiled(&self.device).ok());
        compiled.flat_map(|one| one.kernels().map(|name| Strong::new(Text::new(name)))).collect()
    }
}

fn declare(table: &mut Methods) {
    labelled!(table, Library);
    methods! { table, Library;
        c"device" = |library| -> Id { Strong::of(Arc::clone(&library.device)).autorelease() }
        c"functionNames" = |library| -> Id {
            Strong::new(List::new(library.names())).autorelease()
        }
        c"newFunctionWithName:" = |library, name: Id| -> Id {
            library.function(name, None).map_or(Id::NIL, Strong::give)
        }
        c"newFunctionWithName:constantValues:error:" = |
            library, name: Id, values: Id, error: ErrorSlot
        | -> Id {
            let values = values.get::<ConstantValues>("the constant values");
            match library.function(name, values.as_deref()) {
                Ok(function) => function.give(),
                Err(failure) => {
                    set_error(error, failure);
                    Id::NIL
                }
            }
        }
    }
}

fn declare_function(table: &mut Methods) {
    labelled!(table, Function);
    methods! { table, Function;
        c"device" = |function| -> Id { Strong::of(Arc::clone(&function.device)).autorelease() }
        c"name" = |function| -> Id { Strong::new(Text::new(function.kernel.name())).autorelease() }
        // MTLFunctionTypeKernel
        c"functionType" = |_function| -> usize { 3 }
    }
}
