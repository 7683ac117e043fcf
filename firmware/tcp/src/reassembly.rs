//! Bytes of the stream that the card handed up raw, until they make whole FPDUs.
//!
//! ```text
//!   base             next            range            base + capacity
//!    │ in order, not  │ gap ...      │ beyond the gap │ ...    │
//!    │ yet consumed   │              │                │        │
//! ```

use alloc::collections::VecDeque;

use crate::latest::Latest;
use crate::pages::{Page, Pool, PAGE};
use crate::ranges::Ranges;
use crate::seq;

/// A table of pages that is this small stays.
const SMALL: usize = 8;

/// Received bytes, in pages by sequence number.
#[derive(Debug)]
pub struct Reassembly {
    /// From the one that `base` lies in; `None` where nothing lies.
    pages: VecDeque<Option<Page>>,
    /// Of these, which there are.
    held: usize,
    /// Of these, the pool's shared ones.
    shared: usize,
    /// Pages that it has whatever others hold.
    reserve: usize,
    capacity: u32,
    /// Bytes from `base` on that may lie here.
    granted: u32,
    base: u32,
    next: u32,
    beyond: Ranges,
    /// Of these, what is placed already: no byte of it lies here.
    placed: Ranges,
    latest: Latest,
    /// Arrived twice, and not told yet.
    twice: Option<(u32, u32)>,
}

impl Reassembly {
    /// Of `capacity` bytes, with so many ranges beyond gaps. It has memory only for what lies there, and no reserve.
    pub fn new(capacity: u32, gaps: u16) -> Self {
        Reassembly {
            pages: VecDeque::new(),
            held: 0,
            shared: 0,
            reserve: 0,
            capacity,
            granted: capacity,
            base: 0,
            next: 0,
            beyond: Ranges::new(gaps),
            placed: Ranges::new(gaps),
            latest: Latest::default(),
            twice: None,
        }
    }

    /// No more than so many bytes from the first one on may lie here, before it is [accepted](Self::accept).
    pub fn grant(&mut self, bytes: u32) {
        self.granted = bytes.min(self.capacity);
    }

    /// It has its reserve, and may hold as much as its window, or as there is memory for one stream at all.
    pub fn accept(&mut self, pool: &mut Pool) {
        let reach = self.capacity.min(pool.reach());
        (self.reserve, self.granted) = (pool.reserve(), reach);
        self.settle(pool);
    }

    /// Empties it; the next byte expected is `seq`.
    pub fn restart(&mut self, seq: u32, pool: &mut Pool) {
        self.release(pool);
        self.base = seq;
        self.next = seq;
        self.beyond.clear();
        self.placed.clear();
        self.latest = Latest::default();
        self.twice = None;
    }

    /// First byte not yet consumed.
    pub fn base(&self) -> u32 {
        self.base
    }

    /// Next byte expected in order.
    pub fn next(&self) -> u32 {
        self.next
    }

    /// Bytes that fit.
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// First byte that would not fit.
    pub fn limit(&self) -> u32 {
        self.base.wrapping_add(self.capacity)
    }

    /// Bytes in order, up to what is placed already.
    pub fn available(&self) -> usize {
        self.available_to().wrapping_sub(self.base) as usize
    }

    /// Behind the bytes in order, up to what is placed already.
    pub fn available_to(&self) -> u32 {
        match self.placed.as_slice().first() {
            Some(placed) => seq::min(placed.0, self.next),
            None => self.next,
        }
    }

    /// Nothing buffered, in order or not.
    pub fn is_empty(&self) -> bool {
        self.base == self.next && self.beyond.is_empty()
    }

    /// No byte lies here: at most there are ranges that are placed already, or lie somewhere else.
    pub fn holds_nothing(&self) -> bool {
        self.held == 0
    }

    /// Something lies beyond a gap.
    pub fn has_gap(&self) -> bool {
        !self.beyond.is_empty()
    }

    /// All of `[left, right)` has arrived.
    pub fn has(&self, left: u32, right: u32) -> bool {
        let left = seq::max(left, self.next);
        seq::le(right, left)
            || self
                .beyond
                .end_of(left)
                .is_some_and(|end| seq::le(right, end))
    }

    /// All of `[left, right)` was there when it arrived: the next acknowledgment tells of it (RFC 2883).
    pub fn arrived_twice(&mut self, left: u32, right: u32) {
        if seq::lt(left, right) {
            self.twice = Some((left, right));
        }
    }

    /// What arrived twice and was not told yet.
    pub fn twice(&self) -> Option<(u32, u32)> {
        self.twice
    }

    /// An acknowledgment has told of it: once (RFC 2883 §4).
    pub fn told(&mut self) {
        self.twice = None;
    }

    /// Stores bytes that begin at `seq`; what is old, does not fit or would make too many gaps is
    /// left out. False: some find no memory. In order there is always some, up to the reserve: what lies beyond gaps of this stream gives way
    /// (RFC 2018 §8 lets it), and that of others has no part in it.
    pub fn insert(&mut self, seq: u32, bytes: &[u8], pool: &mut Pool) -> bool {
        let arrived = seq.wrapping_add(bytes.len() as u32);
        if self.has(seq, arrived) {
            self.arrived_twice(seq, arrived);
            if seq::lt(self.next, seq) {
                self.latest.arrived(seq, &self.beyond);
            }
            return true;
        }
        let old = seq::diff(self.next, seq).max(0) as usize;
        self.arrived_twice(seq, seq.wrapping_add(old as u32));
        let Some(bytes) = bytes.get(old..) else {
            return true;
        };
        let start = seq.wrapping_add(old as u32);
        let room = |limit: u32| seq::diff(limit, start).max(0) as usize;
        let bytes = &bytes[..bytes.len().min(room(self.limit()))];
        let granted = room(self.base.wrapping_add(self.granted));
        let mut whole = bytes.len() <= granted;
        let mut bytes = &bytes[..bytes.len().min(granted)];
        if bytes.is_empty() {
            return whole;
        }
        let in_order = start == self.next;
        let end = |bytes: &[u8]| start.wrapping_add(bytes.len() as u32);
        if !self.finds_memory(start, end(bytes), pool) {
            if !in_order {
                return false;
            }
            self.renege(pool);
            // As much of it as there is memory for.
            while !bytes.is_empty() && !self.finds_memory(start, end(bytes), pool) {
                whole = false;
                bytes = &bytes[..bytes.len().saturating_sub(self.over(end(bytes)))];
            }
        }
        if bytes.is_empty() {
            return false;
        }
        if in_order {
            self.store(start, bytes, pool);
            self.advance(end(bytes));
        } else if self.beyond.add(start, end(bytes)) {
            self.store(start, bytes, pool);
            self.latest.arrived(start, &self.beyond);
        }
        self.settle(pool);
        whole
    }

    /// How many bytes before `end` lie in the last page that it takes.
    fn over(&self, end: u32) -> usize {
        self.place(end.wrapping_sub(1)).1 + 1
    }

    /// There is memory for `[start, end)` too.
    fn finds_memory(&self, start: u32, end: u32, pool: &Pool) -> bool {
        let pages = self.held + self.missing(start, end);
        let shared = pages.saturating_sub(self.reserve);
        pool.may_share(self.shared, shared, self.reserve == 0)
    }

    /// What lies beyond gaps is given up.
    fn renege(&mut self, pool: &mut Pool) {
        self.give_up_from(self.next, pool);
    }

    /// What lies from `seq` on, beyond a gap, is given up: it comes again. What is placed does not lie here, and stays.
    pub fn give_up_from(&mut self, seq: u32, pool: &mut Pool) {
        self.beyond.remove_from(seq);
        let beyond = self.beyond.as_slice().last().map_or(self.next, |r| r.1);
        for (left, right) in self.placed.as_slice() {
            if seq::lt(self.next, *left) {
                self.beyond.add_surely(*left, *right);
            }
        }
        let keep = match beyond == self.base {
            true => 0,
            false => self.place(beyond.wrapping_sub(1)).0 + 1,
        };
        for page in self.pages.drain(keep.min(self.pages.len())..).flatten() {
            self.held -= 1;
            pool.give(page);
        }
        self.settle(pool);
    }

    /// The pool knows how many of its shared pages it has.
    fn settle(&mut self, pool: &mut Pool) {
        let shared = self.held.saturating_sub(self.reserve);
        pool.shares(self.shared, shared);
        self.shared = shared;
    }

    /// Nothing of `[left, right)` is there, and all of it would fit.
    pub fn has_none(&self, left: u32, right: u32) -> bool {
        seq::lt(left, right)
            && seq::le(self.next, left)
            && seq::le(right, self.limit())
            && !self.beyond.meets(left, right)
    }

    /// Takes `[left, right)` for arrived; its bytes lie somewhere else. False: that would make too many gaps.
    pub fn note(&mut self, left: u32, right: u32) -> bool {
        if left == self.next {
            self.advance(right);
            return true;
        }
        if !self.beyond.add(left, right) {
            return false;
        }
        self.latest.arrived(left, &self.beyond);
        true
    }

    /// Takes `[left, right)`, beyond a gap, for arrived and placed: none of it lies here, or will.
    pub fn note_placed(&mut self, left: u32, right: u32) {
        let left = seq::max(left, self.next);
        if !seq::lt(left, right) {
            return;
        }
        self.placed.add_surely(left, right);
        self.beyond.add_surely(left, right);
        self.latest.arrived(left, &self.beyond);
    }

    /// Brings the bytes of what was noted, piece by piece. False: there is no memory for them, and they are not brought.
    pub fn fill(
        &mut self,
        seq: u32,
        length: usize,
        mut copy: impl FnMut(&mut [u8]),
        pool: &mut Pool,
    ) -> bool {
        let end = seq.wrapping_add(length as u32);
        let granted = self.base.wrapping_add(self.granted);
        if seq::lt(granted, end) || !self.finds_memory(seq, end, pool) {
            return false;
        }
        let (mut index, mut at) = self.place(seq);
        let mut left = length;
        while left > 0 {
            let count = left.min(PAGE - at);
            copy(&mut self.page(index, pool)[at..at + count]);
            (left, index, at) = (left - count, index + 1, 0);
        }
        self.settle(pool);
        true
    }

    /// The card has dealt with everything before `seq`.
    #[inline]
    pub fn skip_to(&mut self, seq: u32, pool: &mut Pool) {
        if self.pages.is_empty() && self.is_empty() {
            // The usual case: nothing lies here at all.
            self.base = seq::max(self.base, seq);
            self.next = self.base;
        } else {
            self.skip_over(seq, pool);
        }
    }

    fn skip_over(&mut self, seq: u32, pool: &mut Pool) {
        if seq::lt(self.next, seq) {
            self.advance(seq);
        }
        if seq::lt(self.base, seq) {
            self.rebase(seq, pool);
        }
    }

    /// Copies in-order bytes from the front; how many.
    pub fn copy_front(&self, out: &mut [u8]) -> usize {
        let count = out.len().min(self.available());
        let (mut done, mut at) = (0, self.base as usize % PAGE);
        for page in &self.pages {
            if done == count {
                // Many pages may lie behind a gap, and nothing is to be had from them.
                break;
            }
            let length = (count - done).min(PAGE - at);
            if let Some(page) = page {
                out[done..done + length].copy_from_slice(&page[at..at + length]);
            }
            (done, at) = (done + length, 0);
        }
        count
    }

    /// Takes in-order bytes from the front.
    pub fn consume(&mut self, count: usize, pool: &mut Pool) {
        let count = count.min(self.available()) as u32;
        self.rebase(self.base.wrapping_add(count), pool);
    }

    /// Gives all memory back; what lies there is gone.
    pub fn release(&mut self, pool: &mut Pool) {
        self.pages.drain(..).flatten().for_each(|p| pool.give(p));
        self.held = 0;
        self.settle(pool);
        if self.pages.capacity() > SMALL {
            self.pages = VecDeque::new();
        }
    }

    /// SACK blocks: first what arrived twice (RFC 2883 §4), then the block with the latest bytes, then those that were first before, the
    /// latest of them first, so that each is told several times (RFC 2018 §4).
    pub fn sack_blocks(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let latest = &self.latest;
        let first = latest.islands(&self.beyond);
        let others = self.beyond.as_slice().iter().copied();
        let others = others.filter(|island| !latest.has(*island));
        self.twice.into_iter().chain(first.chain(others))
    }

    /// Which page a byte lies in, and where.
    fn place(&self, seq: u32) -> (usize, usize) {
        let offset = seq.wrapping_sub(self.base) as usize + self.base as usize % PAGE;
        (offset / PAGE, offset % PAGE)
    }

    /// How many pages it takes to hold `[start, end)` too.
    fn missing(&self, start: u32, end: u32) -> usize {
        let (first, last) = (self.place(start).0, self.place(end.wrapping_sub(1)).0);
        let has = |at: &usize| self.pages.get(*at).is_some_and(Option::is_some);
        (first..=last).filter(|at| !has(at)).count()
    }

    fn store(&mut self, seq: u32, mut bytes: &[u8], pool: &mut Pool) {
        let (mut index, mut at) = self.place(seq);
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(PAGE - at));
            let page = self.page(index, pool);
            page[at..at + now.len()].copy_from_slice(now);
            (bytes, index, at) = (later, index + 1, 0);
        }
    }

    fn page(&mut self, index: usize, pool: &mut Pool) -> &mut [u8] {
        if self.pages.capacity() <= index {
            // As many as there may ever be: what grows by and by leaves holes behind.
            let most = self.granted as usize / PAGE + 2;
            let room = most.min(2 * index + SMALL).max(index + 1);
            self.pages.reserve_exact(room - self.pages.len());
        }
        while self.pages.len() <= index {
            self.pages.push_back(None);
        }
        let held = &mut self.held;
        let page = self.pages[index].get_or_insert_with(|| {
            *held += 1;
            pool.take()
        });
        &mut page[..]
    }

    /// Nothing before `base` is needed any more.
    fn rebase(&mut self, base: u32, pool: &mut Pool) {
        if !self.pages.is_empty() {
            let gone = self.place(base).0.min(self.pages.len());
            for page in self.pages.drain(..gone).flatten() {
                self.held -= 1;
                pool.give(page);
            }
            self.settle(pool);
        }
        self.base = base;
        if !self.placed.is_empty() {
            self.placed.remove_before(base);
            if let Some(end) = self.placed.end_of(base) {
                return self.rebase(end, pool);
            }
        }
        if !self.pages.is_empty() && self.is_empty() {
            self.release(pool);
        }
    }

    fn advance(&mut self, next: u32) {
        self.next = next;
        if self.beyond.is_empty() {
            return;
        }
        // A range that begins at or before `next` is no longer beyond a gap.
        if let Some(end) = self.beyond.end_of(next) {
            self.next = end;
        }
        self.beyond.remove_before(self.next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::pages_for;
    use alloc::vec::Vec;

    fn pool() -> Pool {
        Pool::new(1 << 20, 0)
    }

    #[test]
    fn overlapping_pieces_in_any_order() {
        let data: Vec<u8> = (0..200u8).collect();
        let base = u32::MAX - 50;
        let mut pool = pool();
        let mut piece = |r: &mut Reassembly, from: usize, to: usize| {
            assert!(r.insert(base.wrapping_add(from as u32), &data[from..to], &mut pool));
        };
        let mut r = Reassembly::new(256, 128);
        r.restart(base, &mut Pool::new(0, 0));
        piece(&mut r, 100, 150);
        piece(&mut r, 20, 60);
        assert_eq!(r.available(), 0);
        assert_eq!(
            r.sack_blocks().collect::<Vec<_>>(),
            [
                (base.wrapping_add(20), base.wrapping_add(60)),
                (base.wrapping_add(100), base.wrapping_add(150))
            ]
        );
        piece(&mut r, 0, 30);
        assert_eq!(r.available(), 60);
        piece(&mut r, 50, 110);
        assert_eq!(r.available(), 150);
        assert!(!r.has_gap());
        piece(&mut r, 10, 20);
        let mut out = [0; 150];
        assert_eq!(r.copy_front(&mut out), 150);
        assert_eq!(out[..], data[..150]);
        r.consume(150, &mut Pool::new(0, 0));
        assert!(r.is_empty());
        piece(&mut r, 140, 200);
        assert_eq!(r.available(), 50);
    }

    #[test]
    fn what_arrives_twice_is_told_once_and_first() {
        let (mut r, mut pool) = (Reassembly::new(256, 128), pool());
        let pool = &mut pool;
        r.restart(0, pool);
        r.insert(0, &[1; 20], pool);
        r.insert(40, &[1; 20], pool);
        r.insert(80, &[1; 20], pool);
        assert_eq!(r.twice(), None);
        assert!(r.has(5, 20) && r.has(45, 60) && !r.has(15, 25) && !r.has(50, 70));
        // Beyond a gap: behind it the block that holds it.
        r.insert(45, &[1; 10], pool);
        let blocks: Vec<_> = r.sack_blocks().collect();
        assert_eq!(blocks, [(45, 55), (40, 60), (80, 100)]);
        r.told();
        assert_eq!(r.sack_blocks().count(), 2);
        // Before it; partly.
        r.insert(10, &[1; 20], pool);
        assert_eq!(r.sack_blocks().next(), Some((10, 20)));
        assert_eq!(r.next(), 30);
        r.told();
        r.arrived_twice(3, 3);
        assert_eq!(r.twice(), None);
    }

    #[test]
    fn what_is_placed_is_passed() {
        let (mut r, mut pool) = (Reassembly::new(1 << 16, 1), pool());
        let pool = &mut pool;
        let at = |n: u32| (u32::MAX - 99).wrapping_add(n);
        r.restart(at(0), pool);
        // As many as the card says, whatever there is room for.
        r.note_placed(at(100), at(200));
        r.note_placed(at(300), at(400));
        assert!(r.holds_nothing() && r.has_gap() && !r.is_empty());
        let blocks: Vec<_> = r.sack_blocks().collect();
        assert_eq!(blocks, [(at(300), at(400)), (at(100), at(200))]);
        // Bytes before it, and across it: those are all that is to be had.
        r.insert(at(0), &[1; 60], pool);
        r.insert(at(50), &[2; 200], pool);
        assert_eq!((r.next(), r.available_to()), (at(250), at(100)));
        assert_eq!(r.available(), 100);
        let mut out = [0; 300];
        assert_eq!(r.copy_front(&mut out), 100);
        r.consume(60, pool);
        assert_eq!(r.base(), at(60));
        r.consume(40, pool);
        assert_eq!((r.base(), r.available()), (at(200), 50));
        assert_eq!(r.copy_front(&mut out), 50);
        assert_eq!(out[..50], [2; 50]);
        // The card goes on before the next one.
        r.skip_to(at(300), pool);
        assert_eq!((r.base(), r.next()), (at(400), at(400)));
        assert!(r.is_empty() && r.holds_nothing());
        r.note_placed(at(500), at(600));
        r.skip_to(at(700), pool);
        assert_eq!((r.base(), r.available_to()), (at(700), at(700)));
    }

    #[test]
    fn what_is_placed_is_not_given_up() {
        let (mut r, mut pool) = (Reassembly::new(1 << 16, 8), pool());
        let pool = &mut pool;
        r.restart(0, pool);
        r.note_placed(100, 200);
        r.insert(300, &[1; 50], pool);
        r.give_up_from(0, pool);
        assert!(r.holds_nothing() && r.has(100, 200) && !r.has(300, 350));
        r.insert(0, &[1; 100], pool);
        r.consume(100, pool);
        assert_eq!((r.base(), r.next()), (200, 200));
    }

    #[test]
    fn bytes_beyond_the_window_are_cut_off() {
        let (mut r, mut pool) = (Reassembly::new(16, 128), pool());
        let pool = &mut pool;
        r.restart(0, pool);
        r.insert(0, &[1; 40], pool);
        assert_eq!(r.available(), 16);
        r.insert(16, &[2; 4], pool);
        assert_eq!(r.available(), 16);
        r.consume(4, pool);
        r.insert(16, &[2; 10], pool);
        assert_eq!(r.available(), 16);
    }

    #[test]
    fn memory_is_held_only_for_what_lies_there() {
        let (mut r, mut pool) = (Reassembly::new(1 << 20, 128), pool());
        let pool = &mut pool;
        let base = u32::MAX - 10_000;
        r.restart(base, pool);
        assert!(r.insert(base.wrapping_add(100_000), &[7; 3000], pool));
        assert!(pool.held() <= 7, "nothing in the gap");
        r.skip_to(base.wrapping_add(99_000), pool);
        assert!(r.insert(base.wrapping_add(99_000), &[6; 1000], pool));
        assert_eq!(r.available(), 4000);
        let mut out = [0; 4000];
        r.copy_front(&mut out);
        assert!(out[..1000].iter().all(|b| *b == 6) && out[1000..].iter().all(|b| *b == 7));
        r.consume(3999, pool);
        assert_eq!(pool.held(), 1);
        r.consume(1, pool);
        assert_eq!(pool.held(), 0);
        assert!(r.insert(base.wrapping_add(104_000), &[1; 9000], pool));
        r.restart(0, pool);
        assert_eq!(pool.held(), 0);
    }

    /// What others hold beyond their gaps stops no stream, and nothing of theirs is lost.
    #[test]
    fn an_empty_pool_drops_what_is_beyond_a_gap_and_no_more() {
        let mut pool = Pool::new(16 * PAGE, 68_000);
        let pool = &mut pool;
        let (mut greedy, mut other) =
            (Reassembly::new(1 << 18, 128), Reassembly::new(1 << 18, 128));
        greedy.restart(0, pool);
        greedy.accept(pool);
        other.restart(0, pool);
        let most = pages_for(68_000) + 16;
        let mut at = 10;
        while greedy.insert(at, &[3; 1000], pool) {
            at += 1000;
        }
        assert_eq!(pool.held(), most);
        let told: Vec<_> = greedy.sack_blocks().collect();
        let reach = (most * PAGE) as u32;
        assert_eq!(told, [(10, reach)], "what was dropped is not told");
        // A stranger has nothing, and then what everybody has.
        assert!(!other.insert(5000, &[4; 1000], pool) && !other.insert(0, &[4; 10], pool));
        assert!(!other.has_gap());
        other.accept(pool);
        // The largest FPDU that there is, in order.
        let mut next = 0;
        while other.available() < 67_000 {
            assert!(other.insert(next, &[5; 1000], pool), "{next}");
            next += 1000;
        }
        other.consume(67_000, pool);
        assert_eq!(greedy.sack_blocks().count(), 1);
        assert!(greedy.insert(0, &[2; 10], pool), "it fills its gap");
        greedy.consume(greedy.available(), pool);
        assert_eq!(pool.held(), 0);
        // Who says nothing that is whole gets no more than that.
        let begin = greedy.next();
        for n in 0..150_u32 {
            greedy.insert(begin + 10 + 512 * n, &[3; 512], pool);
        }
        let mut at = 0;
        while other.insert(next.wrapping_add(at), &[1; 1000], pool) {
            at += 1000;
        }
        let reserve = pages_for(68_000) * PAGE;
        let has = other.available();
        assert!((68_000..=reserve).contains(&has), "{has}");
    }

    /// In order a stream goes on by its reserve though it holds all of it, and all that is shared, beyond its own gap.
    #[test]
    fn what_is_beyond_a_gap_gives_way_to_what_is_in_order() {
        let mut pool = Pool::new(4 * PAGE, 2 * PAGE);
        let pool = &mut pool;
        let mut r = Reassembly::new(1 << 17, 32);
        let base = u32::MAX - 5000;
        r.restart(base, pool);
        r.accept(pool);
        for n in 0..40 {
            r.insert(
                base.wrapping_add(PAGE as u32 * (3 + 2 * n)),
                &[7; 1000],
                pool,
            );
        }
        assert!(pool.held() >= 5, "more than its reserve");
        let mut next = 0_u32;
        for _ in 0..100 {
            while r.available() < 2 * PAGE {
                let before = r.available();
                r.insert(base.wrapping_add(next), &[1; 700], pool);
                next += (r.available() - before) as u32;
                assert!(r.available() > before, "{next}");
                assert!(pool.held() <= 3 + 4);
            }
            r.consume(2 * PAGE, pool);
        }
        r.release(pool);
        assert_eq!(pool.held(), 0);
        assert!(pool.may_share(0, 4, false));
    }

    /// Before it is accepted a stream holds so many octets, in order or not.
    #[test]
    fn a_stranger_has_what_was_granted() {
        let mut pool = Pool::new(1 << 20, 68_000);
        let pool = &mut pool;
        let mut r = Reassembly::new(1 << 17, 32);
        r.restart(9, pool);
        r.grant(532);
        r.insert(9, &[1; 400], pool);
        r.insert(509, &[1; 400], pool);
        r.insert(5000, &[1; 400], pool);
        let blocks: Vec<_> = r.sack_blocks().collect();
        assert_eq!((r.available(), blocks), (400, [(509, 541)].to_vec()));
        r.insert(409, &[1; 1400], pool);
        assert_eq!(r.available(), 532);
        r.accept(pool);
        r.insert(541, &[1; 1400], pool);
        assert_eq!(r.available(), 532 + 1400);
    }
}
