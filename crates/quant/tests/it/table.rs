//! Names and ids: unique, found again, and disjoint from what is not supported.

use std::collections::BTreeSet;

use minfer_quant::{DType, KvType, Quant};

#[test]
fn names_and_ids_are_unique_and_lead_back() {
    let mut names = BTreeSet::new();
    let mut ids = BTreeSet::new();
    for &quant in Quant::ALL {
        assert!(names.insert(quant.name()), "{quant:?}");
        assert!(ids.insert(quant.gguf_id()), "{quant:?}");
        assert_eq!(Quant::from_gguf_id(quant.gguf_id()), Some(quant));
        assert_eq!(Quant::from_name(quant.name()), Some(quant));
        assert_eq!(Quant::from_name(&format!("{quant:?}")), Some(quant), "as GGUF spells it");
    }
    assert_eq!(Quant::ALL.len(), 27);
    assert_eq!(Quant::from_name("q9_9"), None);
}

#[test]
fn a_gguf_id_is_supported_or_named_or_unknown_but_never_two_of_these() {
    let mut named = 0;
    for id in (0..=1000).chain([u32::MAX]) {
        let unsupported = Quant::unsupported_name(id);
        assert!(Quant::from_gguf_id(id).is_none() || unsupported.is_none(), "{id}");
        named += usize::from(unsupported.is_some());
    }
    assert_eq!(named, 15);
    assert_eq!(Quant::unsupported_name(9), Some("Q8_1"));
    assert_eq!(Quant::unsupported_name(12), None);
    assert_eq!(Quant::unsupported_name(42), None);
}

#[test]
fn activation_and_page_types_are_found_by_their_names() {
    for &kind in KvType::ALL {
        assert_eq!(KvType::from_name(kind.name()), Some(kind));
        assert_eq!(KvType::from_name(&kind.name().to_uppercase()), Some(kind));
    }
    assert_eq!(KvType::from_name("q4_0"), None);
    for &dtype in DType::ALL {
        assert_eq!(DType::from_name(dtype.name()), Some(dtype));
    }
    assert_eq!(DType::from_name("q4_0"), None);
}
