// What a compiled kernel library and the runtime know of each other; src/abi.rs mirrors it.
// No system headers: kernels see only what the Metal Shading Language names.
#pragma once

#define MSIM_ABI 1

typedef unsigned char msim_u8;
typedef unsigned short msim_u16;
typedef unsigned int msim_u32;
typedef unsigned long msim_u64;

// A place in the source, passed by value.
struct msim_site {
  const char* file;
  msim_u32 line, column;
};

// Kinds of rendezvous.
enum : msim_u32 {
  MSIM_REDUCTION = 1,
  MSIM_SHUFFLE,
  MSIM_VOTE,
  MSIM_MATRIX,
  MSIM_SIMDGROUP_BARRIER,
  MSIM_THREADGROUP_BARRIER,
};

// Bits of mem_flags.
enum : msim_u32 { MSIM_DEVICE = 1, MSIM_THREADGROUP = 2, MSIM_TEXTURE = 4 };

// Bits of an access. Aligned: its type is, to its size or to 8 bytes.
enum : msim_u32 { MSIM_READ = 0, MSIM_WRITE = 1, MSIM_ATOMIC = 2, MSIM_ALIGNED = 4 };

// A thread's stack lies between two multiples of the first power of two; those of a threadgroup in
// a row between two of the second, its lanes one after the other.
#define MSIM_STACK_BITS 16
#define MSIM_ROW_BITS 26

// Where the lanes of one simdgroup meet. The runtime owns it; collectives read and write it. What
// has two entries alternates with the parity of `sequence`, so that a lane may enter the next
// collective while others still read the last.
struct alignas(64) msim_simdgroup {
  msim_u8 slots[2][32][64];            // what each lane gave
  float a[2][64], b[2][64], d[2][64];  // operands and product of a matrix operation
  msim_u8 reduced[2][64];              // a reduction's result, made by the first lane to go on
  msim_u64 reduced_at[2], matrix_at[2];  // the sequence that `reduced` and `d` belong to
  msim_u64 sequence;                   // rendezvous completed
  msim_u32 present;                    // lanes that exist and have not returned
  msim_u32 mask[2];                    // the same at the last two rendezvous
};

// The running thread's lane, and its simdgroup: those of all lie behind the row. A thread knows
// itself by where its stack is, which costs nothing.
#define MSIM_SELF inline __attribute__((always_inline, nodebug))
MSIM_SELF msim_u64 msim_stack() { return (msim_u64)__builtin_frame_address(0); }
MSIM_SELF msim_u32 msim_lane() { return (msim_u32)(msim_stack() >> MSIM_STACK_BITS) & 31; }
MSIM_SELF msim_simdgroup* msim_group() {
  const msim_u64 behind = ((msim_stack() >> MSIM_ROW_BITS) + 1) << MSIM_ROW_BITS;
  return (msim_simdgroup*)behind + ((msim_stack() >> (MSIM_STACK_BITS + 5)) & 31);
}

// What the runtime gives the library.
struct msim_host {
  // Parks the thread until its simdgroup or threadgroup has arrived. A rendezvous of a simdgroup
  // writes mask[sequence & 1], then increments sequence.
  void (*sync)(msim_u32 kind, msim_u32 flags, msim_site site);
  // Arguments that all lanes must give alike before their next rendezvous.
  void (*uniform)(const void* pointer, msim_u64 stride, msim_site site);
  // The memory of a threadgroup variable, the same for all threads of a threadgroup.
  void* (*threadgroup_variable)(msim_u32 id, msim_u64 size, msim_u64 align, const char* name);
  // Reports and ends the launch; does not return.
  void (*fail)(const char* what, msim_site site);
  // Checked mode: before every access to memory.
  void (*access)(msim_u64 address, msim_u64 size, msim_u32 bits, msim_u64 pc);
  // Undefined behaviour that the compiler found; does not return if fatal.
  void (*undefined)(const char* what, msim_u64 value, msim_site site, msim_u32 fatal, msim_u64 pc);
};

enum : msim_u32 { MSIM_P_BUFFER = 1, MSIM_P_THREADGROUP, MSIM_P_BUILTIN };

enum : msim_u32 {
  MSIM_B_THREAD_POSITION_IN_GRID,
  MSIM_B_THREAD_POSITION_IN_THREADGROUP,
  MSIM_B_THREADGROUP_POSITION_IN_GRID,
  MSIM_B_THREADS_PER_THREADGROUP,           // of this threadgroup: smaller at the grid's edge
  MSIM_B_DISPATCH_THREADS_PER_THREADGROUP,  // as dispatched
  MSIM_B_THREADGROUPS_PER_GRID,
  MSIM_B_THREADS_PER_GRID,
  MSIM_B_THREAD_INDEX_IN_THREADGROUP,
  MSIM_B_THREAD_INDEX_IN_SIMDGROUP,
  MSIM_B_SIMDGROUP_INDEX_IN_THREADGROUP,
  MSIM_B_SIMDGROUPS_PER_THREADGROUP,
  MSIM_B_THREADS_PER_SIMDGROUP,
  MSIM_B_GRID_ORIGIN,
  MSIM_B_COUNT,
};

struct msim_arguments {
  msim_u8* buffer[32];
  msim_u8* threadgroup[32];
  msim_u32 builtin[MSIM_B_COUNT][3];
};

// One parameter of a kernel; size and alignment are the pointee's, or the value's.
struct msim_parameter {
  msim_u32 kind, index;  // index: of buffer or threadgroup memory, or which built-in
  const char* name;
  msim_u32 reference, constant;
  msim_u64 size, align;
};

struct msim_kernel {
  const char* name;
  const char* file;
  msim_u32 line, max_threads;  // max_threads: 0 where the source does not say
  void (*call)(const msim_arguments*);
  const void* body;  // the kernel itself, which `call` calls
  const msim_parameter* parameters;
  msim_u32 parameter_count;
};

// A threadgroup variable, noted where the code comes to it.
struct msim_variable {
  int code;  // of that place, relative to this field
  msim_u32 id, size, align;
};

// A function constant; the runtime writes value and is_set before a launch.
struct msim_constant {
  msim_u32 index, size;
  const char* name;
  const char* type;
  void* value;
  msim_u8* is_set;
};

// The one symbol that a library exports is of this type: `msim_library_1`.
struct msim_library {
  msim_u32 abi, checked;
  const msim_kernel* kernels;
  const msim_constant* constants;
  msim_u32 kernel_count, constant_count;
  const msim_variable *variables, *variables_end;  // null where there are none
  void (*attach)(const msim_host*);
};
