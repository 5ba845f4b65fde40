//! The two registers of an interrupted thread that matter: where it is, and its stack.
//!
//! Known for Linux only; elsewhere faults stay what they are, and checked runs find them first.

/// Whether the registers are known here.
pub const KNOWN: bool = cfg!(target_os = "linux");

/// The instruction and the stack pointer.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub fn get(context: &libc::ucontext_t) -> (usize, usize) {
    let registers = &context.uc_mcontext.gregs;
    let pc = registers[libc::REG_RIP as usize];
    (pc as usize, registers[libc::REG_RSP as usize] as usize)
}

/// Has the thread go on elsewhere, as after a call.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub fn set(context: &mut libc::ucontext_t, pc: usize, stack: usize) {
    let registers = &mut context.uc_mcontext.gregs;
    registers[libc::REG_RIP as usize] = pc as i64;
    registers[libc::REG_RSP as usize] = (stack - 8) as i64;
}

/// The instruction and the stack pointer.
#[cfg(all(target_os = "linux", target_arch = "aarch64"))]
pub fn get(context: &libc::ucontext_t) -> (usize, usize) {
    (context.uc_mcontext.pc as usize, context.uc_mcontext.sp as usize)
}

/// Has the thread go on elsewhere, as after a call.
#[cfg(all(target_os = "linux", target_arch = "aarch64"))]
pub fn set(context: &mut libc::ucontext_t, pc: usize, stack: usize) {
    context.uc_mcontext.pc = pc as u64;
    context.uc_mcontext.sp = stack as u64;
}

/// Not known.
#[cfg(not(target_os = "linux"))]
pub fn get(_: &libc::ucontext_t) -> (usize, usize) {
    (0, 0)
}

/// Not known.
#[cfg(not(target_os = "linux"))]
pub fn set(_: &mut libc::ucontext_t, _: usize, _: usize) {}
