//! The protocol checker of an AXI4 bus: both sides, whoever of them is the design.

use super::{burst, resp, Address, FromMaster, FromSlave, ReadData, WriteData, WriteResponse};
use crate::axis::keep;
use crate::check::{Handshake, Place};
use crate::{Rule, Violation, Watchdog};
use std::collections::VecDeque;

#[derive(Clone, Debug)]
struct Read {
    id: u32,
    left: u32,
}

#[derive(Clone, Debug)]
struct Write {
    address: Address,
    beat: u32,
}

/// Checks an AXI4 bus of `N` data bytes. Exclusive accesses are not followed.
#[derive(Clone, Debug)]
pub struct Checker<const N: usize> {
    bus: String,
    limit: u64,
    aw: Handshake<Address>,
    w: Handshake<WriteData<N>>,
    b: Handshake<WriteResponse>,
    ar: Handshake<Address>,
    r: Handshake<ReadData<N>>,
    reads: VecDeque<Read>,
    /// Addresses whose data have not all come.
    writes: VecDeque<Write>,
    /// Strobe and last of data beats whose address has not come.
    early: VecDeque<(u128, bool)>,
    /// IDs of writes that wait for their response.
    responses: VecDeque<u32>,
    watchdog: Watchdog,
}

impl<const N: usize> Checker<N> {
    /// A checker. Ready, data and responses have to come within 10 000 cycles.
    pub fn new(name: &str) -> Self {
        Checker {
            bus: name.to_string(),
            limit: 10_000,
            aw: Handshake::new(),
            w: Handshake::new(),
            b: Handshake::new(),
            ar: Handshake::new(),
            r: Handshake::new(),
            reads: VecDeque::new(),
            writes: VecDeque::new(),
            early: VecDeque::new(),
            responses: VecDeque::new(),
            watchdog: Watchdog::new(name, 10_000),
        }
    }

    /// Ready, data and responses have to come within so many cycles.
    pub fn limit(mut self, cycles: u64) -> Self {
        self.limit = cycles;
        self.watchdog = Watchdog::new(&self.bus, cycles);
        self
    }

    /// Nothing is outstanding.
    pub fn is_idle(&self) -> bool {
        self.reads.is_empty()
            && self.writes.is_empty()
            && self.early.is_empty()
            && self.responses.is_empty()
    }

    /// One cycle.
    #[inline]
    pub fn cycle(
        &mut self,
        now: u64,
        reset: bool,
        master: &FromMaster<N>,
        slave: &FromSlave<N>,
    ) -> Result<(), Violation> {
        let any =
            master.aw.valid | master.w.valid | master.ar.valid | slave.b.valid | slave.r.valid;
        let waits = self.aw.is_old()
            | self.w.is_old()
            | self.ar.is_old()
            | self.b.is_old()
            | self.r.is_old();
        if any || waits || reset {
            self.channels(now, reset, master, slave)?;
        }
        let progress = master.aw.valid && slave.aw_ready
            || master.w.valid && slave.w_ready
            || master.ar.valid && slave.ar_ready
            || slave.b.valid && master.b_ready
            || slave.r.valid && master.r_ready;
        // While a valid waits, that is for the limit of its channel to judge.
        self.watchdog
            .cycle(now, !any && !reset && !self.is_idle(), progress)
    }

    fn channels(
        &mut self,
        now: u64,
        reset: bool,
        master: &FromMaster<N>,
        slave: &FromSlave<N>,
    ) -> Result<(), Violation> {
        let (new_aw, new_ar) = (!self.aw.is_old(), !self.ar.is_old());
        let (new_b, new_r) = (!self.b.is_old(), !self.r.is_old());
        let bus = self.bus.as_str();
        let place = |channel| Place { bus, channel, now };
        let limit = self.limit;
        self.aw.check(
            place("AW"),
            reset,
            limit,
            master.aw.valid,
            slave.aw_ready,
            &master.aw,
        )?;
        self.w.check(
            place("W"),
            reset,
            limit,
            master.w.valid,
            slave.w_ready,
            &master.w,
        )?;
        self.ar.check(
            place("AR"),
            reset,
            limit,
            master.ar.valid,
            slave.ar_ready,
            &master.ar,
        )?;
        self.b.check(
            place("B"),
            reset,
            limit,
            slave.b.valid,
            master.b_ready,
            &slave.b,
        )?;
        self.r.check(
            place("R"),
            reset,
            limit,
            slave.r.valid,
            master.r_ready,
            &slave.r,
        )?;
        if reset {
            self.reads.clear();
            self.writes.clear();
            self.early.clear();
            self.responses.clear();
            return Ok(());
        }
        if master.aw.valid && new_aw {
            address(place("AW"), &master.aw, N)?;
        }
        if master.ar.valid && new_ar {
            address(place("AR"), &master.ar, N)?;
        }
        // Answers come later than what they answer, so they are looked at first.
        if slave.r.valid {
            read_data(place("R"), &mut self.reads, &slave.r, new_r, master.r_ready)?;
        }
        if slave.b.valid {
            let at = self.responses.iter().position(|id| *id == slave.b.id);
            if let (true, None) = (new_b, at) {
                let waits = self
                    .writes
                    .iter()
                    .any(|write| write.address.id == slave.b.id);
                let rule = if waits {
                    Rule::EarlyResponse
                } else {
                    Rule::UnaskedResponse
                };
                return place("B").broken(rule, format!("ID {}", slave.b.id));
            }
            if new_b && slave.b.resp == resp::EXOKAY {
                return place("B").broken(Rule::ResponseCode, "EXOKAY".into());
            }
            if let (true, Some(at)) = (master.b_ready, at) {
                self.responses.remove(at);
            }
        }
        if master.ar.valid && slave.ar_ready {
            self.reads.push_back(Read {
                id: master.ar.id,
                left: master.ar.beats(),
            });
        }
        if master.aw.valid && slave.aw_ready {
            self.writes.push_back(Write {
                address: master.aw,
                beat: 0,
            });
        }
        if master.w.valid && slave.w_ready {
            self.early.push_back((master.w.strb, master.w.last));
        }
        while let Some(write) = self.writes.front_mut() {
            let Some((strobe, last)) = self.early.pop_front() else {
                break;
            };
            let (addr, bytes) = write.address.beat(write.beat, N);
            let lanes = keep(bytes) << (addr as usize % N);
            let beat = write.beat;
            write.beat += 1;
            let done = write.beat == write.address.beats();
            if done {
                self.responses.push_back(write.address.id);
                self.writes.pop_front();
            }
            if strobe & !lanes != 0 {
                return place("W").broken(
                    Rule::StrobeOutside,
                    format!("{strobe:#x}, allowed {lanes:#x}"),
                );
            }
            if last != done {
                return place("W").broken(Rule::LastMisplaced, format!("beat {beat}, last {last}"));
            }
        }
        Ok(())
    }
}

fn address(place: Place, address: &Address, n: usize) -> Result<(), Violation> {
    let detail = || {
        let Address {
            addr,
            len,
            size,
            burst,
            ..
        } = address;
        format!("address {addr:#x}, length {len}, size {size}, burst {burst}")
    };
    if address.size > 7 || 1 << address.size > n {
        return place.broken(Rule::BeatSize, detail());
    }
    let bytes = 1u64 << address.size;
    let beats = address.beats();
    match address.burst {
        burst::FIXED if beats > 16 => return place.broken(Rule::BurstLength, detail()),
        burst::FIXED => {}
        burst::WRAP if !matches!(beats, 2 | 4 | 8 | 16) || address.addr % bytes != 0 => {
            return place.broken(Rule::BurstLength, detail());
        }
        burst::WRAP => {}
        burst::INCR => {
            let last = (address.addr & !(bytes - 1)).wrapping_add(bytes * u64::from(beats) - 1);
            if last >> 12 != address.addr >> 12 {
                return place.broken(Rule::Crosses4K, detail());
            }
        }
        _ => return place.broken(Rule::BurstType, detail()),
    }
    Ok(())
}

fn read_data<const N: usize>(
    place: Place,
    reads: &mut VecDeque<Read>,
    data: &ReadData<N>,
    new: bool,
    ready: bool,
) -> Result<(), Violation> {
    let at = reads.iter().position(|read| read.id == data.id);
    let Some((at, read)) = at.and_then(|at| Some((at, reads.get_mut(at)?))) else {
        return place.broken(Rule::UnaskedData, format!("ID {}", data.id));
    };
    if new && data.last != (read.left == 1) {
        return place.broken(
            Rule::LastMisplaced,
            format!("{} beats left, last {}", read.left, data.last),
        );
    }
    if new && data.resp == resp::EXOKAY {
        return place.broken(Rule::ResponseCode, "EXOKAY".into());
    }
    if ready {
        read.left -= 1;
        if read.left == 0 {
            reads.remove(at);
        }
    }
    Ok(())
}
