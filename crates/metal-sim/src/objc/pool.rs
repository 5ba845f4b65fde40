//! Autorelease pools, one stack a thread.

use super::object::{Id, release};
use super::reports::{Rule, report};
use std::cell::RefCell;
use std::ffi::c_void;
use std::ptr;

#[derive(Default)]
struct Stack {
    objects: Vec<Id>,
    /// How many objects there were when each open pool began.
    pools: Vec<usize>,
}

thread_local! {
    static STACK: RefCell<Stack> = RefCell::default();
}

/// Gives one reference to the innermost pool. Without a pool it is never released: a leak.
pub(super) fn autorelease(id: Id) -> Id {
    let kept = STACK.with_borrow_mut(|stack| {
        stack.objects.push(id);
        !stack.pools.is_empty() || id.is_nil()
    });
    if !kept {
        let text = "autorelease with no pool: the object leaks; put `autoreleasepool` around it";
        report(Rule::Ownership, text);
    }
    id
}

/// A pool as long as a call, for threads that this crate starts.
pub(super) fn with_pool<T>(call: impl FnOnce() -> T) -> T {
    let pool = objc_autoreleasePoolPush();
    let result = call();
    objc_autoreleasePoolPop(pool);
    result
}

/// Opens a pool; the result counts the open pools.
#[unsafe(no_mangle)]
extern "C-unwind" fn objc_autoreleasePoolPush() -> *mut c_void {
    STACK.with_borrow_mut(|stack| {
        stack.pools.push(stack.objects.len());
        ptr::without_provenance_mut(stack.pools.len())
    })
}

/// Closes a pool, and those opened in it that are still open.
#[unsafe(no_mangle)]
extern "C-unwind" fn objc_autoreleasePoolPop(pool: *mut c_void) {
    let drained = STACK.with_borrow_mut(|stack| {
        let open = stack.pools.len();
        let mark = *stack.pools.get(pool.addr().checked_sub(1)?)?;
        stack.pools.truncate(pool.addr() - 1);
        Some((stack.objects.split_off(mark), open - pool.addr()))
    });
    let Some((objects, inner)) = drained else {
        report(Rule::Ownership, "an autorelease pool was closed that is not open on this thread");
        return;
    };
    if inner > 0 {
        let text = format!("an autorelease pool was closed before {inner} that were opened in it");
        report(Rule::Ownership, text);
    }
    // Outside the borrow: the end of an object may autorelease others.
    objects.into_iter().rev().for_each(release);
}

#[unsafe(no_mangle)]
extern "C-unwind" fn objc_autorelease(id: Id) -> Id {
    autorelease(id)
}

#[unsafe(no_mangle)]
extern "C-unwind" fn objc_autoreleaseReturnValue(id: Id) -> Id {
    autorelease(id)
}

#[unsafe(no_mangle)]
extern "C-unwind" fn objc_retainAutoreleasedReturnValue(id: Id) -> Id {
    super::object::retain(id);
    id
}

#[unsafe(no_mangle)]
extern "C-unwind" fn objc_retainAutorelease(id: Id) -> Id {
    super::object::retain(id);
    autorelease(id)
}
