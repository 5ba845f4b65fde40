//! Classes and their methods, and the runtime functions that ask about them.
//!
//! A class is a static whose address is its symbol (`._OBJC_CLASS_NSString`), as the GNUstep 2
//! ABI links it. Its table of methods is made at the first message. There are no categories, no
//! added methods and no classes made by the program.

use super::abi::{Function, Imp, Sel};
use super::object::Object;
use std::any::Any;
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_uint};
use std::ptr;
use std::sync::atomic::{AtomicIsize, Ordering};
use std::sync::{Arc, OnceLock};

/// What an object holds.
pub(super) type AnyBody = Arc<dyn Any + Send + Sync>;

/// A class or a metaclass. Its first word is its class, as any object's.
#[repr(C)]
pub(super) struct Class {
    isa: Option<&'static Self>,
    name: &'static CStr,
    is_meta: bool,
    declare: fn(&mut Methods),
    /// Makes the body of `[Class alloc]`.
    make: Option<fn() -> AnyBody>,
    methods: OnceLock<HashMap<Sel, Method>>,
    alive: AtomicIsize,
}

/// A method: its function, and what it takes.
pub(super) struct Method {
    selector: Sel,
    imp: Imp,
    types: CString,
    arguments: u32,
}

// SAFETY: a method is an address of code and text that never changes.
unsafe impl Send for Method {}
// SAFETY: see above.
unsafe impl Sync for Method {}

/// The table that a class's declaration fills.
#[derive(Default)]
pub(super) struct Methods(HashMap<Sel, Method>);

impl Methods {
    pub(super) fn add<F: Function>(&mut self, name: &CStr, function: F) {
        let selector = Sel::named(name);
        let types = CString::new(F::types()).unwrap_or_default();
        let method = Method { selector, imp: function.imp(), types, arguments: F::ARGUMENTS };
        self.0.insert(selector, method);
    }
}

/// Fills a table: for each selector the arguments, the result and the code, which sees the body
/// of the receiver as the first name.
macro_rules! methods {
    ($table:ident, $body:ty; $(
        $selector:literal = |$this:ident $(, $argument:ident: $type:ty)*| $(-> $result:ty)?
        { $($code:tt)* }
    )*) => { $(
        $table.add($selector, {
            extern "C-unwind" fn call(
                receiver: $crate::objc::object::Id,
                _: $crate::objc::abi::Sel
                $(, $argument: $type)*
            ) $(-> $result)? {
                let $this = receiver.receiver::<$body>();
                $($code)*
            }
            call as extern "C-unwind" fn(
                $crate::objc::object::Id,
                $crate::objc::abi::Sel
                $(, $type)*
            ) $(-> $result)?
        });
    )* };
}
pub(super) use methods;

/// Declares a class and its metaclass as statics, and exports the class's symbol. The last
/// argument declares the class's own methods, where there are others than `alloc` and `new`.
macro_rules! class {
    ($name:ident, $meta:ident, $text:literal, $make:expr, $declare:expr) => {
        $crate::objc::class::class!(
            $name,
            $meta,
            $text,
            $make,
            $declare,
            $crate::objc::object::declare_class_methods
        );
    };
    ($name:ident, $meta:ident, $text:literal, $make:expr, $declare:expr, $declare_class:expr) => {
        static $meta: $crate::objc::class::Class = $crate::objc::class::Class::meta(
            $crate::objc::class::c_name(concat!($text, "\0")),
            $declare_class,
        );
        #[unsafe(export_name = concat!("._OBJC_CLASS_", $text))]
        pub(in crate::objc) static $name: $crate::objc::class::Class =
            $crate::objc::class::Class::new(
                &$meta,
                $crate::objc::class::c_name(concat!($text, "\0")),
                $make,
                $declare,
            );
    };
}
pub(super) use class;

/// The text with its NUL as a C string.
pub(super) const fn c_name(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(name) => name,
        Err(_) => c"",
    }
}

impl Class {
    pub(super) const fn new(
        isa: &'static Self,
        name: &'static CStr,
        make: Option<fn() -> AnyBody>,
        declare: fn(&mut Methods),
    ) -> Self {
        Self {
            isa: Some(isa),
            name,
            is_meta: false,
            declare,
            make,
            methods: OnceLock::new(),
            alive: AtomicIsize::new(0),
        }
    }

    /// The class of a class.
    pub(super) const fn meta(name: &'static CStr, declare: fn(&mut Methods)) -> Self {
        Self {
            isa: None,
            name,
            is_meta: true,
            declare,
            make: None,
            methods: OnceLock::new(),
            alive: AtomicIsize::new(0),
        }
    }

    pub(super) fn name(&self) -> &'static str {
        self.name.to_str().unwrap_or_default()
    }

    pub(super) const fn is_meta(&self) -> bool {
        self.is_meta
    }

    /// A body for a new object, where the program may make objects of this class.
    pub(super) fn make(&self) -> Option<AnyBody> {
        self.make.map(|make| make())
    }

    pub(super) fn method(&self, selector: Sel) -> Option<&Method> {
        let methods = self.methods.get_or_init(|| {
            let mut methods = Methods::default();
            if !self.is_meta {
                super::object::declare_root_methods(&mut methods);
            }
            (self.declare)(&mut methods);
            methods.0
        });
        methods.get(&selector)
    }

    /// Counts objects in and out.
    pub(super) fn count(&self, change: isize) {
        self.alive.fetch_add(change, Ordering::Relaxed);
    }
}

impl Method {
    pub(super) const fn imp(&self) -> Imp {
        self.imp
    }
}

/// Objects that are alive, by class; classes without any are left out. Objects in a pool count
/// until it is drained.
pub fn live_objects() -> Vec<(&'static str, usize)> {
    let alive = |class: &&Class| class.alive.load(Ordering::Relaxed);
    let row = |class: &&Class| Some((class.name(), usize::try_from(alive(class)).ok()?));
    super::CLASSES.iter().filter_map(row).filter(|(_, alive)| *alive > 0).collect()
}

/// # Safety
/// `object` is nil or an object or class of this runtime.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn object_getClass(object: *const Object) -> *const Class {
    // SAFETY: the first word of objects and classes alike is their class; the caller's promise.
    unsafe { object.cast::<*const Class>().as_ref() }.copied().unwrap_or(ptr::null())
}

/// # Safety
/// `name` is NUL-terminated.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn objc_getClass(name: *const c_char) -> *const Class {
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) };
    let found = super::CLASSES.iter().find(|class| class.name == name);
    found.map_or(ptr::null(), |class| ptr::from_ref(*class))
}

/// # Safety
/// As [`objc_getClass`].
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn objc_lookUpClass(name: *const c_char) -> *const Class {
    // SAFETY: the caller's promise.
    unsafe { objc_getClass(name) }
}

#[unsafe(no_mangle)]
extern "C-unwind" fn class_getName(class: Option<&Class>) -> *const c_char {
    class.map_or(c"nil", |class| class.name).as_ptr()
}

#[unsafe(no_mangle)]
extern "C-unwind" fn class_getSuperclass(_class: Option<&Class>) -> Option<&'static Class> {
    None
}

#[unsafe(no_mangle)]
extern "C-unwind" fn class_isMetaClass(class: Option<&Class>) -> u8 {
    u8::from(class.is_some_and(Class::is_meta))
}

#[unsafe(no_mangle)]
extern "C-unwind" fn class_getInstanceMethod(
    class: Option<&Class>,
    selector: Sel,
) -> Option<&Method> {
    class.and_then(|class| class.method(selector))
}

#[unsafe(no_mangle)]
extern "C-unwind" fn class_respondsToSelector(class: Option<&Class>, selector: Sel) -> u8 {
    u8::from(class.is_some_and(|class| class.method(selector).is_some()))
}

#[unsafe(no_mangle)]
extern "C-unwind" fn method_getName(method: &Method) -> Sel {
    method.selector
}

#[unsafe(no_mangle)]
extern "C-unwind" fn method_getTypeEncoding(method: &Method) -> *const c_char {
    method.types.as_ptr()
}

#[unsafe(no_mangle)]
extern "C-unwind" fn method_getNumberOfArguments(method: &Method) -> c_uint {
    method.arguments
}

#[unsafe(no_mangle)]
extern "C-unwind" fn method_getImplementation(method: &Method) -> Imp {
    method.imp
}
