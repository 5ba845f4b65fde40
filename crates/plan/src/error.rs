//! What can go wrong in planning, in a step's inputs, and on a device.

use minfer_graph as graph;

/// Planning or running a program failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The graph does not hold together.
    #[error(transparent)]
    Graph(#[from] graph::Error),
    /// The target of a node can run neither its op nor the op's decomposition.
    #[error("{target} cannot run {op} (node {node}): {reason}")]
    Unsupported {
        /// Name of the target.
        target: String,
        /// Name of the op.
        op: &'static str,
        /// Name of the node.
        node: String,
        /// The target's reason.
        reason: String,
    },
    /// A placement does not fit the model or the targets.
    #[error("placement: expected {expected}, found {found}")]
    Placement {
        /// What fits.
        expected: String,
        /// What was asked.
        found: String,
    },
    /// A value that crosses to another device has the wrong size there.
    #[error(
        "value {value} crosses to {target}: expected {expected} bytes for the step's rows, \
         found {found}"
    )]
    Boundary {
        /// The value.
        value: u32,
        /// The device it goes to, or the host.
        target: String,
        /// Bytes of its type at the step's rows.
        expected: usize,
        /// Bytes that came.
        found: usize,
    },
    /// The step's inputs are refused.
    #[error(transparent)]
    Inputs(#[from] InputError),
    /// A device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// A step's inputs do not fit the program or the engine's limits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    /// A list is longer or shorter than the step's counts or shape say.
    #[error("step input {input}: expected {expected} entries, found {found}")]
    Length {
        /// Name of the input.
        input: String,
        /// Entries it must have (or may have at most).
        expected: usize,
        /// Entries it has.
        found: usize,
    },
    /// An entry is out of range.
    #[error("step input {input}[{index}]: expected 0 to {limit} (exclusive), found {found}")]
    Range {
        /// Name of the input.
        input: String,
        /// Which entry.
        index: usize,
        /// One past the largest valid value.
        limit: usize,
        /// The entry.
        found: i64,
    },
    /// A work item does not hold together.
    #[error("attention work {index} of group {group}: {reason}")]
    Work {
        /// KV group.
        group: usize,
        /// Which item.
        index: usize,
        /// What is wrong with it.
        reason: String,
    },
}

/// A device failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// Memory could not be had.
    #[error("{device}: {what} needs {requested} bytes, which cannot be allocated")]
    OutOfMemory {
        /// Name of the device.
        device: String,
        /// What the memory was for.
        what: String,
        /// Bytes asked for.
        requested: u64,
    },
    /// A weight does not lie within its region, or is not what the kernels take.
    #[error("{device}: weight {name}: {reason}")]
    Weight {
        /// Name of the device.
        device: String,
        /// Name of the weight.
        name: String,
        /// What is wrong, with the numbers.
        reason: String,
    },
    /// Two submits are already in flight.
    #[error("{device}: two steps are in flight, wait for one before submitting the next")]
    Busy {
        /// Name of the device.
        device: String,
    },
    /// A handle that this device did not give, or that is no longer valid.
    #[error("{device}: no such {what}: {id}")]
    Unknown {
        /// Name of the device.
        device: String,
        /// Kind of handle.
        what: &'static str,
        /// Its number.
        id: u64,
    },
    /// The caller wanted the work stopped.
    #[error("cancelled")]
    Cancelled,
    /// Time was up.
    #[error("{device}: the step passed its deadline; last launches: {}", recent.join(", "))]
    Deadline {
        /// Name of the device.
        device: String,
        /// The last launches, newest last.
        recent: Vec<String>,
    },
    /// The device reported a failure or is gone.
    #[error("{device}: {reason}; last launches: {}", recent.join(", "))]
    Failed {
        /// Name of the device.
        device: String,
        /// The device's own words.
        reason: String,
        /// The last launches, newest last.
        recent: Vec<String>,
    },
}
