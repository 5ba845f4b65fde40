//! The device as the planner sees it.

use minfer_graph::{Op, WeightDecl};
use minfer_plan::{Caps, Choice, DeviceKind, Io, Launch, Target, Unsupported};
use minfer_quant::DType;

use crate::caps::{Limits, Staging, memory_speed};
use crate::kernels::{self, scratch};
use crate::tune::{How, Tune};

/// An Apple GPU; it need not be this machine's.
#[derive(Clone, Debug, PartialEq)]
pub struct MetalTarget {
    caps: Caps,
    limits: Limits,
    how: How,
}

impl MetalTarget {
    /// A GPU with these limits.
    pub fn new(limits: Limits, staging: Staging) -> MetalTarget {
        let caps = Caps {
            kind: DeviceKind::Metal,
            name: limits.name.clone(),
            features: if limits.unified_memory { "unified memory" } else { "" }.to_owned(),
            memory_bytes: Some(limits.recommended_working_set),
            bytes_per_second: memory_speed(&limits.name),
            // Vectors of four floats are loaded at once; a slice's offset is a multiple of this.
            value_alignment: 256,
            weight_alignment: 4,
            threads: 1,
            // The kernel, and with it the order of sums, depends on how many rows there are.
            batch_invariant: false,
            overlaps: true,
        };
        let how = How { staging, tune: Tune::default() };
        MetalTarget { caps, limits, how }
    }

    /// The limits that launches are checked against.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The same with other choices between variants.
    pub fn with_tune(mut self, tune: Tune) -> MetalTarget {
        self.how.tune = tune;
        self
    }

    /// The same, of which this is said too.
    #[cfg(feature = "device")]
    pub(crate) fn with_feature(mut self, feature: &str) -> MetalTarget {
        if !self.caps.features.is_empty() {
            self.caps.features += ", ";
        }
        self.caps.features += feature;
        self
    }

    /// How it lowers ops.
    pub(crate) fn how(&self) -> How {
        self.how
    }
}

impl Target for MetalTarget {
    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn operand(&self, _op: &Op, _weight: &WeightDecl) -> DType {
        DType::F32
    }

    fn choices(&self) -> Vec<Choice> {
        self.how.tune.choices()
    }

    fn lower(&self, op: &Op, io: &Io<'_>) -> Result<Launch, Unsupported> {
        let dispatches = kernels::dispatches(op, io, self)?;
        let names: Vec<&str> = dispatches.iter().map(|d| d.kernel.as_str()).collect();
        let mut launch = Launch::simple(names.join("+"), "");
        if let Some(first) = dispatches.first() {
            launch.why = first.why;
            launch.grid = first.grid.threadgroups(first.grid.rows.capacity(&io.tables.shape));
            launch.group = [first.threads, 1, 1];
        }
        launch.args = dispatches.iter().flat_map(|d| d.arguments.iter().copied()).collect();
        Ok(launch.with_scratch(scratch(&dispatches)))
    }
}
