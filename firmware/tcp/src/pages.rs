//! Memory for bytes that cannot be handed on yet: pages that many connections share, so that one without a gap holds none.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

/// Bytes of a page, a power of two.
pub const PAGE: usize = 4096;

/// A page.
pub type Page = Box<[u8]>;

/// The pages that connections may hold together.
#[derive(Debug)]
pub struct Pool {
    /// Given back.
    free: Vec<Page>,
    held: usize,
    most: usize,
}

impl Pool {
    /// So many bytes at most. Memory is asked for when it is needed first, and kept.
    pub fn new(bytes: usize) -> Self {
        Pool {
            free: Vec::new(),
            held: 0,
            most: bytes / PAGE,
        }
    }

    /// Pages that are held.
    pub fn held(&self) -> usize {
        self.held
    }

    /// So many pages more may be held.
    pub fn has_room(&self, pages: usize) -> bool {
        self.held.saturating_add(pages) <= self.most
    }

    /// A page; whether there is room for it is the caller's matter.
    pub fn take(&mut self) -> Page {
        self.held += 1;
        let free = self.free.pop();
        free.unwrap_or_else(|| vec![0; PAGE].into_boxed_slice())
    }

    /// It is not needed any more.
    pub fn give(&mut self, page: Page) {
        self.held = self.held.saturating_sub(1);
        if self.has_room(self.free.len() + 1) {
            self.free.push(page);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_the_bound_goes_back_to_where_it_came_from() {
        let mut pool = Pool::new(2 * PAGE);
        assert!(pool.has_room(2) && !pool.has_room(3));
        let pages: Vec<_> = (0..3).map(|_| pool.take()).collect();
        assert!(!pool.has_room(0), "one more than the bound");
        pages.into_iter().for_each(|page| pool.give(page));
        assert_eq!((pool.held(), pool.free.len()), (0, 2));
        let _ = pool.take();
        assert_eq!((pool.held(), pool.free.len()), (1, 1));
    }
}
