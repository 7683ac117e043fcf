//! Which islands beyond a gap the latest segments lie in: the order in which SACK tells of them (RFC 2018 §4).

use crate::ranges::Ranges;
use crate::seq;

/// SACK blocks that an acknowledgment has room for.
const BLOCKS: usize = 4;

/// The islands beyond the gap that the latest segments lie in, by a byte of each: the latest first, none twice.
#[derive(Clone, Copy, Debug, Default)]
pub struct Latest {
    bytes: [u32; BLOCKS],
    count: u8,
}

impl Latest {
    fn as_slice(&self) -> &[u32] {
        &self.bytes[..usize::from(self.count)]
    }

    /// Something has arrived that lies in one of the islands.
    pub fn arrived(&mut self, seq: u32, beyond: &Ranges) {
        let Some(island) = beyond.at(seq) else {
            return;
        };
        let before = *self;
        (self.bytes[0], self.count) = (seq, 1);
        for byte in before.as_slice() {
            let is_other = beyond.at(*byte).is_some_and(|other| other != island);
            if is_other && usize::from(self.count) < BLOCKS {
                self.bytes[usize::from(self.count)] = *byte;
                self.count += 1;
            }
        }
    }

    /// Those that are still there.
    pub fn islands<'a>(&'a self, beyond: &'a Ranges) -> impl Iterator<Item = (u32, u32)> + 'a {
        let bytes = self.as_slice().iter();
        bytes.filter_map(|byte| beyond.at(*byte))
    }

    /// One of the latest segments lies in this island.
    pub fn has(&self, (left, right): (u32, u32)) -> bool {
        let mut bytes = self.as_slice().iter();
        bytes.any(|byte| seq::le(left, *byte) && seq::lt(*byte, right))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const BASE: u32 = u32::MAX - 250;

    #[test]
    fn the_latest_is_first_and_none_is_there_twice() {
        let (mut latest, mut beyond) = (Latest::default(), Ranges::new(128));
        let at = |n: u32| BASE.wrapping_add(n);
        let mut arrive = |left, right| {
            assert!(beyond.add(at(left), at(right)));
            latest.arrived(at(left), &beyond);
            let islands = latest.islands(&beyond);
            let starts = islands.map(|(left, _)| left.wrapping_sub(BASE));
            starts.collect::<Vec<_>>()
        };
        assert_eq!(arrive(100, 110), [100]);
        assert_eq!(arrive(300, 310), [300, 100]);
        assert_eq!(arrive(200, 210), [200, 300, 100]);
        assert_eq!(arrive(110, 120), [100, 200, 300], "grown");
        assert_eq!(arrive(400, 410), [400, 100, 200, 300]);
        assert_eq!(arrive(500, 510), [500, 400, 100, 200], "no more than fit");
        assert_eq!(arrive(210, 400), [200, 500, 100], "three became one");
        beyond.remove_before(at(150));
        let left: Vec<_> = latest.islands(&beyond).collect();
        assert_eq!(left, [(at(200), at(410)), (at(500), at(510))], "filled");
        assert!(latest.has((at(200), at(410))) && !latest.has((at(600), at(700))));
    }
}
