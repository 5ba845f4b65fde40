use super::{GroupConfig, Groups, PageCopy, Tables};

const FULL: Option<usize> = None;

fn groups(configs: &[(Option<usize>, usize)]) -> Groups {
    let configs: Vec<GroupConfig> = configs
        .iter()
        .map(|(window, pages)| GroupConfig { window: *window, pages: *pages })
        .collect();
    Groups::new(&configs, true)
}

/// Stores a text as one sequence and ends it, so that the prefix cache has its pages.
fn store(groups: &mut Groups, tokens: &[u32]) {
    let mut tables = Tables::default();
    assert_eq!(groups.reserve(&mut tables, 0, tokens.len(), &mut Vec::new()), tokens.len());
    groups.publish(&mut tables, tokens, tokens.len());
    groups.release(&mut tables);
}

fn text(len: u32) -> Vec<u32> {
    (0..len).collect()
}

#[test]
fn positions_take_whole_pages_and_give_them_back() {
    let mut groups = groups(&[(FULL, 4)]);
    let mut tables = Tables::default();
    assert_eq!(groups.reserve(&mut tables, 0, 33, &mut Vec::new()), 33);
    assert_eq!(groups.pool(0).free(), 2);
    assert_eq!(groups.reserve(&mut tables, 33, 200, &mut Vec::new()), 128);
    assert_eq!(groups.pool(0).free(), 0);
    groups.release(&mut tables);
    assert_eq!(groups.pool(0).free(), 4);
}

#[test]
fn a_page_leaves_when_the_next_position_sees_none_of_it() {
    let mut groups = groups(&[(Some(40), 8)]);
    let mut tables = Tables::default();
    groups.reserve(&mut tables, 0, 71, &mut Vec::new());
    // Position 70 sees 31..=70, the last of page 0 among them; position 71 does not.
    groups.reserve(&mut tables, 70, 71, &mut Vec::new());
    assert_eq!(tables.held(0), 3);
    groups.reserve(&mut tables, 71, 72, &mut Vec::new());
    assert_eq!(tables.held(0), 2);
    assert_eq!(tables.pages(0)[0], None);
    assert_eq!(groups.pool(0).free(), 6);
}

#[test]
fn a_hit_leaves_a_token_to_compute() {
    let mut groups = groups(&[(FULL, 8)]);
    store(&mut groups, &text(70));
    let hits = [(32, true), (33, true), (64, true), (64, false), (65, false), (70, true)];
    let found = hits.map(|(len, partial)| groups.hit(&text(len), partial).tokens);
    assert_eq!(found, [31, 32, 63, 32, 64, 64]);
    assert_eq!(groups.hit(&[5; 70], true).tokens, 0);
}

#[test]
fn a_hit_shortens_to_what_all_groups_have() {
    let mut groups = groups(&[(FULL, 8), (Some(32), 4)]);
    // 128 tokens leave the windowed pool no page to spare, so a second text evicts the oldest of
    // the first there.
    store(&mut groups, &text(128));
    let other: Vec<u32> = (1000..1064).collect();
    store(&mut groups, &other);
    let mut hits: Vec<usize> = Vec::new();
    for len in [129, 97, 65, 33] {
        hits.push(groups.hit(&text(len), true).tokens);
    }
    // Deepest first: pages 2 and 3 of the window are gone, so 128 and 96 tokens are not usable.
    assert_eq!(hits, [64, 64, 64, 32]);
}

#[test]
fn a_shared_page_is_copied_before_it_is_written() {
    let mut groups = groups(&[(FULL, 4)]);
    store(&mut groups, &text(64));
    let hit = groups.hit(&text(64), true);
    let (mut tables, mut copies) = (Tables::default(), Vec::new());
    groups.attach(&mut tables, &hit);
    let shared = tables.pages(0)[1].unwrap();
    assert_eq!(groups.reserve(&mut tables, 63, 64, &mut copies), 64);
    let own = tables.pages(0)[1].unwrap();
    assert_eq!(copies, [PageCopy { group: 0, from: shared, to: own }]);
    assert_ne!(own, shared);
    assert_eq!(groups.pool(0).references(own), 1);
    assert_eq!(groups.hit(&text(65), true).tokens, 64);
}

#[test]
fn nothing_is_kept_without_a_prefix_cache() {
    let mut groups = Groups::new(&[GroupConfig { window: None, pages: 4 }], false);
    store(&mut groups, &text(64));
    assert_eq!(groups.hit(&text(65), true).tokens, 0);
    assert_eq!(groups.pool(0).free(), 4);
}

#[test]
fn a_lost_state_forgets_everything() {
    let mut groups = groups(&[(FULL, 4)]);
    store(&mut groups, &text(64));
    groups.clear();
    assert_eq!(groups.hit(&text(65), true).tokens, 0);
    assert_eq!(groups.pool(0).free(), 4);
}
