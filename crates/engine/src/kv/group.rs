//! Page tables of sequences in every KV group, over the groups' pools and the prefix cache.
//!
//! Invariants:
//! - A page that a sequence will write to has one reference: its own. A shared page is copied
//!   first.
//! - A sequence holds, in a group without a window, the pages of all its positions; in a windowed
//!   group those that its next position can still see, and what comes after.
//! - The prefix cache holds full pages alone, and only such whose positions are all stored.

use minfer_graph::PAGE_POSITIONS;

use super::pages::Pool;
use super::prefix::{BlockId, Prefix};

/// Layers that share page tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupConfig {
    /// Positions that a query sees, itself included; `None` for all before it.
    pub window: Option<usize>,
    /// Pages of the pool.
    pub pages: usize,
}

/// A page whose contents a device has to copy before the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageCopy {
    /// KV group.
    pub group: usize,
    /// Page to read.
    pub from: u32,
    /// Page to write.
    pub to: u32,
}

/// The pages of one sequence.
#[derive(Debug, Default)]
pub struct Tables {
    groups: Vec<Table>,
    /// Blocks of this sequence that the prefix cache knows, and the last of them.
    published: usize,
    block: Option<BlockId>,
}

#[derive(Clone, Debug, Default)]
struct Table {
    /// Entry i holds positions 32i…32i+31; `None` where they have left the window.
    pages: Vec<Option<u32>>,
    /// Entries before this one are `None`.
    first: usize,
}

impl Tables {
    /// The page table of a group.
    pub fn pages(&self, group: usize) -> &[Option<u32>] {
        self.groups.get(group).map_or(&[], |table| &table.pages)
    }

    /// Pages held in a group.
    pub fn held(&self, group: usize) -> usize {
        self.groups.get(group).map_or(0, |table| table.pages.len() - table.first)
    }
}

/// A start that a prompt shares with the prefix cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hit {
    /// Tokens that need not be computed.
    pub tokens: usize,
    blocks: Vec<BlockId>,
}

#[derive(Debug)]
struct Group {
    window: Option<usize>,
}

/// All KV groups of an engine.
#[derive(Debug)]
pub struct Groups {
    groups: Vec<Group>,
    pools: Vec<Pool>,
    prefix: Prefix,
    caching: bool,
}

impl Groups {
    /// Empty pools. `caching` says whether full pages are kept for other prompts.
    pub fn new(configs: &[GroupConfig], caching: bool) -> Groups {
        Groups {
            groups: configs.iter().map(|config| Group { window: config.window }).collect(),
            pools: configs.iter().map(|config| Pool::new(config.pages)).collect(),
            prefix: Prefix::default(),
            caching,
        }
    }

    /// Forgets every page and the prefix cache, as after the devices lost their state. No sequence
    /// may hold pages.
    pub fn clear(&mut self) {
        self.prefix = Prefix::default();
        self.pools = self.pools.iter().map(|pool| Pool::new(pool.total())).collect();
    }

    /// Groups.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Whether there is no group.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The pool of a group.
    pub fn pool(&self, group: usize) -> &Pool {
        &self.pools[group]
    }

    /// The prefix cache.
    pub fn prefix(&self) -> &Prefix {
        &self.prefix
    }

    /// Pages of a group that a sequence can have: free ones and those that only the prefix cache
    /// holds.
    pub fn available(&self, group: usize) -> usize {
        self.pools[group].free() + self.prefix.evictable(group, &self.pools[group])
    }

    /// Pages that a sequence of `len` positions holds at most in a group, when it grows by `chunk`
    /// at most.
    pub fn need(&self, group: usize, len: usize, chunk: usize) -> usize {
        let whole = len.div_ceil(PAGE_POSITIONS);
        match self.groups[group].window {
            None => whole,
            Some(window) => whole.min((window + chunk).div_ceil(PAGE_POSITIONS) + 1),
        }
    }

    /// The longest usable start of `tokens` in the prefix cache, which leaves at least one token to
    /// compute: whole pages, or with `partial` all but the last token of a prompt whose every page
    /// is known (its last page is shared and copied on write). It is shorter than what is known
    /// where a needed page is gone: all pages of groups without a window are needed, and of the
    /// others those that the next position sees.
    pub fn hit(&self, tokens: &[u32], partial: bool) -> Hit {
        if !self.caching || tokens.is_empty() {
            return Hit::default();
        }
        let known = if partial { tokens } else { &tokens[..tokens.len() - 1] };
        let mut blocks = self.prefix.walk(known);
        while !blocks.is_empty() {
            let cached = (blocks.len() * PAGE_POSITIONS).min(tokens.len() - 1);
            if (0..self.groups.len()).all(|group| self.covers(&blocks, group, cached)) {
                return Hit { tokens: cached, blocks };
            }
            blocks.pop();
        }
        Hit::default()
    }

    fn covers(&self, blocks: &[BlockId], group: usize, cached: usize) -> bool {
        let first = first_seen(self.groups[group].window, cached) / PAGE_POSITIONS;
        blocks[first..].iter().all(|id| self.prefix.page(*id, group).is_some())
    }

    /// Gives an empty sequence the pages of a hit.
    pub fn attach(&mut self, tables: &mut Tables, hit: &Hit) {
        tables.groups = vec![Table::default(); self.groups.len()];
        let Some(last) = hit.blocks.last().copied() else { return };
        self.prefix.touch(last);
        for (group, table) in tables.groups.iter_mut().enumerate() {
            table.first = first_seen(self.groups[group].window, hit.tokens) / PAGE_POSITIONS;
            let pages =
                hit.blocks.iter().enumerate().map(|(index, id)| {
                    self.prefix.page(*id, group).filter(|_| index >= table.first)
                });
            table.pages = pages.collect();
            let held = table.pages.iter().flatten();
            held.for_each(|page| self.pools[group].share(*page));
        }
        tables.published = hit.blocks.len();
        self.prefix.stand(tables.block, Some(last));
        tables.block = Some(last);
    }

    /// Makes positions `from..to` of a sequence writable, and gives the end of what is: less than
    /// `to` when pages run out. Pages that left the window of `from` are given back first.
    pub fn reserve(
        &mut self,
        tables: &mut Tables,
        from: usize,
        to: usize,
        copies: &mut Vec<PageCopy>,
    ) -> usize {
        tables.groups.resize(self.groups.len(), Table::default());
        (0..self.groups.len()).for_each(|group| self.leave_window(tables, group, from));
        self.extend(tables, from, to, copies)
    }

    /// The same, with the pages that have left the window kept: those of a step on its way are not
    /// published yet.
    pub fn extend(
        &mut self,
        tables: &mut Tables,
        from: usize,
        to: usize,
        copies: &mut Vec<PageCopy>,
    ) -> usize {
        let mut end = to;
        for group in 0..self.groups.len() {
            let index = from / PAGE_POSITIONS;
            let shared = tables.groups[group].pages.get(index).copied().flatten();
            if let Some(page) = shared.filter(|page| self.pools[group].references(*page) > 1) {
                let Some(own) = self.take(group) else { return from };
                copies.push(PageCopy { group, from: page, to: own });
                tables.groups[group].pages[index] = Some(own);
                self.pools[group].release(page);
            }
            while tables.groups[group].pages.len() * PAGE_POSITIONS < end {
                match self.take(group) {
                    Some(page) => tables.groups[group].pages.push(Some(page)),
                    None => end = (tables.groups[group].pages.len() * PAGE_POSITIONS).max(from),
                }
            }
        }
        end
    }

    /// Whether a page that holds `position` of a sequence is also another's, so that it is to be
    /// copied before the position is written.
    pub fn is_shared(&self, tables: &Tables, position: usize) -> bool {
        (0..self.groups.len()).any(|group| {
            let page = tables.pages(group).get(position / PAGE_POSITIONS).copied().flatten();
            page.is_some_and(|page| self.pools[group].references(page) > 1)
        })
    }

    fn leave_window(&mut self, tables: &mut Tables, group: usize, from: usize) {
        let seen = first_seen(self.groups[group].window, from) / PAGE_POSITIONS;
        let table = &mut tables.groups[group];
        while table.first < seen.min(table.pages.len()) {
            let page = table.pages[table.first].take();
            page.into_iter().for_each(|page| self.pools[group].release(page));
            table.first += 1;
        }
    }

    fn take(&mut self, group: usize) -> Option<u32> {
        if let Some(page) = self.pools[group].take() {
            return Some(page);
        }
        let whole = self.groups[group].window.is_none();
        self.prefix.evict(group, whole, &mut self.pools).then(|| self.pools[group].take())?
    }

    /// Tells the prefix cache which pages of a sequence are full now that `stored` of its tokens
    /// are stored.
    pub fn publish(&mut self, tables: &mut Tables, tokens: &[u32], stored: usize) {
        while self.caching && (tables.published + 1) * PAGE_POSITIONS <= stored {
            let index = tables.published;
            let Some(block) = tokens.chunks_exact(PAGE_POSITIONS).nth(index) else { return };
            let page = |table: &Table| table.pages.get(index).copied().flatten();
            let pages: Vec<Option<u32>> = tables.groups.iter().map(page).collect();
            let id = self.prefix.insert(tables.block, block, &pages, &mut self.pools);
            self.prefix.stand(tables.block, id);
            tables.block = id;
            tables.published += 1;
        }
    }

    /// Takes all pages from a sequence.
    pub fn release(&mut self, tables: &mut Tables) {
        let Tables { groups, block, .. } = std::mem::take(tables);
        for (table, pool) in groups.iter().zip(&mut self.pools) {
            table.pages.iter().flatten().for_each(|page| pool.release(*page));
        }
        self.prefix.stand(block, None);
    }
}

/// The first position that a query at `position` sees.
fn first_seen(window: Option<usize>, position: usize) -> usize {
    window.map_or(0, |window| (position + 1).saturating_sub(window))
}
