//! The planner's result, and the order of its passes.

use std::sync::Arc;

use minfer_graph::{Graph, Node, NodeId, Output, ValueId};

use crate::error::Error;
use crate::fuse::{FUSIONS, Fusion};
use crate::launch::{Io, Launch, Layout, Unsupported};
use crate::memory::{self, Memory};
use crate::place::{Placement, TargetId};
use crate::{Target, decompose, fuse, operands, split};

/// A target to plan for, and the layouts in which it keeps the model's weights (by weight; empty:
/// the file's).
#[derive(Clone, Copy)]
pub struct Planned<'a> {
    /// The target.
    pub target: &'a dyn Target,
    /// Layouts that [`crate::Device::weights`] gave.
    pub layouts: &'a [Layout],
}

impl Planned<'_> {
    /// Asks the target for a launch of `node`.
    pub(crate) fn lower(&self, graph: &Graph, node: &Node) -> Result<Launch, Unsupported> {
        let io = Io {
            inputs: &graph.types(&node.inputs),
            outputs: &graph.types(&node.outputs),
            tables: &graph.tables,
            layouts: self.layouts,
        };
        self.target.lower(&node.op, &io)
    }
}

/// What a plan may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Fusions to try, in order.
    pub fusions: Vec<Fusion>,
    /// Keep activations in f32 whatever the targets want: the exact path.
    pub exact: bool,
    /// Keep every value readable after the step, for traces.
    pub keep_all: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { fusions: FUSIONS.to_vec(), exact: false, keep_all: false }
    }
}

/// A decision worth explaining.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Name of the node it is about.
    pub node: String,
    /// What was decided, and why.
    pub text: String,
}

/// One launch of a split.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The node it carries out.
    pub node: NodeId,
    /// How.
    pub launch: Launch,
    /// Offset of its scratch memory in the arena, when it has any.
    pub scratch: Option<usize>,
}

/// Consecutive nodes on one target.
#[derive(Clone, Debug)]
pub struct Split {
    /// Where it runs.
    pub target: TargetId,
    /// The whole program's graph, after all passes.
    pub graph: Arc<Graph>,
    /// Launches in order.
    pub steps: Vec<Step>,
    /// Values it needs that an earlier split on another target defines.
    pub imports: Vec<ValueId>,
    /// Values it defines that the host or a later split reads (with `keep_all`: every value).
    pub exports: Vec<ValueId>,
    /// Where its values are.
    pub memory: Memory,
}

impl Split {
    /// The node of a step.
    pub fn node(&self, step: &Step) -> &Node {
        &self.graph.nodes[step.node.0 as usize]
    }
}

/// A graph placed, fused, lowered, split and laid out in memory.
#[derive(Clone, Debug)]
pub struct Program {
    /// The graph after all passes.
    pub graph: Arc<Graph>,
    /// Splits in execution order.
    pub splits: Vec<Arc<Split>>,
    /// What the host reads.
    pub outputs: Vec<Output>,
    /// What was decided on the way.
    pub notes: Vec<Note>,
}

impl Program {
    /// The stable text form.
    pub fn dump(&self) -> String {
        crate::dump::program(self)
    }

    /// The launches alone, one line each, for `explain` and `inspect`.
    pub fn dump_launches(&self) -> String {
        crate::dump::launches(self)
    }
}

/// A graph on its way through the passes: each node with its target.
pub(crate) struct Draft<'a> {
    pub(crate) graph: Graph,
    pub(crate) placed: Vec<TargetId>,
    pub(crate) targets: &'a [Planned<'a>],
    pub(crate) notes: Vec<Note>,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(
        graph: &Graph,
        targets: &'a [Planned<'a>],
        placement: &Placement,
    ) -> Result<Draft<'a>, Error> {
        graph.verify()?;
        let placed = placement.assign(graph, targets.len())?;
        Ok(Draft { graph: graph.clone(), placed, targets, notes: Vec::new() })
    }

    pub(crate) fn target(&self, node: usize) -> &Planned<'_> {
        &self.targets[self.placed[node].0 as usize]
    }

    pub(crate) fn note(&mut self, node: &str, text: String) {
        self.notes.push(Note { node: node.to_string(), text });
    }

    /// Replaces the node list; checks the graph in debug builds.
    pub(crate) fn replace(&mut self, nodes: Vec<(Node, TargetId)>) -> Result<(), Error> {
        let (nodes, placed) = nodes.into_iter().unzip();
        self.graph.nodes = nodes;
        self.placed = placed;
        self.graph.verify()?;
        Ok(())
    }
}

/// Plans `graph` for `targets`. Fails, naming node and reason, when a target can run neither an op
/// nor its decomposition: work never moves to another target on its own.
pub fn plan(
    graph: &Graph,
    targets: &[Planned<'_>],
    placement: &Placement,
    options: &Options,
) -> Result<Program, Error> {
    let mut draft = Draft::new(graph, targets, placement)?;
    if !options.exact {
        operands::choose(&mut draft)?;
    }
    if let Some(refusal) = decompose::decompose(&mut draft)?.into_iter().next() {
        return Err(refusal.error(targets));
    }
    fuse::fuse(&mut draft, &options.fusions)?;
    let launches = lower_all(&draft)?;
    let Draft { graph, placed, notes, .. } = draft;
    let outputs = graph.outputs.clone();
    let graph = Arc::new(graph);
    let splits = split::ranges(&placed)
        .into_iter()
        .map(|range| {
            let border = split::border(&graph, range.clone(), options.keep_all);
            let target = placed[range.start];
            let caps = targets[target.0 as usize].target.caps();
            let steps: Vec<Step> = range
                .map(|n| Step {
                    node: NodeId(n as u32),
                    launch: launches[n].clone(),
                    scratch: None,
                })
                .collect();
            let (memory, steps) = memory::lay_out(&graph, steps, &border, caps.value_alignment);
            Arc::new(Split {
                target,
                graph: graph.clone(),
                steps,
                imports: border.imports,
                exports: border.exports,
                memory,
            })
        })
        .collect();
    Ok(Program { graph, splits, outputs, notes })
}

/// A split for op tests: all nodes of `graph` on one target, with `imports` coming from outside and
/// `exports` readable, both in the order of their places in the staging area (a value may be in
/// both). Nothing is inserted, fused or taken apart.
pub fn single_split(
    graph: Graph,
    imports: Vec<ValueId>,
    exports: Vec<ValueId>,
    planned: Planned<'_>,
) -> Result<Split, Error> {
    let steps = graph
        .nodes
        .iter()
        .enumerate()
        .map(|(index, node)| {
            let launch = planned
                .lower(&graph, node)
                .map_err(|unsupported| decompose::refused(&planned, node, &unsupported))?;
            Ok(Step { node: NodeId(index as u32), launch, scratch: None })
        })
        .collect::<Result<_, Error>>()?;
    let border = split::Border { imports, exports };
    let alignment = planned.target.caps().value_alignment;
    let (memory, steps) = memory::lay_out(&graph, steps, &border, alignment);
    let split::Border { imports, exports } = border;
    Ok(Split { target: TargetId(0), graph: Arc::new(graph), steps, imports, exports, memory })
}

fn lower_all(draft: &Draft<'_>) -> Result<Vec<Launch>, Error> {
    draft
        .graph
        .nodes
        .iter()
        .enumerate()
        .map(|(index, node)| {
            let target = draft.target(index);
            target
                .lower(&draft.graph, node)
                .map_err(|unsupported| decompose::refused(target, node, &unsupported))
        })
        .collect()
}
