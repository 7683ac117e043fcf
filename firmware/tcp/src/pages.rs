//! Memory for bytes that cannot be handed on yet: pages that many connections share, so that one without a gap holds none.
//!
//! ```text
//!   each stream that was granted it        │ its reserve: what it needs to go on, whatever others hold
//!   all of them, beyond their reserves     │ the shared pages, so many together
//! ```

use alloc::boxed::Box;
use alloc::vec::Vec;

/// Bytes of a page, a power of two.
pub const PAGE: usize = 512;

/// A page.
pub type Page = Box<[u8; PAGE]>;

/// The pages that connections may hold together.
#[derive(Debug)]
pub struct Pool {
    /// Given back.
    free: Vec<Page>,
    held: usize,
    /// Held by streams beyond their reserves, and the most of these.
    shared: usize,
    most: usize,
    reserve: usize,
    /// Pages that are kept when they are given back.
    kept: usize,
}

/// Pages in which so many bytes lie, wherever they begin.
pub const fn pages_for(bytes: usize) -> usize {
    bytes.div_ceil(PAGE) + if bytes > 1 { 1 } else { 0 }
}

impl Pool {
    /// So many bytes that all share at most, and a reserve for each stream in which so many lie. Memory is asked for when it is needed
    /// first, and that of the shared pages is kept.
    pub fn new(shared: usize, reserve: usize) -> Self {
        let most = shared / PAGE;
        Pool {
            free: Vec::new(),
            held: 0,
            shared: 0,
            most,
            reserve: if reserve == 0 { 0 } else { pages_for(reserve) },
            kept: most,
        }
    }

    /// Asks for all memory at once, with the reserves of so many streams: none will have to be asked for later.
    pub fn with_all(mut self, streams: usize) -> Self {
        self.kept = self.most + streams * self.reserve;
        let page = || Box::new([0; PAGE]);
        self.free = core::iter::repeat_with(page).take(self.kept).collect();
        self
    }

    /// Bytes that it takes with all memory at hand.
    pub const fn bytes_with_all(shared: usize, reserve: usize, streams: usize) -> usize {
        let pages = shared / PAGE + streams * pages_for(reserve);
        pages * (PAGE + size_of::<Page>())
    }

    /// Entries of the table of a stream with a reserve at most, with a window of so many bytes.
    pub const fn table(shared: usize, reserve: usize, window: usize) -> usize {
        let pages = shared / PAGE + pages_for(reserve);
        let most = window / PAGE;
        (if pages < most { pages } else { most }) + 2
    }

    /// Pages that are held.
    pub fn held(&self) -> usize {
        self.held
    }

    /// Pages of a stream's reserve.
    pub(crate) fn reserve(&self) -> usize {
        self.reserve
    }

    /// Bytes from its first one on that one stream with a reserve can ever hold.
    pub(crate) fn reach(&self) -> u32 {
        u32::try_from((self.reserve + self.most) * PAGE).unwrap_or(u32::MAX)
    }

    /// A stream that is counted with so many shared pages may have so many instead. Without a reserve, of half of them: a stranger's.
    pub(crate) fn may_share(&self, before: usize, after: usize, stranger: bool) -> bool {
        let most = if stranger { self.most / 2 } else { self.most };
        after <= before || (self.shared + after).saturating_sub(before) <= most
    }

    /// A stream has so many shared pages.
    pub(crate) fn shares(&mut self, before: usize, after: usize) {
        self.shared = (self.shared + after).saturating_sub(before);
    }

    /// A page; whether there is room for it is the caller's matter.
    pub(crate) fn take(&mut self) -> Page {
        self.held += 1;
        self.free.pop().unwrap_or_else(|| Box::new([0; PAGE]))
    }

    /// It is not needed any more.
    pub(crate) fn give(&mut self, page: Page) {
        self.held = self.held.saturating_sub(1);
        if self.held + self.free.len() < self.kept {
            self.free.push(page);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_the_bound_goes_back_to_where_it_came_from() {
        let mut pool = Pool::new(2 * PAGE, 0);
        assert!(pool.may_share(0, 2, false) && !pool.may_share(0, 3, false));
        assert!(pool.may_share(0, 1, true) && !pool.may_share(0, 2, true));
        let pages: Vec<_> = (0..3).map(|_| pool.take()).collect();
        pages.into_iter().for_each(|page| pool.give(page));
        assert_eq!((pool.held(), pool.free.len()), (0, 2));
        let _ = pool.take();
        assert_eq!((pool.held(), pool.free.len()), (1, 1));
    }

    #[test]
    fn all_memory_at_once_is_kept() {
        let mut pool = Pool::new(4 * PAGE, 2 * PAGE).with_all(3);
        assert_eq!(pool.free.len(), 4 + 3 * 3);
        let pages: Vec<_> = (0..13).map(|_| pool.take()).collect();
        assert!(pool.free.is_empty());
        pages.into_iter().for_each(|page| pool.give(page));
        assert_eq!(pool.free.len(), 13);
    }
}
