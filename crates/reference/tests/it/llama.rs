//! A hand-built two-layer model in the manner of Llama, with made-up weights in many formats, and a
//! session on it.

use std::sync::Arc;

use minfer_graph::op::add::Add;
use minfer_graph::op::argmax::Argmax;
use minfer_graph::op::attention::Attention;
use minfer_graph::op::embed::Embed;
use minfer_graph::op::get_rows::GetRows;
use minfer_graph::op::kv_store::KvStore;
use minfer_graph::op::matmul::{Matmul, Member};
use minfer_graph::op::matmul_group::MatmulGroup;
use minfer_graph::op::mul::Mul;
use minfer_graph::op::qk_norm::QkNorm;
use minfer_graph::op::rms_norm::RmsNorm;
use minfer_graph::op::rope::{Pairs, Rope};
use minfer_graph::op::unary::Unary;
use minfer_graph::{
    Activation, Builder, Error, Graph, Input, KvTypes, OutputKind, PAGE_POSITIONS, StateDecl,
    StateId, StepShape, ValueId, Want, WeightDecl, WeightId,
};
use minfer_plan::{
    Bounds, Device, GroupInputs, Inputs, Limit, Options, PlacedState, PlacedWeight, Placement,
    Planned, Program, Region, RunTicket, Runner, SequenceRows, StateHandle, StepOutputs, TargetId,
    TokenInput, attention_work, plan, work_capacity,
};
use minfer_quant::{KvType, Quant};
use minfer_reference::Reference;

const LAYERS: usize = 2;
const DIM: usize = 256;
const HEADS: usize = 4;
const KV_HEADS: usize = 2;
const HEAD_DIM: usize = 64;
const FFN: usize = 512;
pub const VOCABULARY: usize = 96;
const CONTEXT: usize = 256;
pub const POOL_PAGES: usize = 12;
const WINDOWS: [Option<usize>; LAYERS] = [None, Some(40)];
const EPS: f32 = 1e-5;

/// Rows, columns and format of the weights of a layer, in order.
const LAYER_WEIGHTS: [(&str, usize, usize, [Quant; LAYERS]); 11] = [
    ("attn_norm", 1, DIM, [Quant::F32, Quant::F32]),
    ("attn_q", HEADS * HEAD_DIM, DIM, [Quant::Q4_1, Quant::Q4_K]),
    ("attn_k", KV_HEADS * HEAD_DIM, DIM, [Quant::Q4_1, Quant::Q4_K]),
    ("attn_v", KV_HEADS * HEAD_DIM, DIM, [Quant::Q4_1, Quant::Q6_K]),
    ("attn_q_norm", 1, HEAD_DIM, [Quant::F32, Quant::F32]),
    ("attn_k_norm", 1, HEAD_DIM, [Quant::F32, Quant::F32]),
    ("attn_output", DIM, HEADS * HEAD_DIM, [Quant::Q5_0, Quant::Q5_K]),
    ("ffn_norm", 1, DIM, [Quant::F32, Quant::F32]),
    ("ffn_gate", FFN, DIM, [Quant::Q4_0, Quant::Q3_K]),
    ("ffn_up", FFN, DIM, [Quant::Q4_0, Quant::Q3_K]),
    ("ffn_down", DIM, FFN, [Quant::Q5_1, Quant::Q2_K]),
];

/// Weight ids at the model's ends; those of layers follow.
const EMBEDDING: WeightId = WeightId(0);
const OUTPUT_NORM: WeightId = WeightId(1);
const OUTPUT: WeightId = WeightId(2);

fn weight(layer: usize, name: &str) -> WeightId {
    let index = LAYER_WEIGHTS.iter().position(|w| w.0 == name).expect("a name of the table");
    WeightId((3 + layer * LAYER_WEIGHTS.len() + index) as u32)
}

fn declarations() -> Arc<[WeightDecl]> {
    let decl = |name: String, rows, cols, quant| WeightDecl { name, quant, experts: 1, rows, cols };
    let mut weights = vec![
        decl("token_embd".into(), VOCABULARY, DIM, Quant::Q8_0),
        decl("output_norm".into(), 1, DIM, Quant::F32),
        decl("output".into(), VOCABULARY, DIM, Quant::F16),
    ];
    for layer in 0..LAYERS {
        for (name, rows, cols, quants) in LAYER_WEIGHTS {
            weights.push(decl(format!("blk.{layer}.{name}"), rows, cols, quants[layer]));
        }
    }
    weights.into()
}

fn states(kv: KvType) -> Arc<[StateDecl]> {
    let state = |layer| StateDecl::Paged {
        group: layer,
        layer,
        kv_heads: KV_HEADS,
        head_dim: HEAD_DIM,
        key: kv,
        value: kv,
        window: WINDOWS[layer],
    };
    (0..LAYERS).map(state).collect()
}

/// Every weight's bytes behind each other: norms near 1, matrices small enough to keep activations
/// near 1.
fn region() -> (Region, Vec<PlacedWeight>) {
    let mut bytes = Vec::new();
    let mut placed = Vec::new();
    let mut random = 1_u64;
    for (index, decl) in declarations().iter().enumerate() {
        let offset = bytes.len();
        let (centre, spread) = match decl.rows {
            1 => (1.0, 0.3),
            _ => (0.0, 2.0 / (decl.cols as f32).sqrt()),
        };
        let mut value = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            centre + spread * ((random >> 40) as f32 / (1 << 23) as f32 - 1.0)
        };
        let values: Vec<f32> = (0..decl.rows * decl.cols).map(|_| value()).collect();
        bytes.resize(offset + decl.bytes(), 0);
        decl.quant.encode(&values, &mut bytes[offset..]).expect("an encoder, finite values");
        let id = WeightId(index as u32);
        placed.push(PlacedWeight { id, decl: decl.clone(), region: 0, offset });
    }
    (Region(Arc::new(bytes)), placed)
}

pub fn shape(tokens: usize, want: Want, kv: KvType) -> StepShape {
    StepShape {
        tokens,
        outputs: tokens,
        want,
        kind: minfer_graph::StepKind::Mixed,
        kv: KvTypes { key: kv, value: kv },
        sequences: 1,
        pages: CONTEXT / PAGE_POSITIONS,
        work: work_capacity(tokens, 1, 8),
        partials: 8,
    }
}

pub fn graph(shape: StepShape) -> Result<Graph, Error> {
    let mut b = Builder::new(declarations(), states(shape.kv.key), shape);
    let tokens = b.input(Input::Tokens);
    let mut x = b.push_one("embed", Embed { weight: EMBEDDING }, &[tokens])?;
    for layer in 0..LAYERS {
        b.layer(Some(layer));
        x = attention_block(&mut b, layer, x)?;
        x = feed_forward(&mut b, layer, x)?;
    }
    b.layer(None);
    let rows = b.input(Input::OutputRows);
    let x = b.push_one("rows", GetRows, &[x, rows])?;
    let x = b.push_one("norm", RmsNorm { weight: OUTPUT_NORM, eps: EPS }, &[x])?;
    let logits = b.push_one("logits", Matmul::new(OUTPUT, None), &[x])?;
    if shape.want == Want::Argmax {
        let ids = b.push_one("ids", Argmax, &[logits])?;
        b.output(OutputKind::Ids, ids);
    } else {
        b.output(OutputKind::Logits, logits);
    }
    b.finish()
}

fn attention_block(b: &mut Builder, layer: usize, x: ValueId) -> Result<ValueId, Error> {
    let id = |name| weight(layer, name);
    let member = |name| Member::new(id(name), None);
    let positions = b.input(Input::Positions);
    let slots = b.input(Input::Slots { group: layer });
    let pages = b.input(Input::Pages { group: layer });
    let work = b.input(Input::Work { group: layer });
    let normed = b.push_one("attn_norm", RmsNorm { weight: id("attn_norm"), eps: EPS }, &[x])?;
    let members = vec![member("attn_q"), member("attn_k"), member("attn_v")];
    let projected = b.push("qkv", MatmulGroup { members }, &[normed])?;
    let (mut q, mut k, v) = (projected[0], projected[1], projected[2]);
    if layer == 1 {
        let norm = |name| QkNorm { weight: id(name), eps: EPS, head_dim: HEAD_DIM };
        q = b.push_one("q_norm", norm("attn_q_norm"), &[q])?;
        k = b.push_one("k_norm", norm("attn_k_norm"), &[k])?;
    }
    let half = HEAD_DIM / 2;
    let rope = Rope {
        head_dim: HEAD_DIM,
        pairs: if layer == 0 { Pairs::Interleaved } else { Pairs::HalfSplit },
        frequencies: (0..half).map(|i| 1e4_f64.powf(-(i as f64) / half as f64)).collect(),
        magnitude: 1.0,
    };
    let q = b.push_one("q_rope", rope.clone(), &[q, positions])?;
    let k = b.push_one("k_rope", rope, &[k, positions])?;
    let state = StateId(layer as u32);
    b.push("store", KvStore { state }, &[k, v, slots])?;
    let attention = Attention { state, heads: HEADS, scale: 0.125, soft_cap: None, sinks: None };
    let y = b.push_one("attention", attention, &[q, positions, pages, work])?;
    let output = Matmul::new(id("attn_output"), None);
    let y = b.push_one("attn_output", output, &[y])?;
    b.push_one("attn_add", Add, &[x, y])
}

fn feed_forward(b: &mut Builder, layer: usize, x: ValueId) -> Result<ValueId, Error> {
    let id = |name| weight(layer, name);
    let normed = b.push_one("ffn_norm", RmsNorm { weight: id("ffn_norm"), eps: EPS }, &[x])?;
    let members = vec![Member::new(id("ffn_gate"), None), Member::new(id("ffn_up"), None)];
    let both = b.push("gate_up", MatmulGroup { members }, &[normed])?;
    let act = b.push_one("act", Unary { function: Activation::Silu }, &both[..1])?;
    let product = b.push_one("mul", Mul, &[act, both[1]])?;
    let down = Matmul::new(id("ffn_down"), None);
    let y = b.push_one("ffn_down", down, &[product])?;
    b.push_one("ffn_add", Add, &[x, y])
}

/// One sequence on reference devices.
pub struct Session {
    pub devices: Vec<Box<dyn Device>>,
    pub states: Vec<StateHandle>,
    kv: KvType,
    /// Pages of the sequence in both groups.
    pub pages: Vec<u32>,
}

impl Session {
    pub fn new(device: Reference, kv: KvType) -> Session {
        Session::on(vec![device], kv)
    }

    /// Layer i runs on device i, the last device takes what is left; all have all weights and
    /// states.
    pub fn on(devices: Vec<Reference>, kv: KvType) -> Session {
        let (region, weights) = region();
        let placed = |(index, decl): (usize, &StateDecl)| PlacedState {
            id: StateId(index as u32),
            decl: decl.clone(),
            pages: POOL_PAGES,
        };
        let states: Vec<PlacedState> = states(kv).iter().enumerate().map(placed).collect();
        let mut session = Session {
            devices: Vec::new(),
            states: Vec::new(),
            kv,
            pages: vec![7, 2, 9, 4, 0, 11, 5, 3],
        };
        for mut device in devices {
            device
                .weights(std::slice::from_ref(&region), &weights)
                .expect("weights lie in their region");
            session.states.push(device.state(&states).expect("small pools"));
            session.devices.push(Box::new(device));
        }
        session
    }

    pub fn program(&self, tokens: usize, want: Want, options: &Options) -> Arc<Program> {
        let graph = graph(shape(tokens, want, self.kv)).expect("a graph that holds together");
        let planned = |device| Planned { target: Device::target(device), layouts: &[] };
        let planned: Vec<Planned<'_>> = self.devices.iter().map(|d| planned(d.as_ref())).collect();
        let target = |layer: usize| TargetId(layer.min(self.devices.len() - 1) as u32);
        let placement = Placement {
            embed: target(0),
            layers: (0..LAYERS).map(target).collect(),
            head: target(LAYERS),
        };
        Arc::new(plan(&graph, &planned, &placement, options).expect("every op is lowered"))
    }

    pub fn runner(&mut self, tokens: usize, want: Want, options: &Options) -> Runner {
        let program = self.program(tokens, want, options);
        Runner::load(&mut self.devices, program, &self.states).expect("splits of these devices")
    }

    /// Inputs of a step of `tokens` from `position` on, with output for every token.
    pub fn inputs(&self, shape: &StepShape, tokens: &[TokenInput], position: usize) -> Inputs {
        let n = tokens.len();
        let positions = position..position + n;
        let slot = |p: usize| {
            self.pages[p / PAGE_POSITIONS] as usize * PAGE_POSITIONS + p % PAGE_POSITIONS
        };
        let rows = [SequenceRows { row: 0, rows: n, sequence: 0, position }];
        let group = |window| GroupInputs {
            slots: positions.clone().map(|p| slot(p) as i32).collect(),
            pages: self.pages.iter().map(|&page| page as i32).collect(),
            work: attention_work(&rows, window, shape),
        };
        let inputs = Inputs {
            tokens: tokens.to_vec(),
            positions: positions.clone().map(|p| p as i32).collect(),
            output_rows: (0..n as i32).collect(),
            groups: WINDOWS.into_iter().map(group).collect(),
            profile: false,
        };
        let pool_pages = vec![POOL_PAGES; LAYERS];
        let bounds = Bounds { vocabulary: VOCABULARY, context: CONTEXT, pool_pages };
        inputs.check(shape, &bounds).expect("inputs within bounds");
        inputs
    }

    pub fn submit(&mut self, runner: &Runner, tokens: &[TokenInput], position: usize) -> RunTicket {
        let shape = runner.program().graph.tables.shape;
        let inputs = Arc::new(self.inputs(&shape, tokens, position));
        runner.submit(&mut self.devices, inputs).expect("fewer than two steps in flight")
    }

    pub fn wait(&mut self, runner: &Runner, ticket: RunTicket) -> StepOutputs<'_> {
        runner.wait(&mut self.devices, ticket, &Limit::NONE).expect("a step that runs")
    }

    /// Logits of every token of a step.
    pub fn logits(&mut self, runner: &Runner, tokens: &[u32], position: usize) -> Vec<f32> {
        let ticket = self.submit(runner, &known(tokens), position);
        self.wait(runner, ticket).logits().expect("a logits output").to_vec()
    }
}

pub fn known(tokens: &[u32]) -> Vec<TokenInput> {
    tokens.iter().map(|&token| TokenInput::Known(token)).collect()
}

pub fn prompt(n: usize) -> Vec<u32> {
    (0..n).map(|i| (i * i * 31 + i * 7 + 3) as u32 % VOCABULARY as u32).collect()
}
