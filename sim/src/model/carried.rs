//! FPDUs that a segment leaves unfinished: the card carries their octets to the flow's next segment, and the flow stays attached.

use std::collections::BTreeMap;

use weft_layout::{AttachRow, Counter, FpduReport};

use super::ethernet::{flag, Segment};
use super::receive::{End, Receive};

/// Flows that have carried octets at a time.
pub const CARRIES: usize = 8;
/// Octets that a flow carries at most, in whole words; what makes no word comes on top.
pub const CARRY_BYTES: usize = 4096;

/// The octets that flows carry, from an FPDU's first on.
#[derive(Clone, Debug, Default)]
pub struct Carried(BTreeMap<u16, Vec<u8>>);

impl Carried {
    /// A flow's place is free, and nothing is carried.
    pub fn forget(&mut self, flow: u16) {
        self.0.remove(&flow);
    }

    /// Those of a flow, whose place is free for the time being.
    fn take(&mut self, flow: u16) -> Vec<u8> {
        self.0.remove(&flow).unwrap_or_default()
    }

    fn has_place(&self) -> bool {
        self.0.len() < CARRIES
    }

    fn keep(&mut self, flow: u16, octets: Vec<u8>) {
        self.0.insert(flow, octets);
    }
}

/// What became of a segment that was walked.
pub struct Walked {
    /// How it ended: one whose last FPDU is carried is whole.
    pub end: End,
    /// Octets of the segment before where the walk stopped; of one that is whole, all that are not carried.
    pub done: usize,
    /// The engine needs the frame.
    pub raw: bool,
    /// Behind its last octet that was walked or is carried.
    pub next: u32,
}

impl Receive<'_> {
    /// Walks what the flow carries and the segment behind it, and carries what is left of them.
    pub(super) fn walk_on(
        &mut self,
        payload: &[u8],
        s: &Segment,
        flow: u16,
        position: &mut AttachRow,
        fpdus: &mut Vec<FpduReport>,
    ) -> Walked {
        let row = self.tables.rx[usize::from(flow)];
        let mut octets = self.tables.carried.take(flow);
        let has_place = self.tables.carried.has_place();
        let before = octets.len();
        octets.extend_from_slice(payload);
        let first = s.seq.wrapping_sub(before as u32);
        let (end, stop, engine) = self.walk(&octets, first, flow, position, fpdus, None);
        for fpdu in fpdus {
            fpdu.offset = fpdu.offset.wrapping_sub(before as u16);
        }
        let done = stop.saturating_sub(before);
        let walked = Walked {
            end,
            done,
            raw: engine || end != End::Whole,
            next: s.seq.wrapping_add(done as u32),
        };
        let may_carry = row.carry() && !row.check_only() && s.flags & flag::FIN == 0;
        if end != End::Partial || !may_carry {
            return walked;
        }
        let rest = octets.split_off(stop);
        if !has_place || rest.len() & !3 > CARRY_BYTES {
            self.counters.count(Counter::RxCarryFull);
            return walked;
        }
        self.counters.count(Counter::RxSegmentsCarried);
        self.tables.carried.keep(flow, rest);
        Walked {
            end: End::Whole,
            next: s.seq.wrapping_add(payload.len() as u32),
            ..walked
        }
    }
}
