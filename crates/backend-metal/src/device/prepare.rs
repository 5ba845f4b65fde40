//! A split made ready: what every launch binds, and where barriers stand, worked out once.

use std::ops::Range;
use std::sync::Arc;

use minfer_graph::{Input, Node, StateId, ValueId};
use minfer_plan::{
    DeviceError, Io, PlacedValue, PlacedWeight, Region, Split, StateHandle, Step, Target as _,
};

use super::state::States;
use super::weights::Weights;
use crate::dispatch::{Dispatch, Slot};
use crate::hazards::{barriers, touched};
use crate::kernels::dispatches;
use crate::target::MetalTarget;

/// What a buffer of a launch is bound to.
#[derive(Clone, Debug)]
pub(super) enum Bound {
    Value(PlacedValue),
    Input(Input),
    /// Buffer, and bytes of it.
    Weight(usize, Range<usize>),
    Keys(StateId),
    Values(StateId),
    /// Bytes of the arena.
    Scratch(Range<usize>),
    Constant(Vec<u8>),
    Unused,
}

/// One launch of a kernel.
pub(super) struct Prepared {
    pub(super) dispatch: Dispatch,
    pub(super) bound: Vec<Bound>,
    /// Whether a barrier stands before it.
    pub(super) barrier: bool,
    /// Index of the step it belongs to.
    pub(super) step: usize,
}

/// A split that can run.
pub(super) struct Loaded {
    pub(super) split: Arc<Split>,
    pub(super) state: StateHandle,
    pub(super) prepared: Vec<Prepared>,
    /// Step inputs that its launches read.
    pub(super) inputs: Vec<Input>,
    /// Values copied in when a step is submitted.
    pub(super) imports: Vec<PlacedValue>,
    /// The ids that later steps may refer to.
    pub(super) ids: Option<PlacedValue>,
}

impl Loaded {
    /// Prepares a split: its weights and state must be here, its values in its memory plan.
    pub(super) fn new(
        target: &MetalTarget,
        split: Arc<Split>,
        state: StateHandle,
        weights: &Weights,
        states: &States,
    ) -> Result<Loaded, DeviceError> {
        let device = || target.caps().name.clone();
        let unknown =
            |what, id: u32| DeviceError::Unknown { device: device(), what, id: u64::from(id) };
        let placed =
            |value: ValueId| split.placed(value).ok_or_else(|| unknown("place for value", value.0));
        let binder = Binder { split: &split, weights, states };
        let mut prepared = Vec::new();
        let mut accesses = Vec::new();
        for (index, step) in split.steps.iter().enumerate() {
            let node = split.node(step);
            for dispatch in launches(target, &split, node)? {
                let bound: Result<Vec<Bound>, _> =
                    dispatch.buffers.iter().map(|slot| binder.bind(slot, node, step)).collect();
                let bound = bound.map_err(|(what, id)| unknown(what, id))?;
                accesses.push(touched(&split, step, &dispatch));
                prepared.push(Prepared { dispatch, bound, barrier: false, step: index });
            }
        }
        for (launch, barrier) in prepared.iter_mut().zip(barriers(&accesses)) {
            launch.barrier = barrier;
        }
        let mut inputs: Vec<Input> = Vec::new();
        for bound in prepared.iter().flat_map(|launch| &launch.bound) {
            if let Bound::Input(input) = bound
                && !inputs.contains(input)
            {
                inputs.push(*input);
            }
        }
        let imports = split.imports.iter().map(|id| placed(*id)).collect::<Result<_, _>>()?;
        let ids = split.ids();
        Ok(Loaded { split, state, prepared, inputs, imports, ids })
    }

    /// Its launches.
    pub(super) fn launches(&self) -> impl Iterator<Item = &Dispatch> {
        self.prepared.iter().map(|launch| &launch.dispatch)
    }
}

fn launches(
    target: &MetalTarget,
    split: &Split,
    node: &Node,
) -> Result<Vec<Dispatch>, DeviceError> {
    let graph = &split.graph;
    let io = Io {
        inputs: &graph.types(&node.inputs),
        outputs: &graph.types(&node.outputs),
        tables: &graph.tables,
        layouts: &[],
    };
    dispatches(&node.op, &io, target).map_err(|refused| DeviceError::Failed {
        device: target.caps().name.clone(),
        reason: format!("{}: {refused}", node.name),
        recent: Vec::new(),
    })
}

/// What slots are resolved with.
struct Binder<'a> {
    split: &'a Split,
    weights: &'a Weights,
    states: &'a States,
}

impl Binder<'_> {
    /// Resolves a slot; fails with what is missing and its number.
    fn bind(&self, slot: &Slot, node: &Node, step: &Step) -> Result<Bound, (&'static str, u32)> {
        let value = |id: ValueId| match self.split.graph.values[id.0 as usize].input {
            Some(input) => Ok(Bound::Input(input)),
            None => {
                let placed = self.split.placed(id);
                placed.map(Bound::Value).ok_or(("place for value", id.0))
            }
        };
        let state = |id: StateId, bound: Bound| match self.states.get(id) {
            Some(_) => Ok(bound),
            None => Err(("state of a layer", id.0)),
        };
        match slot {
            Slot::Input(at) => value(node.inputs[*at]),
            Slot::Output(at) => value(node.outputs[*at]),
            Slot::Weight(id) => {
                let place = self.weights.place(*id).ok_or(("weight", id.0))?;
                Ok(Bound::Weight(place.buffer, place.bytes.clone()))
            }
            Slot::Keys(id) => state(*id, Bound::Keys(*id)),
            Slot::Values(id) => state(*id, Bound::Values(*id)),
            Slot::Scratch(bytes) => {
                let start = step.scratch.unwrap_or(0);
                Ok(Bound::Scratch(start + bytes.start..start + bytes.end))
            }
            Slot::Constant(bytes) => Ok(Bound::Constant(bytes.clone())),
            Slot::Unused => Ok(Bound::Unused),
        }
    }
}

/// Each weight must lie within its region, aligned as its kernels read it.
pub(super) fn check_weights(
    target: &MetalTarget,
    regions: &[Region],
    weights: &[PlacedWeight],
) -> Result<(), DeviceError> {
    let alignment = target.caps().weight_alignment;
    for PlacedWeight { decl, region, offset, .. } in weights {
        let refuse = |reason: String| {
            let device = target.caps().name.clone();
            Err(DeviceError::Weight { device, name: decl.name.clone(), reason })
        };
        let (bytes, len) = (decl.bytes(), regions.get(*region).map_or(0, |r| r.bytes().len()));
        if offset.checked_add(bytes).is_none_or(|end| end > len) {
            return refuse(format!(
                "expected {bytes} bytes at {offset} of region {region}, found a region of {len}"
            ));
        }
        if !offset.is_multiple_of(alignment) {
            return refuse(format!(
                "it begins at byte {offset}, which is no multiple of {alignment}"
            ));
        }
    }
    Ok(())
}
