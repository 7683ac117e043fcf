//! What has to come about once nothing goes wrong any more: from every world the stream goes on, and the card has the flow again.

use crate::card::Report;
use crate::host::SEGMENT;
use crate::model::Sizes;
use crate::stream::{end_of, PERIOD};
use crate::world::World;

/// How a peer uses what room it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sender {
    /// Up to the last octet of the window.
    ToTheOctet,
    /// Whole FPDUs alone (RFC 5044 §5.1), and into less room than a segment nothing (RFC 9293 §3.8.6.2.1).
    Whole,
}

/// Why a world does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stuck {
    /// The stream stands still.
    Stream,
    /// The stream goes on, and the engine has it for ever.
    Engine,
    /// Raw slots do not come back.
    Slots,
}

/// Octets that pass before the flow has to be the card's.
const ENOUGH: u32 = 4 * PERIOD;

impl World {
    /// The rest of the FPDU at `seq`, as far as this sender sends it.
    fn sends(&self, seq: u32, sender: Sender) -> u32 {
        let rest = end_of(seq) - seq;
        let room = self.peer.edge.saturating_sub(seq);
        match sender {
            Sender::ToTheOctet if room >= rest || room >= SEGMENT => rest.min(room),
            Sender::ToTheOctet => room,
            Sender::Whole if room >= rest && room >= SEGMENT.min(rest) => rest,
            Sender::Whole => 0,
        }
    }

    /// The host handles all but the last `behind` reports.
    fn catch_up(&mut self, behind: usize, sizes: &Sizes) {
        while self.reports.len() > behind {
            self.handle(sizes);
        }
    }

    /// Nothing is lost any more, all jobs are done, and the host is `behind` reports late as long as something comes.
    pub fn settles(&self, sender: Sender, behind: usize, sizes: &Sizes) -> Result<(), Stuck> {
        let mut world = self.clone();
        let (mut passed, mut still) = (0, 0);
        if !self.card.bound {
            return world.slots_return(sizes);
        }
        if self.peer.fin.is_some() {
            // Nothing is to come but what is missing.
            return Ok(());
        }
        while still < 8 {
            let before = world.host.base;
            while !world.jobs.is_empty() {
                world.replay(sizes);
            }
            world.catch_up(behind, sizes);
            // What is new, or what is missing where nothing new may be sent.
            let from = if behind > 0 && world.peer.edge > world.peer.sent {
                world.peer.sent
            } else {
                world.catch_up(0, sizes);
                world.host.next()
            };
            let missing = world.lost_before(from);
            let seq = missing.unwrap_or(from);
            let length = world.sends(seq, sender);
            let queued = world.reports.len();
            if length > 0 {
                world.segment(seq, length, false, sizes);
            }
            if world.reports.len() == queued {
                // Nothing comes, so that the host reads all there is, and its timers are next.
                world.catch_up(0, sizes);
                if world.jobs.is_empty() {
                    world.timer(sizes);
                }
            }
            let base = world.host.base;
            still = if base > before { 0 } else { still + 1 };
            passed += base - before;
            world.rebase();
            if passed >= ENOUGH && world.card.attached && world.host.handover.is_attached() {
                return Ok(());
            }
            if passed > 4 * ENOUGH {
                return Err(Stuck::Engine);
            }
        }
        Err(Stuck::Stream)
    }

    /// Nothing comes any more, and nobody has a use for what lies in slots.
    fn slots_return(&mut self, sizes: &Sizes) -> Result<(), Stuck> {
        while !self.jobs.is_empty() {
            self.replay(sizes);
        }
        self.catch_up(0, sizes);
        self.timer(sizes);
        match self.ring.is_empty() {
            true => Ok(()),
            false => Err(Stuck::Slots),
        }
    }

    /// The first octet that neither has arrived nor is on its way, before `end`.
    fn lost_before(&self, end: u32) -> Option<u32> {
        let mut there = self.host.got;
        there.add(0, self.host.base);
        if self.card.attached {
            there.add(0, self.card.rcv);
            there.add_all(self.card.islands);
        }
        for report in &self.reports {
            if let Report::Segment(segment) = report {
                if segment.slot.is_some() || segment.done > 0 {
                    there.add(segment.seq, segment.seq + segment.length);
                }
            }
        }
        let first = there.end_from(0);
        (first < end).then_some(first)
    }
}
