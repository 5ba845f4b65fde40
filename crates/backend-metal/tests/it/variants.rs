//! Cases that the conformance suite's become with other buckets and other caches.

use minfer_conformance::Case;
use minfer_graph::StateDecl;
use minfer_quant::KvType;

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

/// Attention over heads of every size, with every pair of types.
pub fn caches() -> Vec<Case> {
    let sizes = minfer_conformance::ops::all();
    let sizes = sizes.into_iter().filter(|case| case.name.starts_with("attention.head_dim"));
    let mut cases = Vec::new();
    for case in sizes {
        for &key in KvType::ALL {
            for &value in KvType::ALL {
                let case = cached(case.clone(), key, value);
                cases.extend(case.into_iter().flat_map(|case| [in_bucket(case.clone(), 16), case]));
            }
        }
    }
    cases
}
