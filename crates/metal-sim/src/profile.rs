//! The limits of Apple GPUs that a launch can meet.
//!
//! Not for speed: the simulator times nothing.

/// What a GPU allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// What `MTLDevice.name` says.
    pub name: &'static str,
    /// Highest `MTLGPUFamilyApple`.
    pub family: u32,
    /// Threads of a threadgroup, at most.
    pub max_threads_per_threadgroup: u32,
    /// Bytes of threadgroup memory, static and dynamic together.
    pub threadgroup_memory: u32,
    /// Bytes of one buffer, at most.
    pub max_buffer_length: u64,
    /// Bytes that may be in use without being paged out.
    pub recommended_working_set: u64,
    /// Bytes that `setBytes` takes, at most.
    pub argument_bytes: u32,
}

const GIB: u64 = 1 << 30;

impl Profile {
    /// Apple M1 with 8 GiB of memory.
    pub const M1: Profile = Profile::apple("Apple M1", 7, 8 * GIB);
    /// Apple M2 with 16 GiB of memory.
    pub const M2: Profile = Profile::apple("Apple M2", 8, 16 * GIB);
    /// Apple M3 with 16 GiB of memory.
    pub const M3: Profile = Profile::apple("Apple M3", 9, 16 * GIB);
    /// Apple M4 with 16 GiB of memory.
    pub const M4: Profile = Profile::apple("Apple M4", 9, 16 * GIB);
    /// Apple M5 with 16 GiB of memory.
    pub const M5: Profile = Profile::apple("Apple M5", 10, 16 * GIB);
    /// A GPU with half the threads and half the threadgroup memory: what a heavy kernel may get.
    pub const SMALL: Profile = Profile {
        name: "Apple small",
        max_threads_per_threadgroup: 512,
        threadgroup_memory: 16 << 10,
        max_buffer_length: GIB / 4,
        ..Profile::apple("", 7, 2 * GIB)
    };
    /// All of them.
    pub const ALL: [Profile; 6] =
        [Profile::M1, Profile::M2, Profile::M3, Profile::M4, Profile::M5, Profile::SMALL];

    /// The figures that all of Apple's desktop GPUs share: two thirds of the memory may be in
    /// use, half of it in one buffer.
    const fn apple(name: &'static str, family: u32, memory: u64) -> Profile {
        Profile {
            name,
            family,
            max_threads_per_threadgroup: 1024,
            threadgroup_memory: 32 << 10,
            max_buffer_length: memory / 2,
            recommended_working_set: memory / 3 * 2,
            argument_bytes: 4096,
        }
    }
}
