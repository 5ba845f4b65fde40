//! A pool of pages: who holds how many references to each, and which are free.

/// Pages 0 to n − 1 with reference counts.
#[derive(Clone, Debug)]
pub struct Pool {
    references: Vec<u32>,
    free: Vec<u32>,
}

impl Pool {
    /// A pool of `pages` free pages.
    pub fn new(pages: usize) -> Pool {
        let count = u32::try_from(pages).unwrap_or(u32::MAX);
        Pool { references: vec![0; count as usize], free: (0..count).rev().collect() }
    }

    /// A free page, with one reference; `None` when all are in use.
    pub fn take(&mut self) -> Option<u32> {
        let page = self.free.pop()?;
        self.references[page as usize] = 1;
        Some(page)
    }

    /// One more reference to a page in use.
    pub fn share(&mut self, page: u32) {
        debug_assert!(self.references[page as usize] > 0, "page {page} is free");
        self.references[page as usize] += 1;
    }

    /// One reference less; the last one frees the page.
    pub fn release(&mut self, page: u32) {
        let references = &mut self.references[page as usize];
        debug_assert!(*references > 0, "page {page} is free");
        *references -= 1;
        if *references == 0 {
            self.free.push(page);
        }
    }

    /// References to a page.
    pub fn references(&self, page: u32) -> u32 {
        self.references[page as usize]
    }

    /// Pages that are free.
    pub fn free(&self) -> usize {
        self.free.len()
    }

    /// All pages.
    pub fn total(&self) -> usize {
        self.references.len()
    }
}
