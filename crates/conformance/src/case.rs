//! A case: a few steps of one or two nodes, with all their data.

use std::sync::Arc;

use minfer_graph::{
    Counts, Graph, Input, KvTypes, Node, Op, PAGE_POSITIONS, Rows, StateDecl, StateId, StepKind,
    StepShape, Tables, TensorType, Value, ValueId, Want, WeightDecl, WeightId,
};
use minfer_plan::{GroupInputs, Inputs, SequenceRows, TokenInput, attention_work, work_capacity};
use minfer_quant::{KvType, Quant};

use crate::compare::Tolerance;
use crate::seeded::Seeded;

/// One step of a case.
#[derive(Clone, Debug)]
pub struct CaseStep {
    /// The nodes under test.
    pub graph: Graph,
    /// Activations given to them, at the step's rows.
    pub operands: Vec<(ValueId, Vec<u8>)>,
    /// Results to compare.
    pub results: Vec<ValueId>,
    /// The step's data.
    pub inputs: Arc<Inputs>,
}

/// An op on given operands. Its name says everything that makes it differ from others, so that a
/// failing line can be pasted back as a filter.
#[derive(Clone, Debug)]
pub struct Case {
    /// Op, shapes and types.
    pub name: String,
    /// Weights with their bytes.
    pub weights: Vec<(WeightDecl, Vec<u8>)>,
    /// State.
    pub states: Vec<StateDecl>,
    /// Pages of each state's pool.
    pub pages: usize,
    /// Steps, one after the other on the same state.
    pub steps: Vec<CaseStep>,
    /// How far canonical mode may be from the formula in f64.
    pub tolerance: Tolerance,
}

/// Builds a case step by step.
#[derive(Clone, Debug)]
pub struct CaseBuilder {
    case: Case,
    shape: StepShape,
    /// Rows of a bucket beyond the live ones.
    spare: usize,
    seeded: Seeded,
    /// Live rows of the step being built.
    counts: Counts,
    values: Vec<Value>,
    nodes: Vec<Node>,
    operands: Vec<(ValueId, Vec<u8>)>,
    results: Vec<ValueId>,
    inputs: Inputs,
}

impl CaseBuilder {
    /// A case whose steps have `counts` live rows in a bucket one row larger.
    pub fn new(name: impl Into<String>, counts: Counts, tolerance: Tolerance) -> CaseBuilder {
        let name = name.into();
        let seeded = Seeded::named(&name);
        let case =
            Case { name, weights: vec![], states: vec![], pages: 0, steps: vec![], tolerance };
        let shape = StepShape {
            tokens: counts.tokens + 1,
            outputs: counts.outputs + 1,
            want: Want::Logits,
            kind: StepKind::Mixed,
            kv: KvTypes { key: KvType::F32, value: KvType::F32 },
            sequences: 4,
            pages: 1,
            work: 1,
            partials: 0,
        };
        CaseBuilder {
            case,
            shape,
            spare: 1,
            seeded,
            counts,
            values: vec![],
            nodes: vec![],
            operands: vec![],
            results: vec![],
            inputs: Inputs {
                tokens: vec![TokenInput::Known(0); counts.tokens],
                positions: vec![0; counts.tokens],
                output_rows: vec![0; counts.outputs],
                groups: vec![],
                profile: false,
            },
        }
    }

    /// Steps fill their buckets, as the steps of a single sequence's generation do.
    pub fn full(mut self) -> CaseBuilder {
        self.spare = 0;
        self.restart(self.counts);
        self
    }

    /// The case's random data.
    pub fn seeded(&mut self) -> &mut Seeded {
        &mut self.seeded
    }

    /// A weight of random blocks of about `size`.
    pub fn weight(
        &mut self,
        quant: Quant,
        [experts, rows, cols]: [usize; 3],
        size: f32,
    ) -> WeightId {
        let bytes = self.seeded.blocks(quant, experts * rows * cols, size);
        self.weight_bytes(quant, [experts, rows, cols], bytes)
    }

    /// A weight with given bytes.
    pub fn weight_bytes(
        &mut self,
        quant: Quant,
        [experts, rows, cols]: [usize; 3],
        bytes: Vec<u8>,
    ) -> WeightId {
        let name = format!("w{}", self.case.weights.len());
        self.case.weights.push((WeightDecl { name, quant, experts, rows, cols }, bytes));
        WeightId(self.case.weights.len() as u32 - 1)
    }

    /// An f32 vector of numbers near 1.
    pub fn vector(&mut self, len: usize) -> WeightId {
        let values: Vec<u8> =
            (0..len).flat_map(|_| (1.0 + 0.3 * self.seeded.unit()).to_le_bytes()).collect();
        self.weight_bytes(Quant::F32, [1, 1, len], values)
    }

    /// Rows that the step has.
    pub fn live(&self, rows: Rows) -> usize {
        rows.live(&self.counts)
    }

    /// An f32 operand of bell-shaped numbers.
    pub fn bells(&mut self, rows: Rows, cols: usize) -> ValueId {
        let values = self.seeded.bells(rows.live(&self.counts) * cols);
        self.floats(rows, cols, &values)
    }

    /// An f32 operand with given numbers, at the step's live rows.
    pub fn floats(&mut self, rows: Rows, cols: usize, values: &[f32]) -> ValueId {
        let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.operand(TensorType::f32(rows, cols), bytes)
    }

    /// An i32 operand.
    pub fn integers(&mut self, rows: Rows, cols: usize, values: &[i32]) -> ValueId {
        let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.operand(TensorType::i32(rows, cols), bytes)
    }

    /// An operand with given bytes.
    pub fn operand(&mut self, ty: TensorType, bytes: Vec<u8>) -> ValueId {
        let value = self.value(ty, None);
        self.operands.push((value, bytes));
        value
    }

    /// A step input; its data is set through the other methods.
    pub fn input(&mut self, input: Input) -> ValueId {
        let known = self.values.iter().position(|v| v.input == Some(input));
        match known {
            Some(index) => ValueId(index as u32),
            None => self.value(input.tensor_type(&self.shape), Some(input)),
        }
    }

    /// The ids of the step's tokens.
    pub fn tokens(&mut self, ids: &[u32]) -> ValueId {
        self.inputs.tokens = ids.iter().map(|&id| TokenInput::Known(id)).collect();
        self.input(Input::Tokens)
    }

    /// The positions of the step's tokens.
    pub fn positions(&mut self, positions: &[i32]) -> ValueId {
        self.inputs.positions = positions.to_vec();
        self.input(Input::Positions)
    }

    /// The token rows of the step's outputs.
    pub fn output_rows(&mut self, rows: &[i32]) -> ValueId {
        self.inputs.output_rows = rows.to_vec();
        self.input(Input::OutputRows)
    }

    /// Gives the steps page tables for so many sequences, if they have fewer.
    pub fn page_tables(&mut self, sequences: usize) {
        self.shape.sequences = self.shape.sequences.max(sequences);
    }

    /// A cache for one layer, deep enough for `positions` in each of the shape's sequences.
    pub fn cache(
        &mut self,
        [kv_heads, head_dim]: [usize; 2],
        kv: KvTypes,
        window: Option<usize>,
        positions: usize,
        partials: usize,
    ) -> StateId {
        self.shape.kv = kv;
        self.shape.pages = positions.div_ceil(PAGE_POSITIONS);
        self.shape.partials = partials;
        self.case.pages = self.shape.pages * self.shape.sequences;
        self.size_work();
        let (key, value) = (kv.key, kv.value);
        let state = StateDecl::Paged { group: 0, layer: 0, kv_heads, head_dim, key, value, window };
        self.case.states.push(state);
        StateId(self.case.states.len() as u32 - 1)
    }

    fn size_work(&mut self) {
        let shape = &mut self.shape;
        shape.work = work_capacity(shape.tokens, shape.sequences, shape.partials);
    }

    /// Cache data of a step whose rows belong to `sequences`: positions, slots, page tables (pages
    /// scattered over the pool, so that order shows) and attention work.
    pub fn sequences(&mut self, sequences: &[SequenceRows]) {
        let pages = self.shape.pages;
        let page_of =
            |sequence: usize, page: usize| (page * self.shape.sequences + sequence) as i32;
        let mut slots = vec![0; self.counts.tokens];
        let mut positions = vec![0; self.counts.tokens];
        for s in sequences {
            for i in 0..s.rows {
                let position = s.position + i;
                positions[s.row + i] = position as i32;
                let page = page_of(s.sequence, position / PAGE_POSITIONS);
                slots[s.row + i] =
                    page * PAGE_POSITIONS as i32 + (position % PAGE_POSITIONS) as i32;
            }
        }
        let tables = self.shape.sequences;
        let table = (0..tables).flat_map(|s| (0..pages).map(move |p| (s, p)));
        let pages = table.map(|(s, p)| page_of(s, p)).collect();
        let window = match self.case.states.first() {
            Some(StateDecl::Paged { window, .. }) => *window,
            Some(StateDecl::PerSequence { .. }) | None => None,
        };
        let work = attention_work(sequences, window, &self.shape);
        self.inputs.positions = positions;
        self.inputs.groups = vec![GroupInputs { slots, pages, work }];
    }

    /// Applies the op under test; all its outputs are compared.
    pub fn op(&mut self, op: impl Into<Op>, inputs: &[ValueId]) -> Vec<ValueId> {
        let outputs = self.node(op, inputs);
        self.results.extend(&outputs);
        outputs
    }

    /// Applies an op whose results are not compared.
    pub fn node(&mut self, op: impl Into<Op>, inputs: &[ValueId]) -> Vec<ValueId> {
        let op = op.into();
        let types: Vec<TensorType> =
            inputs.iter().map(|id| self.values[id.0 as usize].ty).collect();
        let outputs = op.def().infer(&types, &self.tables());
        let outputs = outputs.unwrap_or_else(|error| panic!("{}: {error}", self.case.name));
        let outputs: Vec<ValueId> = outputs.into_iter().map(|ty| self.value(ty, None)).collect();
        let name = format!("{}.{}", op.kind().name(), self.nodes.len());
        let node =
            Node { op, inputs: inputs.to_vec(), outputs: outputs.clone(), layer: None, name };
        self.nodes.push(node);
        outputs
    }

    /// Ends a step; the next one has `counts` live rows.
    pub fn next_step(&mut self, counts: Counts) {
        let tables = self.tables();
        self.case.steps.push(CaseStep {
            graph: Graph {
                tables,
                values: std::mem::take(&mut self.values),
                nodes: std::mem::take(&mut self.nodes),
                outputs: vec![],
            },
            operands: std::mem::take(&mut self.operands),
            results: std::mem::take(&mut self.results),
            inputs: Arc::new(self.inputs.clone()),
        });
        self.restart(counts);
    }

    /// Changes the live rows of a step to which nothing has been added yet.
    pub fn restart(&mut self, counts: Counts) {
        self.counts = counts;
        self.shape.tokens = counts.tokens + self.spare;
        self.shape.outputs = counts.outputs + self.spare;
        self.size_work();
        self.inputs.tokens = vec![TokenInput::Known(0); counts.tokens];
        self.inputs.positions = vec![0; counts.tokens];
        self.inputs.output_rows = vec![0; counts.outputs];
    }

    /// The finished case.
    pub fn finish(mut self) -> Case {
        self.next_step(self.counts);
        self.case
    }

    fn tables(&self) -> Tables {
        Tables {
            weights: self.case.weights.iter().map(|(decl, _)| decl.clone()).collect(),
            states: self.case.states.clone().into(),
            shape: self.shape,
        }
    }

    fn value(&mut self, ty: TensorType, input: Option<Input>) -> ValueId {
        self.values.push(Value { ty, input });
        ValueId(self.values.len() as u32 - 1)
    }
}
