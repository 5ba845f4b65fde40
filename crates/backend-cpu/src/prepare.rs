//! A split made ready: where each launch's operands and results lie, worked out once.

use std::ops::Range;
use std::sync::Arc;

use minfer_graph::{Counts, ValueId};
use minfer_plan::{DeviceError, Place, PlacedValue, Split, StateHandle};

use crate::state::States;
use crate::sys::MAX_VIEWS;
use crate::weights::Weights;

/// Where a split's values lie in the device's buffer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bases {
    pub(crate) arena: usize,
    pub(crate) staging: usize,
}

impl Bases {
    /// Bytes of a value's live rows, in the device's buffer.
    pub(crate) fn range(&self, value: &PlacedValue, counts: &Counts) -> Range<usize> {
        let base = match value.place {
            Place::Arena(_) => self.arena,
            Place::Staging(_) => self.staging,
        };
        let live = value.live(counts);
        base + live.start..base + live.end
    }
}

/// One launch.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    /// Values it reads; `None` for step inputs.
    pub(crate) reads: Vec<Option<PlacedValue>>,
    /// Values it writes.
    pub(crate) writes: Vec<PlacedValue>,
    /// Offset and bytes of its scratch memory in the arena.
    pub(crate) scratch: Option<(usize, usize)>,
}

/// A split that can run.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub(crate) split: Arc<Split>,
    pub(crate) state: StateHandle,
    pub(crate) steps: Vec<Prepared>,
    /// Values copied in when a step is submitted.
    pub(crate) imports: Vec<PlacedValue>,
    /// The ids that later steps may refer to.
    pub(crate) ids: Option<PlacedValue>,
}

impl Loaded {
    /// Prepares a split: its weights and state must be here, its values inside its memory plan.
    pub(crate) fn new(
        device: &str,
        split: Arc<Split>,
        state: StateHandle,
        weights: &Weights,
        states: &States,
    ) -> Result<Loaded, DeviceError> {
        let unknown = |what: &'static str, id: u64| DeviceError::Unknown {
            device: device.to_owned(),
            what,
            id,
        };
        let placed = |value: ValueId| {
            split.placed(value).ok_or_else(|| unknown("place for value", u64::from(value.0)))
        };
        let mut steps = Vec::with_capacity(split.steps.len());
        for step in &split.steps {
            let node = split.node(step);
            let def = node.op.def();
            if let Some(id) = def.weights().into_iter().find(|id| !weights.contains(*id)) {
                return Err(unknown("weight", u64::from(id.0)));
            }
            if let Some(id) = def.state().filter(|id| states.get(*id).is_none()) {
                return Err(unknown("state of a layer", u64::from(id.0)));
            }
            let is_input = |id: &ValueId| split.graph.values[id.0 as usize].input.is_some();
            let reads = node
                .inputs
                .iter()
                .map(|id| if is_input(id) { Ok(None) } else { placed(*id).map(Some) });
            let reads = reads.collect::<Result<Vec<_>, _>>()?;
            let writes: Vec<PlacedValue> =
                node.outputs.iter().map(|id| placed(*id)).collect::<Result<_, _>>()?;
            let scratch = step.scratch.map(|offset| (offset, step.launch.scratch));
            if reads.len().max(writes.len() + 1) > MAX_VIEWS {
                return Err(unknown("launch with so many operands", u64::from(step.node.0)));
            }
            steps.push(Prepared { reads, writes, scratch });
        }
        let imports = split.imports.iter().map(|id| placed(*id)).collect::<Result<_, _>>()?;
        let ids = split.ids();
        Ok(Loaded { split, state, steps, imports, ids })
    }
}
