//! Cases that the conformance suite's become with other caches.

use minfer_conformance::{Case, cached, in_bucket};
use minfer_quant::KvType;

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
