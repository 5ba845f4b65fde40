//! Objects: a counted handle on a body.
//!
//! The header of an object is never freed (some fifty bytes), so a message to a released object is
//! seen and reported. Bodies refer to each other directly; what an encoded command needs lives
//! until the command has run, whatever happens to the handles.

use super::abi::Sel;
use super::class::{AnyBody, Class, Methods};
use super::pool;
use super::reports::{Rule, report};
use std::any::Any;
use std::panic::panic_any;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// What objects of one class hold.
pub(super) trait Body: Any + Send + Sync {
    /// Its class.
    fn class() -> &'static Class;
    /// Called when the last reference to the handle goes, before the body does.
    fn released(&self) {}
}

/// The header of an object. The first word is its class, as callers expect.
#[repr(C)]
pub(super) struct Object {
    isa: &'static Class,
    /// Zero once it is released.
    count: AtomicUsize,
    body: RwLock<Option<AnyBody>>,
    released: fn(&dyn Any),
}

/// What a caller passes: nil, an object, or a class.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Id(*const Object);

impl Id {
    pub(super) const NIL: Self = Self(ptr::null());

    /// # Safety
    /// The pointer is null or an object of this runtime.
    pub(super) const unsafe fn from_raw(object: *const std::ffi::c_void) -> Self {
        Self(object.cast())
    }

    pub(super) fn is_nil(self) -> bool {
        self.0.is_null()
    }

    /// Its class; none for nil.
    fn isa(self) -> Option<&'static Class> {
        // SAFETY: callers pass nil or what this runtime made; headers are never freed.
        unsafe { self.0.cast::<&'static Class>().as_ref() }.copied()
    }

    /// The header; none for nil and classes.
    fn object(self) -> Option<&'static Object> {
        self.isa().filter(|class| !class.is_meta())?;
        // SAFETY: an object of this runtime, as its class is no metaclass; never freed.
        unsafe { self.0.as_ref() }
    }

    /// The class that this is itself, if it is one.
    fn as_class(self) -> Option<&'static Class> {
        self.isa().filter(|class| class.is_meta())?;
        // SAFETY: only classes have a metaclass as their class, and they are statics.
        unsafe { self.0.cast::<Class>().as_ref() }
    }

    /// The body, for an argument: nil gives none; a released object or one of another class is
    /// reported and gives none.
    pub(super) fn get<T: Body>(self, what: &str) -> Option<Arc<T>> {
        let object = self.object()?;
        let Some(body) = object.body() else {
            let name = object.isa.name();
            report(Rule::Ownership, format!("{what} is a {name} that was already released"));
            return None;
        };
        let found = body.downcast::<T>().ok();
        if found.is_none() {
            let (wanted, found) = (T::class().name(), object.isa.name());
            report(Rule::Argument, format!("{what}: expected a {wanted}, found a {found}"));
        }
        found
    }

    /// The body, if it is alive and of this class; nothing is reported.
    pub(super) fn peek<T: Body>(self) -> Option<Arc<T>> {
        self.object()?.body()?.downcast::<T>().ok()
    }

    /// The body of a message's receiver, whose class the look-up has checked.
    ///
    /// # Panics
    /// Another thread released the object between look-up and call.
    pub(super) fn receiver<T: Body>(self) -> Arc<T> {
        match self.get("the receiver") {
            Some(body) => body,
            None => panic_any(format!("the receiver is no {}", T::class().name())),
        }
    }
}

impl Object {
    fn body(&self) -> Option<AnyBody> {
        self.body.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// One reference to an object; dropping it releases.
#[derive(Debug)]
pub(super) struct Strong(Id);

// SAFETY: counts are atomic and bodies are Send and Sync.
unsafe impl Send for Strong {}
// SAFETY: see above.
unsafe impl Sync for Strong {}

impl Strong {
    /// A new object.
    pub(super) fn new<T: Body>(body: T) -> Self {
        Self::of(Arc::new(body))
    }

    /// Another handle on a body.
    pub(super) fn of<T: Body>(body: Arc<T>) -> Self {
        let released = |body: &dyn Any| body.downcast_ref::<T>().map_or((), Body::released);
        Self::with(T::class(), body, released)
    }

    fn with(isa: &'static Class, body: AnyBody, released: fn(&dyn Any)) -> Self {
        let body = RwLock::new(Some(body));
        let object = Object { isa, count: AtomicUsize::new(1), body, released };
        isa.count(1);
        Self(Id(Box::leak(Box::new(object))))
    }

    /// One more reference to what a caller passed.
    pub(super) fn retain(id: Id) -> Self {
        retain(id);
        Self(id)
    }

    pub(super) fn id(&self) -> Id {
        self.0
    }

    /// Gives the reference to the caller, as methods named `new…`, `alloc…` and `copy…` do.
    pub(super) fn give(self) -> Id {
        let id = self.0;
        std::mem::forget(self);
        id
    }

    /// Gives the reference to the innermost pool, as all other methods do.
    pub(super) fn autorelease(self) -> Id {
        pool::autorelease(self.give())
    }
}

impl Clone for Strong {
    fn clone(&self) -> Self {
        Self::retain(self.0)
    }
}

impl Drop for Strong {
    fn drop(&mut self) {
        release(self.0);
    }
}

pub(super) fn retain(id: Id) {
    let Some(object) = id.object() else { return };
    let more = |count: usize| (count > 0).then_some(count + 1);
    if object.count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_err() {
        let name = object.isa.name();
        report(Rule::Ownership, format!("retain of a {name} that was already released"));
    }
}

pub(super) fn release(id: Id) {
    let Some(object) = id.object() else { return };
    let fewer = |count: usize| count.checked_sub(1);
    match object.count.fetch_update(Ordering::AcqRel, Ordering::Acquire, fewer) {
        Ok(1) => {
            let body = object.body.write().unwrap_or_else(PoisonError::into_inner).take();
            object.isa.count(-1);
            if let Some(body) = body {
                (object.released)(&*body);
            }
        }
        Ok(_) => {}
        Err(_) => {
            let name = object.isa.name();
            report(Rule::Ownership, format!("over-release of a {name}: it has no references left"));
        }
    }
}

/// Why a message cannot be delivered.
fn undeliverable(id: Id, selector: Sel) -> String {
    let selector = selector.name().to_string_lossy();
    let text = match (id.object(), id.as_class()) {
        (Some(object), _) if object.body().is_none() => {
            let name = object.isa.name();
            let text = format!("message {selector} to a {name} that was already released");
            report(Rule::Ownership, text.clone());
            return text;
        }
        (Some(object), _) => format!("-[{} {selector}] does not exist", object.isa.name()),
        (None, Some(class)) => format!("+[{} {selector}] does not exist", class.name()),
        (None, None) => format!("message {selector} to nil"),
    };
    report(Rule::Selector, format!("{text}, or the simulator does not have it"));
    text
}

/// The function of a method.
///
/// # Panics
/// The object is released or has no such method. Apple's runtime throws an exception there; the
/// panic unwinds into the Rust code that sent the message.
#[unsafe(no_mangle)]
extern "C-unwind" fn objc_msg_lookup(receiver: Id, selector: Sel) -> *const std::ffi::c_void {
    let alive = receiver.object().is_none_or(|object| object.count.load(Ordering::Relaxed) > 0);
    let method = receiver.isa().filter(|_| alive).and_then(|class| class.method(selector));
    match method {
        Some(method) => method.imp().0,
        None => panic_any(undeliverable(receiver, selector)),
    }
}

#[unsafe(no_mangle)]
extern "C-unwind" fn objc_retain(id: Id) -> Id {
    retain(id);
    id
}

#[unsafe(no_mangle)]
extern "C-unwind" fn objc_release(id: Id) {
    release(id);
}

/// `[Class alloc]`.
fn alloc(class: Id) -> Id {
    let Some(class) = class.as_class() else { return Id::NIL };
    if let Some(body) = class.make() {
        return Strong::with(class, body, |_| ()).give();
    }
    let text = format!("+[{0} alloc]: a {0} is made by its device only", class.name());
    report(Rule::Selector, text);
    Id::NIL
}

pub(super) fn declare_class_methods(methods: &mut Methods) {
    extern "C-unwind" fn allocate(class: Id, _: Sel) -> Id {
        alloc(class)
    }
    let function: extern "C-unwind" fn(Id, Sel) -> Id = allocate;
    methods.add(c"alloc", function);
    methods.add(c"new", function);
}

/// What every object answers.
pub(super) fn declare_root_methods(methods: &mut Methods) {
    extern "C-unwind" fn init(object: Id, _: Sel) -> Id {
        object
    }
    extern "C-unwind" fn hash(object: Id, _: Sel) -> usize {
        object.0.addr()
    }
    extern "C-unwind" fn is_equal(object: Id, _: Sel, other: Id) -> u8 {
        u8::from(object == other)
    }
    extern "C-unwind" fn responds(object: Id, _: Sel, selector: Sel) -> u8 {
        u8::from(object.isa().is_some_and(|class| class.method(selector).is_some()))
    }
    extern "C-unwind" fn description(object: Id, _: Sel) -> Id {
        let name = object.isa().map_or("nil", Class::name);
        Strong::new(super::foundation::Text::new(format!("<{name}: {:p}>", object.0))).autorelease()
    }
    methods.add(c"init", init as extern "C-unwind" fn(Id, Sel) -> Id);
    methods.add(c"hash", hash as extern "C-unwind" fn(Id, Sel) -> usize);
    methods.add(c"isEqual:", is_equal as extern "C-unwind" fn(Id, Sel, Id) -> u8);
    methods.add(c"respondsToSelector:", responds as extern "C-unwind" fn(Id, Sel, Sel) -> u8);
    methods.add(c"description", description as extern "C-unwind" fn(Id, Sel) -> Id);
}
