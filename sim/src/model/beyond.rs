//! Walks beyond a gap (`docs/card.md`, *Beyond a gap*): what is walked there, and what becomes of it.

use weft_layout::{AttachRow, Counter, FpduReport};
use weft_wire::checks::{ask, Ask, Position};
use weft_wire::ddp::DdpHeader;
use weft_wire::fpdu::Markers;
use weft_wire::rdmap::{opcode, opcode_of};
use weft_wire::walk::Unit;

use super::acceptance::range;
use super::carried::Walked;
use super::checks::position_of;
use super::ethernet::Segment;
use super::islands::{Island, Receives};
use super::receive::{End, Receive};

/// A walk beyond a gap, as far as it has come.
#[derive(Clone, Copy, Debug)]
pub struct Beyond {
    /// An FPDU begins where the segment does: an island ends there, or the two ends have agreed on it.
    certain: bool,
    /// What the next FPDU of queue 0 has to be; `None`: the walk is open.
    expected: Option<Position>,
    /// The message that the stream has come to: those before it are complete.
    low: u32,
    /// The last message that an element is posted for.
    tail: u32,
    /// What of queue 0 was placed.
    receives: Option<Receives>,
}

/// Signed, modulo 2^32.
fn is_before(msn: u32, other: u32) -> bool {
    (msn.wrapping_sub(other) as i32) < 0
}

impl Beyond {
    /// An FPDU is walked if its place does not depend on those before it, and if it is known that it begins there.
    pub fn may_be_walked(
        &mut self,
        unit: &Unit<'_>,
        segment: Option<(DdpHeader, &[u8])>,
        markers: Markers,
    ) -> bool {
        let distance = markers.distance(unit.seq);
        let marked = distance.is_some_and(|distance| distance < unit.wire.len());
        let begins = self.certain || unit.at > 0 || marked;
        begins && segment.is_some_and(|(header, payload)| self.has_place(&header, payload.len()))
    }

    fn has_place(&mut self, header: &DdpHeader, payload: usize) -> bool {
        if header.is_tagged() {
            let opcode = opcode_of(header.rdmap_control);
            return matches!(opcode, opcode::WRITE | opcode::READ_RESPONSE);
        }
        let Ok(Ask::Send { msn, mo }) = ask(header, payload) else {
            return false;
        };
        let at = Position { msn, mo };
        *self.expected.get_or_insert(at) == at
            && !is_before(msn, self.low)
            && !is_before(self.tail, msn)
            // Behind islands that did not meet nothing lies between the two.
            && !is_before(self.tail, self.low)
    }

    /// The position that an FPDU is checked at.
    pub fn stand(&self, position: &mut AttachRow) {
        if let Some(Position { msn, mo }) = self.expected {
            (position.msn, position.mo) = (msn, mo);
        }
    }

    /// An FPDU of queue 0 was placed.
    pub fn received(&mut self, at: Position, next: Position) {
        let first = self.receives.map_or(at, |receives| receives.first);
        self.receives = Some(Receives { first, next });
        self.expected = Some(next);
    }
}

impl Receive<'_> {
    /// Walks a segment beyond a gap: it is an island if it is whole. The flow's position stays.
    pub(super) fn walk_beyond(
        &mut self,
        payload: &[u8],
        s: &Segment,
        flow: u16,
        fpdus: &mut Vec<FpduReport>,
    ) -> Walked {
        let f = usize::from(flow);
        let mut nowhere = self.tables.positions[f];
        let island = self.tables.islands.end_at(flow, s.seq);
        let mut beyond = Beyond {
            certain: !self.tables.rx[f].markers() || island.is_some(),
            expected: island.flatten().map(|receives| receives.next),
            low: nowhere.msn,
            tail: self.tables.rq_tail[f],
            receives: None,
        };
        let (end, done, _) =
            self.walk(payload, s.seq, flow, &mut nowhere, fpdus, Some(&mut beyond));
        if end == End::Whole {
            self.counters.count(Counter::RxSegmentsBeyond);
            let island = Island::of(range(s), beyond.receives);
            self.tables.islands.add(flow, island);
        }
        Walked {
            end,
            done,
            raw: end != End::Whole,
            next: s.seq.wrapping_add(done as u32),
        }
    }

    /// A segment in order has ended whole: where an island begins, the flow stands behind that.
    pub(super) fn pass_island(&mut self, flow: u16, position: &mut AttachRow) {
        let Some((island, end)) = self.tables.islands.pass(flow, position.rcv_nxt) else {
            return;
        };
        let at = island.passed(position_of(position));
        (position.rcv_nxt, position.msn, position.mo) = (end, at.msn, at.mo);
    }
}
