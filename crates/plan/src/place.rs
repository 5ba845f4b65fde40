//! Which target runs which layer.

use minfer_graph::{Graph, StateDecl, StateId, WeightId};

use crate::error::Error;

/// Index of a target in the list given to [`crate::plan`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TargetId(pub u32);

/// A target for each layer, and for the model's two ends.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Placement {
    /// Target of what comes before the first layer.
    pub embed: TargetId,
    /// Target of each layer.
    pub layers: Vec<TargetId>,
    /// Target of what comes after the last layer.
    pub head: TargetId,
}

impl Placement {
    /// Everything on one target.
    pub fn whole(target: TargetId, layers: usize) -> Placement {
        Placement { embed: target, layers: vec![target; layers], head: target }
    }

    /// The target of each node, in order. Nodes without a layer belong to the head once a layer has
    /// been seen.
    pub fn assign(&self, graph: &Graph, targets: usize) -> Result<Vec<TargetId>, Error> {
        let mut all = self.layers.iter().chain([&self.embed, &self.head]);
        if let Some(bad) = all.find(|t| t.0 as usize >= targets) {
            let expected = format!("targets below {targets}");
            return Err(Error::Placement { expected, found: format!("target {}", bad.0) });
        }
        let mut seen_layer = false;
        let mut assigned = Vec::with_capacity(graph.nodes.len());
        for node in &graph.nodes {
            let target = match node.layer {
                None if seen_layer => self.head,
                None => self.embed,
                Some(layer) => *self.layers.get(layer).ok_or_else(|| Error::Placement {
                    expected: format!("a target for each layer, {layer} among them"),
                    found: format!("{} layers", self.layers.len()),
                })?,
            };
            seen_layer |= node.layer.is_some();
            assigned.push(target);
        }
        Ok(assigned)
    }

    /// Weights that the nodes of `target` read, in rising order.
    pub fn weights(
        &self,
        graph: &Graph,
        targets: usize,
        target: TargetId,
    ) -> Result<Vec<WeightId>, Error> {
        let assigned = self.assign(graph, targets)?;
        let mut ids: Vec<WeightId> = graph
            .nodes
            .iter()
            .zip(assigned)
            .filter(|(_, t)| *t == target)
            .flat_map(|(node, _)| node.op.def().weights())
            .collect();
        ids.sort();
        ids.dedup();
        Ok(ids)
    }

    /// States of the layers on `target`.
    pub fn states(&self, states: &[StateDecl], target: TargetId) -> Vec<StateId> {
        (0..states.len())
            .filter(|&i| self.layers.get(states[i].layer()) == Some(&target))
            .map(|i| StateId(i as u32))
            .collect()
    }
}
