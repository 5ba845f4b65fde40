//! What cases become with other buckets and other caches.

use minfer_graph::{StateDecl, StepKind};
use minfer_quant::KvType;

use crate::case::Case;

/// Rows of a case's last step, and pairs of a row and a position that attention takes in it: what a
/// slow run of it costs.
pub fn size(case: &Case) -> [usize; 2] {
    let Some(step) = case.steps.last() else { return [0; 2] };
    let counts = step.inputs.counts();
    let work = step.inputs.groups.iter().flat_map(|group| &group.work);
    let pairs = work.map(|item| (item.rows * (item.kv_end - item.kv_start)) as usize).sum();
    [counts.tokens.max(counts.outputs), pairs]
}

/// The case in buckets that its steps fill to the last row. The suite's have a row to spare, so
/// none of them is planned for a single row.
pub fn tight(mut case: Case) -> Case {
    case.name += "+tight";
    for step in &mut case.steps {
        let counts = step.inputs.counts();
        step.graph.tables.shape.tokens = counts.tokens;
        step.graph.tables.shape.outputs = counts.outputs;
    }
    case
}

/// The case in buckets of so many rows at least, whose kernels may be others.
pub fn in_bucket(mut case: Case, rows: usize) -> Case {
    case.name += &format!("+bucket of {rows}");
    for step in &mut case.steps {
        step.graph.tables.shape.tokens = step.graph.tables.shape.tokens.max(rows);
    }
    case
}

/// The case in steps of a kind, whose kernels do not go by how many rows there are.
pub fn of_kind(mut case: Case, kind: StepKind) -> Case {
    case.name += &format!("+{kind:?}");
    for step in &mut case.steps {
        step.graph.tables.shape.kind = kind;
    }
    case
}

/// The case with caches of these types; nothing where a head size does not suit them.
pub fn cached(mut case: Case, key: KvType, value: KvType) -> Option<Case> {
    case.name += &format!("+{}/{}", key.name(), value.name());
    for decl in &mut case.states {
        if let StateDecl::Paged { head_dim, key: old_key, value: old_value, .. } = decl {
            key.row_bytes(*head_dim).ok()?;
            value.row_bytes(*head_dim).ok()?;
            (*old_key, *old_value) = (key, value);
        }
    }
    for step in &mut case.steps {
        step.graph.tables.states = case.states.clone().into();
    }
    Some(case)
}
