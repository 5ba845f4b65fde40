//! The device as the planner sees it.

use minfer_graph::{Op, WeightDecl};
use minfer_plan::{Caps, DeviceKind, Io, Launch, Target, Unsupported};
use minfer_quant::DType;

use crate::kernels;
use crate::simd::Isa;

/// A processor with some instruction set and so many threads; it need not be this one.
#[derive(Clone, Debug, PartialEq)]
pub struct CpuTarget {
    caps: Caps,
    isa: Isa,
}

impl CpuTarget {
    /// A target called `name`.
    pub fn new(name: impl Into<String>, isa: Isa, threads: usize) -> CpuTarget {
        let caps = Caps {
            kind: DeviceKind::Cpu,
            name: name.into(),
            features: isa.name().to_owned(),
            memory_bytes: None,
            bytes_per_second: None,
            value_alignment: 64,
            weight_alignment: 1,
            threads: threads.max(1),
            batch_invariant: true,
            overlaps: false,
        };
        CpuTarget { caps, isa }
    }

    /// The instruction set that its kernels are compiled for.
    pub fn isa(&self) -> Isa {
        self.isa
    }
}

impl Target for CpuTarget {
    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn operand(&self, op: &Op, weight: &WeightDecl) -> DType {
        op.activations(weight.quant)
    }

    fn lower(&self, op: &Op, io: &Io<'_>) -> Result<Launch, Unsupported> {
        kernels::lower(op, io, self.caps.threads)
    }
}
