//! The interface with compiled kernel libraries: `shim/abi.h` in Rust.

use std::ffi::{c_char, c_void};

/// Version of the interface.
pub const VERSION: u32 = 1;

/// Name of the symbol that a library exports.
pub const SYMBOL: &[u8] = b"msim_library_1\0";

/// Lanes of a simdgroup.
pub const LANES: usize = 32;

/// A thread's stack lies between two multiples of this power of two.
pub const STACK_BITS: u32 = 16;

/// The stacks of a threadgroup's threads lie between two multiples of this one.
pub const ROW_BITS: u32 = 26;

/// Built-in values of a thread.
pub const BUILTINS: usize = 13;

/// Kinds of rendezvous.
pub mod rendezvous {
    /// A reduction or scan.
    pub const REDUCTION: u32 = 1;
    /// A shuffle or broadcast.
    pub const SHUFFLE: u32 = 2;
    /// A vote.
    pub const VOTE: u32 = 3;
    /// A simdgroup matrix operation.
    pub const MATRIX: u32 = 4;
    /// `simdgroup_barrier`.
    pub const SIMDGROUP_BARRIER: u32 = 5;
    /// `threadgroup_barrier`.
    pub const THREADGROUP_BARRIER: u32 = 6;
}

/// Bits of `mem_flags`.
pub mod memory {
    /// Device memory.
    pub const DEVICE: u32 = 1;
    /// Threadgroup memory.
    pub const THREADGROUP: u32 = 2;
}

/// Bits of an access.
pub mod access {
    /// Stores; else loads.
    pub const WRITE: u32 = 1;
    /// Is atomic.
    pub const ATOMIC: u32 = 2;
    /// Of a type that lies on multiples of its size, or of 8 bytes.
    pub const ALIGNED: u32 = 4;
}

/// Kinds of parameters.
pub mod parameter {
    /// A pointer or reference to device or constant memory.
    pub const BUFFER: u32 = 1;
    /// Threadgroup memory.
    pub const THREADGROUP: u32 = 2;
    /// A built-in value.
    pub const BUILTIN: u32 = 3;
}

/// Which built-in value: indices into [`Arguments::builtin`].
pub mod builtin {
    /// `thread_position_in_grid`
    pub const THREAD_POSITION_IN_GRID: usize = 0;
    /// `thread_position_in_threadgroup`
    pub const THREAD_POSITION_IN_THREADGROUP: usize = 1;
    /// `threadgroup_position_in_grid`
    pub const THREADGROUP_POSITION_IN_GRID: usize = 2;
    /// `threads_per_threadgroup`
    pub const THREADS_PER_THREADGROUP: usize = 3;
    /// `dispatch_threads_per_threadgroup`
    pub const DISPATCH_THREADS_PER_THREADGROUP: usize = 4;
    /// `threadgroups_per_grid`
    pub const THREADGROUPS_PER_GRID: usize = 5;
    /// `threads_per_grid`
    pub const THREADS_PER_GRID: usize = 6;
    /// `thread_index_in_threadgroup`
    pub const THREAD_INDEX_IN_THREADGROUP: usize = 7;
    /// `thread_index_in_simdgroup`
    pub const THREAD_INDEX_IN_SIMDGROUP: usize = 8;
    /// `simdgroup_index_in_threadgroup`
    pub const SIMDGROUP_INDEX_IN_THREADGROUP: usize = 9;
    /// `simdgroups_per_threadgroup`
    pub const SIMDGROUPS_PER_THREADGROUP: usize = 10;
    /// `threads_per_simdgroup`
    pub const THREADS_PER_SIMDGROUP: usize = 11;
    /// `grid_origin`
    pub const GRID_ORIGIN: usize = 12;
}

/// A place in the source.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Site {
    /// NUL-terminated; lives as long as the library.
    pub file: *const c_char,
    /// From one.
    pub line: u32,
    /// From one.
    pub column: u32,
}

/// Where the lanes of one simdgroup meet.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Simdgroup {
    /// What each lane gave, by parity of `sequence`.
    pub slots: [[[u8; 64]; LANES]; 2],
    /// Operands and product of a matrix operation.
    pub a: [[f32; 64]; 2],
    /// See `a`.
    pub b: [[f32; 64]; 2],
    /// See `a`.
    pub d: [[f32; 64]; 2],
    /// A reduction's result.
    pub reduced: [[u8; 64]; 2],
    /// The sequence that `reduced` belongs to.
    pub reduced_at: [u64; 2],
    /// The sequence that `d` belongs to.
    pub matrix_at: [u64; 2],
    /// Rendezvous completed.
    pub sequence: u64,
    /// Lanes that exist and have not returned.
    pub present: u32,
    /// The same at the last two rendezvous.
    pub mask: [u32; 2],
}

/// What the runtime gives the library.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Host {
    /// Parks the thread until its simdgroup or threadgroup has arrived.
    pub sync: extern "C" fn(kind: u32, flags: u32, site: Site),
    /// Arguments that all lanes must give alike before their next rendezvous.
    pub uniform: extern "C" fn(pointer: *const c_void, stride: u64, site: Site),
    /// The memory of a threadgroup variable.
    pub threadgroup_variable:
        extern "C" fn(id: u32, size: u64, align: u64, name: *const c_char) -> *mut c_void,
    /// Reports and ends the launch; does not return.
    pub fail: extern "C" fn(what: *const c_char, site: Site),
    /// Checked mode: before every access to memory.
    pub access: extern "C" fn(address: u64, size: u64, bits: u32, pc: u64),
    /// Undefined behaviour that the compiler found; does not return if fatal.
    pub undefined: extern "C" fn(what: *const c_char, value: u64, site: Site, fatal: u32, pc: u64),
}

/// What a kernel is called with.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Arguments {
    /// Start of each bound slice.
    pub buffer: [*mut u8; 32],
    /// Start of each threadgroup memory argument.
    pub threadgroup: [*mut u8; 32],
    /// Built-in values, by [`builtin`].
    pub builtin: [[u32; 3]; BUILTINS],
}

/// One parameter of a kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Of [`parameter`].
    pub kind: u32,
    /// Of buffer or threadgroup memory, or of [`builtin`].
    pub index: u32,
    /// NUL-terminated.
    pub name: *const c_char,
    /// 1 for a reference.
    pub reference: u32,
    /// 1 where the kernel cannot write.
    pub constant: u32,
    /// Bytes of the pointee, or the value.
    pub size: u64,
    /// Its alignment.
    pub align: u64,
}

/// A kernel.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// NUL-terminated.
    pub name: *const c_char,
    /// NUL-terminated.
    pub file: *const c_char,
    /// From one.
    pub line: u32,
    /// `max_total_threads_per_threadgroup`; 0 where the source does not say.
    pub max_threads: u32,
    /// Runs one thread.
    pub call: extern "C" fn(*const Arguments),
    /// The kernel itself, which `call` calls; may be null.
    pub body: *const c_void,
    /// Its parameters.
    pub parameters: *const Parameter,
    /// How many.
    pub parameter_count: u32,
}

/// A threadgroup variable, noted where the code comes to it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Variable {
    /// Of that place, relative to this field.
    pub code: i32,
    /// Of the variable.
    pub id: u32,
    /// Bytes.
    pub size: u32,
    /// Its alignment.
    pub align: u32,
}

/// A function constant.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Constant {
    /// Its index.
    pub index: u32,
    /// Its bytes.
    pub size: u32,
    /// NUL-terminated.
    pub name: *const c_char,
    /// NUL-terminated.
    pub kind: *const c_char,
    /// Where its value is read.
    pub value: *mut c_void,
    /// 1 once it has a value.
    pub is_set: *mut u8,
}

/// What a library exports.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Exports {
    /// [`VERSION`].
    pub abi: u32,
    /// 1 where it was compiled for checked runs.
    pub checked: u32,
    /// Its kernels.
    pub kernels: *const Kernel,
    /// Its function constants.
    pub constants: *const Constant,
    /// How many kernels.
    pub kernel_count: u32,
    /// How many function constants.
    pub constant_count: u32,
    /// Threadgroup variables; null where there are none.
    pub variables: *const Variable,
    /// Their end.
    pub variables_end: *const Variable,
    /// Gives it the runtime.
    pub attach: extern "C" fn(*const Host),
}
