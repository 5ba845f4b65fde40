//! The bit set of tokens.

use std::collections::BTreeSet;

use minfer_sample::{Error, Mask};
use proptest::prelude::*;

#[test]
fn edges_of_the_vocabulary() {
    for vocab_size in [0, 1, 31, 32, 33, 64, 65] {
        let all = Mask::all(vocab_size);
        assert_eq!(all.count(), vocab_size);
        assert_eq!(all.tokens().count(), vocab_size);
        assert_eq!(all.words().len(), vocab_size.div_ceil(32));
        assert!(!all.allows(vocab_size as u32));
        let mut none = Mask::none(vocab_size);
        assert_eq!(none.count(), 0);
        let token = vocab_size as u32;
        let unknown = Error::UnknownToken { token, vocab_size, place: "a mask" };
        assert_eq!(none.allow(token), Err(unknown.clone()));
        assert!(none.forbid(u32::MAX).is_err());
        assert_eq!(none.forbid(token), Err(unknown));
    }
}

proptest! {
    #[test]
    fn behaves_as_a_set(edits in prop::collection::vec((0u32..100, any::<bool>()), 0..200)) {
        let mut mask = Mask::none(100);
        let mut set = BTreeSet::new();
        for (token, add) in edits {
            if add {
                mask.allow(token).expect("a known token");
                set.insert(token);
            } else {
                mask.forbid(token).expect("a known token");
                set.remove(&token);
            }
        }
        prop_assert!(mask.tokens().eq(set.iter().copied()));
        prop_assert_eq!(mask.count(), set.len());
        prop_assert!((0..120).all(|token| mask.allows(token) == set.contains(&token)));
    }
}
