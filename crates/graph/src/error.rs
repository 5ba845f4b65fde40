//! What can be wrong with a graph.

/// A graph that does not hold together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// An op's operands do not fit it.
    #[error("{op}: expected {expected}, found {found}")]
    Operand {
        /// Name of the op.
        op: &'static str,
        /// What the op takes.
        expected: String,
        /// What it was given.
        found: String,
    },
    /// A value is used before a node defines it.
    #[error("node {node} ({op}) uses value {value}, which no earlier node defines")]
    Undefined {
        /// Position of the node.
        node: usize,
        /// Name of its op.
        op: &'static str,
        /// The value.
        value: u32,
    },
    /// Two nodes define one value.
    #[error("node {node} ({op}) defines value {value}, which is already defined")]
    Redefined {
        /// Position of the node.
        node: usize,
        /// Name of its op.
        op: &'static str,
        /// The value.
        value: u32,
    },
    /// A node's outputs are not of the types its op gives.
    #[error("node {node} ({op}): the op gives {expected}, the graph says {found}")]
    OutputType {
        /// Position of the node.
        node: usize,
        /// Name of its op.
        op: &'static str,
        /// Types by the op's shape rule.
        expected: String,
        /// Types in the graph.
        found: String,
    },
    /// A node names a weight or state that the model does not declare.
    #[error("node {node} ({op}) names {what} {id}, but the model declares {count}")]
    Undeclared {
        /// Position of the node.
        node: usize,
        /// Name of its op.
        op: &'static str,
        /// "weight" or "state".
        what: &'static str,
        /// The index.
        id: u32,
        /// Declarations.
        count: usize,
    },
    /// Attention reads a layer's cache before the step's K and V are stored in it.
    #[error("node {node} reads state {state} before kv_store has written it")]
    ReadBeforeStore {
        /// Position of the node.
        node: usize,
        /// The state.
        state: u32,
    },
    /// An op that has no decomposition was asked for one.
    #[error("{op} has no decomposition: it is a primitive")]
    Primitive {
        /// Name of the op.
        op: &'static str,
    },
}
