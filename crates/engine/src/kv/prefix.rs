//! The prefix cache: a tree of token blocks, each as long as a page, with the pages that hold their
//! K and V.
//!
//! A block is found by its parent and its tokens, so a hit means that every token from the start is
//! equal. A block's page in a group may be gone (evicted, or never kept); the block itself stays
//! while it has pages, children or sequences that stand on it, and is removed after.

use std::cmp::Reverse;
use std::collections::HashMap;

use minfer_graph::PAGE_POSITIONS;

use super::pages::Pool;

/// A block of the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(u64);

type BlockTokens = [u32; PAGE_POSITIONS];

#[derive(Clone, Debug)]
struct Block {
    parent: Option<BlockId>,
    tokens: BlockTokens,
    pages: Vec<Option<u32>>,
    depth: u32,
    children: u32,
    standing: u32,
    used: u64,
}

/// The tree. It holds one reference to every page it names.
#[derive(Clone, Debug, Default)]
pub struct Prefix {
    blocks: HashMap<BlockId, Block>,
    index: HashMap<(Option<BlockId>, BlockTokens), BlockId>,
    next: u64,
    now: u64,
}

impl Prefix {
    /// The longest chain of known blocks that `tokens` starts with.
    pub fn walk(&self, tokens: &[u32]) -> Vec<BlockId> {
        let mut chain = Vec::new();
        for block in tokens.chunks_exact(PAGE_POSITIONS) {
            let Ok(block) = BlockTokens::try_from(block) else { break };
            match self.index.get(&(chain.last().copied(), block)) {
                Some(id) => chain.push(*id),
                None => break,
            }
        }
        chain
    }

    /// The page of a block in a group.
    pub fn page(&self, id: BlockId, group: usize) -> Option<u32> {
        self.blocks.get(&id)?.pages.get(group).copied().flatten()
    }

    /// Marks a block and all above it as just used, so that no block outlives the use of one below
    /// it.
    pub fn touch(&mut self, id: BlockId) {
        self.now += 1;
        let mut next = Some(id);
        while let Some(block) = next.and_then(|id| self.blocks.get_mut(&id)) {
            block.used = self.now;
            next = block.parent;
        }
    }

    /// Adds a full block below `parent`, or finds it; pages it lacks are taken from `pages` (by
    /// group) with a reference of the tree's own.
    pub fn insert(
        &mut self,
        parent: Option<BlockId>,
        tokens: &[u32],
        pages: &[Option<u32>],
        pools: &mut [Pool],
    ) -> Option<BlockId> {
        let tokens = BlockTokens::try_from(tokens).ok()?;
        let id = match self.index.get(&(parent, tokens)) {
            Some(id) => *id,
            None => self.add(parent, tokens, pages.len()),
        };
        self.touch(id);
        let block = self.blocks.get_mut(&id)?;
        for (group, page) in pages.iter().enumerate() {
            if let (None, Some(page)) = (block.pages[group], *page) {
                pools[group].share(page);
                block.pages[group] = Some(page);
            }
        }
        Some(id)
    }

    fn add(&mut self, parent: Option<BlockId>, tokens: BlockTokens, groups: usize) -> BlockId {
        let id = BlockId(self.next);
        self.next += 1;
        let above = parent.and_then(|parent| self.blocks.get_mut(&parent));
        let depth = above.map_or(0, |above| {
            above.children += 1;
            above.depth + 1
        });
        let pages = vec![None; groups];
        let block = Block { parent, tokens, pages, depth, children: 0, standing: 0, used: 0 };
        self.blocks.insert(id, block);
        self.index.insert((parent, tokens), id);
        id
    }

    /// A sequence stands on `to` and no longer on `from`.
    pub fn stand(&mut self, from: Option<BlockId>, to: Option<BlockId>) {
        if let Some(block) = to.and_then(|id| self.blocks.get_mut(&id)) {
            block.standing += 1;
        }
        if let Some(block) = from.and_then(|id| self.blocks.get_mut(&id)) {
            block.standing -= 1;
        }
        self.prune(from);
    }

    /// Removes a block that nothing needs, and then those above it.
    fn prune(&mut self, from: Option<BlockId>) {
        let mut next = from;
        while let Some(id) = next {
            let Some(block) = self.blocks.get(&id) else { return };
            let idle = block.children == 0 && block.standing == 0;
            if !idle || block.pages.iter().any(Option::is_some) {
                return;
            }
            next = block.parent;
            let key = (block.parent, block.tokens);
            self.index.remove(&key);
            self.blocks.remove(&id);
            if let Some(above) = next.and_then(|id| self.blocks.get_mut(&id)) {
                above.children -= 1;
            }
        }
    }

    /// Pages of a group that only the tree holds.
    pub fn evictable(&self, group: usize, pool: &Pool) -> usize {
        self.blocks.values().filter(|block| held_alone(block, group, pool)).count()
    }

    /// Gives back the page of `group` that was used longest ago and that only the tree holds; of a
    /// chain the deepest block first. Where `whole` a block without that page is of no use: its
    /// other pages go too.
    pub fn evict(&mut self, group: usize, whole: bool, pools: &mut [Pool]) -> bool {
        let candidates = self.blocks.iter().filter(|(_, b)| held_alone(b, group, &pools[group]));
        let oldest = candidates.min_by_key(|(id, b)| (b.used, Reverse(b.depth), **id));
        let Some(id) = oldest.map(|(id, _)| *id) else { return false };
        if let Some(block) = self.blocks.get_mut(&id) {
            for (index, page) in block.pages.iter_mut().enumerate() {
                if index == group || whole {
                    page.take().into_iter().for_each(|page| pools[index].release(page));
                }
            }
        }
        self.prune(Some(id));
        true
    }

    /// Blocks in the tree.
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Whether the tree has no block.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Every (group, page) that the tree holds a reference to.
    pub fn pages(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        let pages = |block: &'_ Block| {
            let held = block.pages.iter().enumerate();
            held.filter_map(|(group, page)| Some((group, (*page)?))).collect::<Vec<_>>()
        };
        self.blocks.values().flat_map(pages)
    }
}

fn held_alone(block: &Block, group: usize, pool: &Pool) -> bool {
    block.pages[group].is_some_and(|page| pool.references(page) == 1)
}
