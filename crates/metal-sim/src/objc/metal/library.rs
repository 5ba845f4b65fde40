//! `MTLLibrary` and `MTLFunction`: compiled source, and a kernel of it.

use super::constants::ConstantValues;
use super::device::Device;
use super::label::{Label, labelled};
use crate::objc::abi::ErrorSlot;
use crate::objc::class::{Class, Methods, class, methods};
use crate::objc::faults::{self, Fault};
use crate::objc::foundation::{Domain, Failure, List, Text, set_error};
use crate::objc::object::{Body, Id, Strong};
use crate::objc::settings::Settings;
use crate::{CompileError, Compiler, Kernel, Mode, Source};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

class!(LIBRARY, LIBRARY_META, "MetalSimLibrary", None, declare);
class!(FUNCTION, FUNCTION_META, "MetalSimFunction", None, declare_function);

/// `MTLLibraryErrorCompileFailure`
const COMPILE_FAILURE: isize = 3;
/// `MTLLibraryErrorFunctionNotFound`
const FUNCTION_NOT_FOUND: isize = 5;

/// What sources are called in reports.
const SOURCE_NAME: &str = "library.metal";

/// A compiled source.
pub(super) struct Library {
    device: Arc<Device>,
    compiled: crate::Library,
    label: Label,
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
static BUILT: LazyLock<Mutex<HashMap<(String, String), Built>>> = LazyLock::new(Mutex::default);

/// Libraries of a source whose address spaces are right.
#[derive(Default)]
struct Built {
    fast: Option<crate::Library>,
    checked: Option<crate::Library>,
}

impl Built {
    fn of(&mut self, mode: Mode) -> &mut Option<crate::Library> {
        match mode {
            Mode::Fast => &mut self.fast,
            Mode::Checked => &mut self.checked,
        }
    }
}

/// Checks what compiled code does not show any more, then compiles or finds it in the cache; each
/// once a process.
fn build(device: &Device, source: &Source) -> Result<crate::Library, CompileError> {
    let Settings { compiler, mode, .. } = &device.settings;
    let key = (format!("{compiler:?}"), source.text.clone());
    let known = || BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    let right = known().contains_key(&key);
    if let Some(library) = known().get_mut(&key).and_then(|built| built.of(*mode).clone()) {
        return Ok(library);
    }
    let compiler = compiler.clone().map_or_else(Compiler::find, Ok)?;
    if !right {
        compiler.check(source)?;
    }
    let library = compiler.compile(source, *mode)?;
    *known().entry(key).or_default().of(*mode) = Some(library.clone());
    Ok(library)
}

/// `newLibraryWithSource:options:error:`. A `#line` directive gives the source its name.
pub(super) fn compile(device: Arc<Device>, source: Id, error: ErrorSlot) -> Id {
    let text = Text::of(source, "the source").unwrap_or_default();
    let source = Source { name: SOURCE_NAME.to_owned(), text };
    match build(&device, &source) {
        Ok(compiled) => Strong::new(Library { device, compiled, label: Label::default() }).give(),
        Err(reason) => {
            let text = reason.to_string();
            set_error(error, Failure { domain: Domain::Library, code: COMPILE_FAILURE, text });
            Id::NIL
        }
    }
}

impl Library {
    fn function(&self, name: Id, values: Option<&ConstantValues>) -> Result<Strong, Failure> {
        let fail = |code, text| Failure { domain: Domain::Library, code, text };
        let name = Text::of(name, "the name of a function").unwrap_or_default();
        let missing = faults::strikes(Fault::MissingKernel);
        let wanted = if missing { "" } else { &name };
        let kernel = self
            .compiled
            .kernel(wanted)
            .map_err(|reason| fail(FUNCTION_NOT_FOUND, reason.to_string()))?;
        let used = |index: u32| self.compiled.constants().iter().any(|used| used.index == index);
        // Metal takes values for constants that a library does not have.
        let values = values.map(ConstantValues::values).unwrap_or_default();
        let values: Vec<_> = values.into_iter().filter(|(index, _)| used(*index)).collect();
        let kernel = kernel
            .with_constants(&values)
            .map_err(|reason| fail(COMPILE_FAILURE, reason.to_string()))?;
        let device = Arc::clone(&self.device);
        Ok(Strong::new(Function { device, kernel, label: Label::default() }))
    }
}

fn declare(table: &mut Methods) {
    labelled!(table, Library);
    methods! { table, Library;
        c"device" = |library| -> Id { Strong::of(Arc::clone(&library.device)).autorelease() }
        c"functionNames" = |library| -> Id {
            let names = library.compiled.kernels().map(|name| Strong::new(Text::new(name)));
            Strong::new(List::new(names.collect())).autorelease()
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
