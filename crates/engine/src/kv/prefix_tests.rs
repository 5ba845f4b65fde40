use super::{Pool, Prefix};

fn block(fill: u32) -> [u32; 32] {
    [fill; 32]
}

fn text(fills: &[u32]) -> Vec<u32> {
    fills.iter().flat_map(|fill| block(*fill)).collect()
}

/// A pool of eight pages and a chain of blocks, one page each, that only the tree holds.
fn chain(fills: &[u32]) -> (Prefix, Vec<Pool>) {
    let (mut prefix, mut pools) = (Prefix::default(), vec![Pool::new(8)]);
    let mut parent = None;
    for fill in fills {
        let page = pools[0].take();
        parent = prefix.insert(parent, &block(*fill), &[page], &mut pools);
        page.into_iter().for_each(|page| pools[0].release(page));
    }
    (prefix, pools)
}

#[test]
fn a_walk_follows_tokens_from_the_start() {
    let (prefix, _pools) = chain(&[1, 2, 3]);
    assert_eq!(prefix.walk(&text(&[1, 2, 3])).len(), 3);
    assert_eq!(prefix.walk(&text(&[1, 2, 3])[..95]).len(), 2);
    assert_eq!(prefix.walk(&text(&[1, 3])).len(), 1);
    assert_eq!(prefix.walk(&text(&[2, 3])).len(), 0);
}

#[test]
fn equal_blocks_below_other_parents_are_other_blocks() {
    let (mut prefix, mut pools) = chain(&[1, 2]);
    let page = pools[0].take();
    let root = prefix.insert(None, &block(2), &[page], &mut pools);
    assert_ne!(root, prefix.walk(&text(&[1, 2])).last().copied());
    assert_eq!(prefix.len(), 3);
}

#[test]
fn a_block_that_is_known_keeps_its_page() {
    let (mut prefix, mut pools) = chain(&[1]);
    let other = pools[0].take();
    let id = prefix.insert(None, &block(1), &[other], &mut pools).unwrap();
    assert_ne!(prefix.page(id, 0), other);
    assert_eq!(pools[0].references(other.unwrap()), 1);
}

#[test]
fn eviction_takes_the_least_recently_used_chain_from_its_end() {
    let (mut prefix, mut pools) = chain(&[1, 2]);
    let page = pools[0].take();
    prefix.insert(None, &block(9), &[page], &mut pools);
    page.into_iter().for_each(|page| pools[0].release(page));
    prefix.touch(prefix.walk(&text(&[1, 2]))[1]);
    let walks =
        |prefix: &Prefix| (prefix.walk(&text(&[9])).len(), prefix.walk(&text(&[1, 2])).len());
    let mut left = Vec::new();
    while prefix.evict(0, true, &mut pools) {
        left.push(walks(&prefix));
    }
    assert_eq!(left, [(0, 2), (0, 1), (0, 0)]);
    assert!(prefix.is_empty());
    assert_eq!(pools[0].free(), 8);
}

#[test]
fn pages_in_use_are_not_evicted() {
    let (mut prefix, mut pools) = chain(&[1]);
    let id = prefix.walk(&text(&[1]))[0];
    let page = prefix.page(id, 0).unwrap();
    pools[0].share(page);
    assert!(!prefix.evict(0, true, &mut pools));
    pools[0].release(page);
    assert!(prefix.evict(0, true, &mut pools));
}

#[test]
fn a_block_that_a_sequence_stands_on_stays_without_its_page() {
    let (mut prefix, mut pools) = chain(&[1]);
    let id = prefix.walk(&text(&[1]))[0];
    prefix.stand(None, Some(id));
    assert!(prefix.evict(0, true, &mut pools));
    assert_eq!(prefix.len(), 1);
    prefix.stand(Some(id), None);
    assert!(prefix.is_empty());
}
