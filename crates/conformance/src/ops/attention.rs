//! Cases of `attention`: depths round pages and partitions, head counts and sizes, windows, caps,
//! sinks, K/V types, several sequences in one step, split partitions. The cache is filled by
//! `kv_store` in earlier steps.

use minfer_graph::op::attention::Attention;
use minfer_graph::op::kv_store::KvStore;
use minfer_graph::{Input, KvTypes, Rows, StateId, ValueId};
use minfer_plan::SequenceRows;
use minfer_quant::KvType;

use super::{ROWS, tokens};
use crate::case::{Case, CaseBuilder};
use crate::compare::Tolerance;

/// What a case varies.
#[derive(Clone)]
struct Shape {
    heads: usize,
    kv_heads: usize,
    head_dim: usize,
    kv: KvTypes,
    window: Option<usize>,
    soft_cap: Option<f32>,
    sinks: bool,
    partials: usize,
    /// Numbers that are put in the place of others in the step's rows.
    strange: Strange<'static>,
}

/// What a strange number is put into: the first column of a row of it.
#[derive(Clone, Copy, PartialEq)]
enum Operand {
    Query,
    Key,
    Value,
}

const PLAIN: Shape = Shape {
    heads: 4,
    kv_heads: 2,
    head_dim: 32,
    kv: KvTypes { key: KvType::F32, value: KvType::F32 },
    window: None,
    soft_cap: None,
    sinks: false,
    partials: 16,
    strange: &[],
};

/// What rows see is no number, or infinite, from some position on; rows before it, and rows whose
/// window has left it behind, see nothing of it.
const STRANGE: [(&str, Strange<'static>); 3] = [
    ("strange values", &[(Operand::Value, 10, f32::NAN), (Operand::Value, 21, f32::INFINITY)]),
    ("strange queries", &[(Operand::Query, 3, f32::NAN), (Operand::Query, 20, f32::INFINITY)]),
    ("strange keys", &[(Operand::Key, 12, f32::NAN), (Operand::Key, 37, f32::NEG_INFINITY)]),
];

/// Positions before a step, on and beside the edges of pages (32), of the pages that a kernel's
/// simdgroups take in turn (128) and of partitions (512).
const DEPTHS: [usize; 22] = [
    0, 1, 15, 16, 30, 31, 32, 33, 63, 64, 65, 95, 127, 128, 129, 510, 511, 512, 513, 1023, 1024,
    1100,
];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for depth in DEPTHS {
        cases.push(case("decode", PLAIN, &[(depth, 1)]));
        // Rows of one step on both sides of every edge, by either of two ways.
        cases.push(case("few", PLAIN, &[(depth, 3)]));
        cases.push(case("many", PLAIN, &[(depth, 19)]));
    }
    cases.extend(ROWS.map(|rows| case("prefill", PLAIN, &[(0, rows)])));
    for (depth, rows) in [(5, 31), (500, 40), (1020, 9), (31, 97), (480, 65)] {
        cases.push(case("prefill", PLAIN, &[(depth, rows)]));
    }
    cases.push(case("mixed", PLAIN, &[(40, 1), (0, 20), (600, 1)]));
    cases.push(case("unsplit", Shape { partials: 0, ..PLAIN }, &[(1100, 1), (5, 3)]));
    for head_dim in (8..=256).step_by(8) {
        cases.push(case("head_dim", Shape { head_dim, ..PLAIN }, &[(33, 3)]));
        let typical = [40, 64, 72, 80, 96, 120, 128, 192, 256].contains(&head_dim);
        for &kv in KvType::ALL.iter().filter(|kv| typical && kv.row_bytes(head_dim).is_ok()) {
            let kv = KvTypes { key: kv, value: kv };
            let shape = Shape { head_dim, kv, heads: 6, kv_heads: 3, ..PLAIN };
            cases.push(case("size", shape.clone(), &[(64, 1), (0, 1)]));
            cases.push(case("size", shape, &[(31, 17), (0, 1)]));
        }
    }
    for (heads, kv_heads) in
        [(1, 1), (9, 3), (8, 1), (14, 2), (3, 3), (5, 5), (3, 1), (10, 5), (7, 1), (32, 8)]
    {
        let shape = Shape { heads, kv_heads, ..PLAIN };
        cases.push(case("heads", shape.clone(), &[(40, 1), (3, 18)]));
        cases.push(case("heads", shape.clone(), &[(40, 1), (3, 4)]));
        cases.push(case("heads", shape, &[(513, 1)]));
    }
    for &key in KvType::ALL {
        for &value in KvType::ALL {
            let kv = KvTypes { key, value };
            cases.push(case("kv", Shape { kv, head_dim: 64, ..PLAIN }, &[(70, 1), (0, 35)]));
        }
    }
    for window in [1, 2, 31, 32, 33, 100, 512, 513] {
        let shape = Shape { window: Some(window), ..PLAIN };
        cases.push(case("window", shape.clone(), &[(1100, 1)]));
        cases.push(case("window", shape, &[(30, 40)]));
    }
    // The oldest position that is seen, on and beside the edges of pages and partitions.
    for (window, oldest) in [(40, 32), (64, 64), (70, 512), (513, 128), (600, 512)] {
        for oldest in [oldest - 1, oldest, oldest + 1] {
            let (shape, last) = (Shape { window: Some(window), ..PLAIN }, oldest + window - 1);
            cases.push(case("oldest", shape.clone(), &[(last, 1)]));
            cases.push(case("oldest", shape.clone(), &[(last - 1, 3)]));
            cases.push(case("oldest", shape, &[(last - 9, 19)]));
        }
    }
    cases.push(case("batch", PLAIN, &[(1, 1); 64]));
    let lengths: Vec<(usize, usize)> = (0..64).map(|i| (i * 9 % 70, 1)).collect();
    cases.push(case("batch", Shape { heads: 9, kv_heads: 3, ..PLAIN }, &lengths));
    cases.push(case("batch", PLAIN, &[(511, 1); 9]));
    cases.push(case("batch", PLAIN, &[(1024, 1); 7]));
    cases.push(case("soft_cap", Shape { soft_cap: Some(3.0), ..PLAIN }, &[(50, 1), (0, 9)]));
    cases.push(case("sinks", Shape { sinks: true, ..PLAIN }, &[(600, 1), (0, 9)]));
    let both = Shape { sinks: true, window: Some(40), soft_cap: Some(5.0), ..PLAIN };
    cases.push(case("all", both, &[(600, 1), (30, 20)]));
    let kvs = [KvType::F32, KvType::F16];
    for ((name, strange), kv) in STRANGE.into_iter().flat_map(|one| kvs.map(|kv| (one, kv))) {
        let shape = Shape { strange, kv: KvTypes { key: kv, value: kv }, ..PLAIN };
        cases.push(case(name, shape.clone(), &[(20, 40)]));
        cases.push(case(name, Shape { window: Some(5), ..shape }, &[(27, 40), (40, 1)]));
    }
    cases
}

/// `steps` holds (depth, rows) of each sequence: the cache is filled to the depth, then the rows
/// are attended.
fn case(what: &str, shape: Shape, sequences: &[(usize, usize)]) -> Case {
    let Shape { heads, kv_heads, head_dim, kv, window, soft_cap, sinks, partials, strange } = shape;
    let listed = match sequences {
        [_, .., (depth, rows)] if sequences.len() > 8 => {
            format!("{} to ({depth}, {rows})", sequences.len())
        }
        _few => format!("{sequences:?}"),
    };
    let name = format!(
        "attention.{what}[{listed},{heads}/{kv_heads}x{head_dim},{}/{},window={window:?},\
         partials={partials}]",
        kv.key.name(),
        kv.value.name()
    );
    let deepest = sequences.iter().map(|(depth, rows)| depth + rows).max().unwrap_or(1);
    let filled: usize = sequences.iter().map(|(depth, _)| depth).sum();
    let tolerance = Tolerance::Relative(if kv.key == KvType::F32 { 2e-5 } else { 5e-5 });
    let mut case = CaseBuilder::new(name, tokens(filled.max(1)), tolerance);
    case.page_tables(sequences.len());
    let state = case.cache([kv_heads, head_dim], kv, window, deepest, partials);
    let sinks = sinks.then(|| case.vector(heads));
    if filled > 0 {
        case.sequences(&rows(sequences, |depth, _| (0, depth)));
        store(&mut case, state, kv_heads * head_dim, &[]);
    }
    let now: usize = sequences.iter().map(|(_, rows)| rows).sum();
    if filled > 0 {
        case.next_step(tokens(now));
    } else {
        case.restart(tokens(now));
    }
    case.sequences(&rows(sequences, |depth, rows| (depth, rows)));
    store(&mut case, state, kv_heads * head_dim, strange);
    let q = numbers(&mut case, heads * head_dim, Operand::Query, strange);
    let positions = case.input(Input::Positions);
    let pages = case.input(Input::Pages { group: 0 });
    let work = case.input(Input::Work { group: 0 });
    let scale = 1.0 / (head_dim as f32).sqrt();
    let attention = Attention { state, heads, scale, soft_cap, sinks };
    case.op(attention, &[q, positions, pages, work]);
    case.finish()
}

type Strange<'a> = &'a [(Operand, usize, f32)];

fn numbers(case: &mut CaseBuilder, width: usize, which: Operand, strange: Strange<'_>) -> ValueId {
    let count = case.live(Rows::TOKENS) * width;
    let mut values = case.seeded().bells(count);
    for &(_, row, number) in strange.iter().filter(|(operand, ..)| *operand == which) {
        values[row * width] = number;
    }
    case.floats(Rows::TOKENS, width, &values)
}

fn store(case: &mut CaseBuilder, state: StateId, width: usize, strange: Strange<'_>) {
    let k = numbers(case, width, Operand::Key, strange);
    let v = numbers(case, width, Operand::Value, strange);
    let slots = case.input(Input::Slots { group: 0 });
    case.node(KvStore { state }, &[k, v, slots]);
}

/// Sequences one after the other in a step; `part` gives (first position, rows) of each.
fn rows(
    sequences: &[(usize, usize)],
    part: impl Fn(usize, usize) -> (usize, usize),
) -> Vec<SequenceRows> {
    let mut row = 0;
    let mut list = Vec::new();
    for (sequence, &(depth, rows)) in sequences.iter().enumerate() {
        let (position, rows) = part(depth, rows);
        if rows > 0 {
            list.push(SequenceRows { row, rows, sequence, position });
        }
        row += rows;
    }
    list
}
