//! Register reads and writes, in program order.

use super::{FromMaster, FromSlave};
use crate::{Pace, Seed, Stall};
use std::collections::VecDeque;

/// One register access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads a register.
    Read {
        /// Its address.
        addr: u64,
    },
    /// Writes a register.
    Write {
        /// Its address.
        addr: u64,
        /// The value, in the bus's lanes.
        data: u64,
        /// Byte lanes written.
        strb: u8,
    },
}

/// An access that was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// The access.
    pub access: Access,
    /// What was read; 0 for a write.
    pub data: u64,
    /// The response code.
    pub resp: u8,
    /// The cycle of the response.
    pub cycle: u64,
}

/// A master for a register port. Accesses are done in the order they were queued: a read follows the responses of the
/// writes before it, and the other way round. Writes go one behind the other without waiting, and so do reads.
pub struct Master {
    queue: VecDeque<Access>,
    flight: VecDeque<Access>,
    done: VecDeque<Done>,
    depth: usize,
    paces: [Pace; 5],
    /// Data of writes whose address may have gone already.
    data: VecDeque<(u64, u8)>,
}

impl Master {
    /// A master whose channels pause as `stall` says, with at most `depth` accesses in flight.
    pub fn new(stall: Stall, depth: usize, seed: Seed) -> Master {
        let seed = seed.derive("axil master");
        let paces =
            ["aw", "w", "ar", "b", "r"].map(|channel| Pace::new(stall.clone(), seed.rng(channel)));
        Master {
            queue: VecDeque::new(),
            flight: VecDeque::new(),
            done: VecDeque::new(),
            depth: depth.max(1),
            paces,
            data: VecDeque::new(),
        }
    }

    /// Queues a read.
    pub fn read(&mut self, addr: u64) {
        self.queue.push_back(Access::Read { addr });
    }

    /// Queues a write of 32 bits.
    pub fn write(&mut self, addr: u64, data: u32) {
        self.queue.push_back(Access::Write {
            addr,
            data: data.into(),
            strb: 0xf,
        });
    }

    /// Queues any access.
    pub fn push(&mut self, access: Access) {
        self.queue.push_back(access);
    }

    /// The oldest answered access.
    pub fn pop(&mut self) -> Option<Done> {
        self.done.pop_front()
    }

    /// Nothing queued and nothing in flight.
    pub fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.flight.is_empty()
    }

    /// One cycle: takes the handshakes and sets the next cycle's channels.
    #[inline]
    pub fn cycle(&mut self, now: u64, drive: &mut FromMaster, seen: &FromSlave) {
        if self.is_idle() && !(drive.aw_valid || drive.w_valid || drive.ar_valid) {
            return;
        }
        let b = drive.b_ready && seen.b_valid;
        let r = drive.r_ready && seen.r_valid;
        drive.aw_valid &= !seen.aw_ready;
        drive.w_valid &= !seen.w_ready;
        drive.ar_valid &= !seen.ar_ready;
        if b || r {
            if let Some(access) = self.flight.pop_front() {
                let (data, resp) = if r {
                    (seen.r_data, seen.r_resp)
                } else {
                    (0, seen.b_resp)
                };
                self.done.push_back(Done {
                    access,
                    data,
                    resp,
                    cycle: now,
                });
            }
        }
        self.issue(drive);
        drive.b_ready = self.paces[3].next(seen.b_valid && !b);
        drive.r_ready = self.paces[4].next(seen.r_valid && !r);
    }

    fn issue(&mut self, drive: &mut FromMaster) {
        let next = self.queue.front().copied();
        let room = self.flight.len() < self.depth;
        let writing = self
            .flight
            .iter()
            .all(|access| matches!(access, Access::Write { .. }));
        let reading = self
            .flight
            .iter()
            .all(|access| matches!(access, Access::Read { .. }));
        match next {
            Some(Access::Write { addr, data, strb })
                if room && writing && !drive.aw_valid && self.paces[0].start() =>
            {
                drive.aw_addr = addr;
                drive.aw_valid = true;
                self.data.push_back((data, strb));
                self.flight.extend(self.queue.pop_front());
            }
            Some(Access::Read { addr })
                if room && reading && !drive.ar_valid && self.paces[2].start() =>
            {
                drive.ar_addr = addr;
                drive.ar_valid = true;
                self.flight.extend(self.queue.pop_front());
            }
            _ => {}
        }
        if !drive.w_valid && !self.data.is_empty() && self.paces[1].start() {
            if let Some((data, strb)) = self.data.pop_front() {
                drive.w_data = data;
                drive.w_strb = strb;
                drive.w_valid = true;
            }
        }
    }
}
