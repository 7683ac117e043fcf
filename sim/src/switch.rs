//! A switch between the open ends of links: it learns who is where, and stores each frame before it sends it on. Its ports queue as links do.

use std::collections::BTreeMap;

/// Bytes of the two addresses.
const ADDRESSES: usize = 12;

/// Who is behind which link.
#[derive(Debug, Default)]
pub(crate) struct Switch {
    links: BTreeMap<[u8; 6], usize>,
}

impl Switch {
    /// The links that a frame leaves by, which came from this one: one if its destination has spoken, otherwise all others of `count`.
    pub(crate) fn ways(&mut self, from: usize, frame: &[u8], count: usize) -> Vec<usize> {
        let Some(addresses) = frame.first_chunk::<ADDRESSES>() else {
            return Vec::new();
        };
        let address = |at: usize| -> [u8; 6] { std::array::from_fn(|n| addresses[at + n]) };
        let (to, by) = (address(0), address(6));
        // The lowest bit of the first octet: a group, which no frame comes from.
        if by[0] & 1 == 0 {
            self.links.insert(by, from);
        }
        match self.links.get(&to) {
            Some(link) if *link == from => Vec::new(),
            Some(link) => vec![*link],
            None => (0..count).filter(|&link| link != from).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(to: u8, by: u8) -> [u8; 14] {
        let mut frame = [0; 14];
        (frame[0], frame[5], frame[11]) = (if to == 0xff { 1 } else { 2 }, to, by);
        frame[6] = 2;
        frame
    }

    #[test]
    fn a_frame_goes_to_whom_it_is_for_once_that_one_has_spoken() {
        let mut switch = Switch::default();
        assert_eq!(switch.ways(0, &frame(0xff, 10), 4), [1, 2, 3]);
        assert_eq!(switch.ways(2, &frame(12, 11), 4), [0, 1, 3]);
        assert_eq!(switch.ways(2, &frame(10, 11), 4), [0]);
        assert_eq!(switch.ways(0, &frame(11, 10), 4), [2]);
        // Who is behind the link that it came by has it already, and who moves is found again.
        assert!(switch.ways(0, &frame(10, 12), 4).is_empty());
        assert_eq!(switch.ways(3, &frame(0xff, 10), 4), [0, 1, 2]);
        assert_eq!(switch.ways(1, &frame(10, 13), 4), [3]);
        assert!(switch.ways(1, &[2; 11], 4).is_empty());
    }
}
