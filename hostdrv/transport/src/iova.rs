//! Which I/O virtual addresses are in use.
//!
//! A transport that may choose where the card sees memory chooses here: the smallest free run that fits, in the ranges that the
//! IOMMU allows, aligned so that huge pages stay huge, with an unused page behind each mapping so that
//! an overrun faults instead of hitting a neighbour. Each call takes time with the logarithm of what is mapped.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

mod free_runs;
use free_runs::FreeRuns;

/// Alignment does not grow beyond a huge page.
const HUGE_PAGE: u64 = 2 << 20;
/// Not given out: a zeroed or small address in a descriptor is a mistake and shall fault.
const LOWEST: u64 = 1 << 20;

/// The addresses of one card.
#[derive(Debug)]
pub struct IovaAllocator {
    ranges: Vec<RangeInclusive<u64>>,
    granule: u64,
    /// Start and length of what is in use.
    used: BTreeMap<u64, u64>,
    /// What is not; each range goes on for an unused granule behind its end.
    free: FreeRuns,
}

impl IovaAllocator {
    /// From the ranges that may be used, the IOMMU's mask of page sizes (0: unknown) and the address bits the
    /// card drives.
    pub fn new(
        ranges: impl IntoIterator<Item = RangeInclusive<u64>>,
        page_sizes: u64,
        bits: u8,
    ) -> Self {
        let page = crate::dma::page_size() as u64;
        let smallest = 1u64.checked_shl(page_sizes.trailing_zeros()).unwrap_or(0);
        let granule = smallest.max(page);
        let top = 1u64.checked_shl(bits.into()).map_or(u64::MAX, |n| n - 1);
        let mut ranges: Vec<_> = ranges
            .into_iter()
            .map(|range| (*range.start()).max(LOWEST)..=(*range.end()).min(top))
            .filter(|range| range.start() <= range.end())
            .collect();
        ranges.sort_unstable_by_key(|range| *range.start());
        let mut free = FreeRuns::default();
        let mut next = None;
        for range in &ranges {
            let end = u128::from(*range.end()) + 1 + u128::from(granule);
            // Runs that touch would be one, over the hole between their ranges.
            let beyond = next.map_or(0, |next: u128| next + u128::from(granule));
            let start = beyond.max(u128::from(*range.start()));
            if start < end {
                free.give(start, end);
            }
            next = next.max(Some(end));
        }
        Self {
            ranges,
            granule,
            used: BTreeMap::new(),
            free,
        }
    }

    /// Mappings are multiples of this.
    pub fn granule(&self) -> u64 {
        self.granule
    }

    /// The ranges that may be used.
    pub fn ranges(&self) -> &[RangeInclusive<u64>] {
        &self.ranges
    }

    /// Bytes that a mapping takes, with the unused granule behind it.
    fn room(&self, len: u64) -> u128 {
        u128::from(len) + u128::from(self.granule)
    }

    /// A free run of `len` bytes (rounded up to the granule); `None` if there is none.
    pub fn allocate(&mut self, len: u64) -> Option<u64> {
        let len = len.max(1).checked_next_multiple_of(self.granule)?;
        let align = len
            .checked_next_power_of_two()?
            .clamp(self.granule, HUGE_PAGE.max(self.granule));
        let start = self.free.take(self.room(len), align.into())?;
        let start = u64::try_from(start).ok()?;
        self.used.insert(start, len);
        Some(start)
    }

    /// Is this what [`allocate`](Self::allocate) gave for this length?
    pub fn is_in_use(&self, start: u64, len: u64) -> bool {
        let len = len.max(1).checked_next_multiple_of(self.granule);
        len.is_some_and(|len| self.used.get(&start) == Some(&len))
    }

    /// Gives it back. `false`: it is not in use.
    pub fn release(&mut self, start: u64, len: u64) -> bool {
        if !self.is_in_use(start, len) {
            return false;
        }
        if let Some(len) = self.used.remove(&start) {
            let start = u128::from(start);
            self.free.give(start, start + self.room(len));
        }
        true
    }

    /// Start and length of everything in use.
    pub fn in_use(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.used.iter().map(|(start, len)| (*start, *len))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    const PAGE: u64 = 4096;

    #[test]
    fn holes_are_used_again_and_gaps_stay() {
        let mut iova = IovaAllocator::new([0..=u64::MAX], 0xffff_ffff_ffff_f000, 64);
        let a = iova.allocate(1).expect("room");
        let b = iova.allocate(2 * PAGE).expect("room");
        let c = iova.allocate(PAGE).expect("room");
        assert_eq!(
            (a, b, c),
            (LOWEST, LOWEST + 2 * PAGE, LOWEST + 5 * PAGE),
            "a page between neighbours, natural alignment"
        );
        assert!(!iova.release(b, PAGE), "half a mapping");
        assert!(!iova.release(b + PAGE, PAGE));
        assert!(iova.release(b, 2 * PAGE));
        assert!(!iova.release(b, 2 * PAGE), "twice");
        assert_eq!(iova.allocate(PAGE), Some(b), "the hole is used again");
        assert_eq!(iova.allocate(3 << 20), Some(HUGE_PAGE));
    }

    /// A hole between two ranges that is no longer than the unused granule: no mapping goes over it.
    #[test]
    fn a_hole_of_a_page_stays_a_hole() {
        for hole in [PAGE / 2, PAGE, 2 * PAGE] {
            let end = 16 << 20;
            let mut iova = IovaAllocator::new(
                [LOWEST..=end - 1, end + hole..=2 * end - 1],
                0xffff_ffff_ffff_f000,
                64,
            );
            let mut all = 0;
            while let Some(start) = iova.allocate(3 * PAGE) {
                let over = start < end + hole && start + 3 * PAGE > end;
                assert!(!over, "{start:#x} is over the hole of {hole} at {end:#x}");
                all += 3 * PAGE;
            }
            assert!(all > 2 * end / 3, "{all} bytes");
            let mut iova = IovaAllocator::new(
                [LOWEST..=end - 1, end + hole..=2 * end - 1],
                0xffff_ffff_ffff_f000,
                64,
            );
            assert_eq!(iova.allocate(end), None, "no range is so long");
        }
    }

    #[test]
    fn what_the_msi_window_and_the_address_width_leave() {
        // As under an Intel IOMMU: a hole for interrupts; a card with 28 address bits.
        let ranges = || [0..=0xfedf_ffff, 0xfef0_0000..=u64::MAX >> 16];
        let mut narrow = IovaAllocator::new(ranges(), 0, 28);
        let mut all = 0;
        while let Some(start) = narrow.allocate(1 << 20) {
            assert!(start + (1 << 20) <= 1 << 28);
            all += 1;
        }
        assert!(all > 100, "{all}");
        let mut wide = IovaAllocator::new(ranges(), 0, 64);
        let first = wide.allocate(0xf000_0000).expect("below the hole");
        let second = wide.allocate(0xf000_0000).expect("above the hole");
        assert!(first < 0x1000_0000 && second >= 0xfef0_0000);
    }

    #[test]
    fn impossible_requests_and_ranges() {
        let mut iova = IovaAllocator::new([0..=u64::MAX], 0, 64);
        assert_eq!(iova.allocate(u64::MAX), None);
        assert_eq!(iova.allocate((1 << 63) + 1), None);
        assert!(!iova.release(0, u64::MAX));
        assert_eq!(IovaAllocator::new([], 0, 64).allocate(1), None);
        assert_eq!(IovaAllocator::new([0..=100], 0, 64).allocate(1), None);
        // The very top is usable, one byte less is too little.
        let top = u64::MAX - PAGE + 1;
        assert_eq!(
            IovaAllocator::new([top..=u64::MAX], 0, 64).allocate(PAGE),
            Some(top)
        );
        assert_eq!(
            IovaAllocator::new([top..=u64::MAX - 1], 0, 64).allocate(PAGE),
            None
        );
        // An IOMMU with 64 KiB pages.
        let mut coarse = IovaAllocator::new([0..=u64::MAX], 0x2001_0000, 64);
        let (a, b) = (coarse.allocate(1), coarse.allocate(1));
        assert_eq!((a, b), (Some(LOWEST), Some(LOWEST + 0x2_0000)));
    }

    /// Whatever is mapped, a mapping and its end look at as many runs.
    #[test]
    fn looks_do_not_grow_with_what_is_mapped() {
        let mut iova = IovaAllocator::new([0..=u64::MAX >> 16], 0, 64);
        let lens = [1, 2 * PAGE, 3 * PAGE, 70 * PAGE, HUGE_PAGE + 1];
        let all: Vec<_> = (0..60_000)
            .map(|n| (iova.allocate(lens[n % 5]).expect("room"), lens[n % 5]))
            .collect();
        // Every third goes: holes of all sizes.
        for (start, len) in all.iter().step_by(3) {
            assert!(iova.release(*start, *len));
        }
        for (start, len) in all.iter().skip(1).step_by(3) {
            let before = iova.free.looks.get();
            iova.allocate(lens[*start as usize / PAGE as usize % 5])
                .expect("room");
            assert!(iova.release(*start, *len));
            let looks = iova.free.looks.get() - before;
            assert!(looks <= 4, "{looks} runs looked at");
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Allocate(u64),
        Release(prop::sample::Index),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let len = prop_oneof![1..5 * PAGE, 1..64 * PAGE, 1..6 * HUGE_PAGE];
        let step = prop_oneof![
            3 => len.prop_map(Step::Allocate),
            2 => any::<prop::sample::Index>().prop_map(Step::Release),
        ];
        prop::collection::vec(step, 1..200)
    }

    fn ranges() -> impl Strategy<Value = Vec<RangeInclusive<u64>>> {
        // Up to the next slot, and often just short of it.
        let pages = prop_oneof![1..4096u64, 4090..=4096u64];
        let range = (0..64u64, pages)
            .prop_map(|(slot, pages)| (slot << 24)..=((slot << 24) + pages * PAGE - 1));
        prop::collection::btree_map(0..64u8, range, 1..6).prop_map(|by_key| {
            let mut ranges: Vec<_> = by_key.into_values().collect();
            ranges.sort_by_key(|r| *r.start());
            ranges.dedup_by_key(|r| *r.start());
            ranges
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

        /// Whatever is asked for and given back, mappings are aligned, inside the ranges, and a granule apart;
        /// and when all is given back, all is as at the start.
        #[test]
        fn mappings_never_touch(ranges in ranges(), steps in steps(), shift in 12u32..17) {
            let mut iova = IovaAllocator::new(ranges.clone(), 1 << shift, 64);
            let granule = 1u64 << shift;
            let first = IovaAllocator::new(ranges.clone(), 1 << shift, 64).allocate(1);
            let mut live: Vec<(u64, u64)> = Vec::new();
            for step in steps {
                match step {
                    Step::Allocate(len) => {
                        let Some(start) = iova.allocate(len) else { continue };
                        let len = len.next_multiple_of(granule);
                        let align = len.next_power_of_two().clamp(granule, HUGE_PAGE);
                        prop_assert_eq!(start % align, 0);
                        prop_assert!(start >= LOWEST);
                        prop_assert!(ranges.iter().any(|r| r.contains(&start) && r.contains(&(start + len - 1))));
                        for (other, other_len) in &live {
                            prop_assert!(start + len + granule <= *other || other + other_len + granule <= start);
                        }
                        live.push((start, len));
                    }
                    Step::Release(index) if !live.is_empty() => {
                        let (start, len) = live.swap_remove(index.index(live.len()));
                        prop_assert!(iova.release(start, len));
                    }
                    Step::Release(_) => {}
                }
                prop_assert_eq!(iova.in_use().count(), live.len());
            }
            for (start, len) in live {
                prop_assert!(iova.release(start, len));
            }
            prop_assert_eq!(iova.allocate(1), first);
        }
    }
}
