//! A memory behind an AXI4 master of the design, with the timing of a host behind PCIe.

use super::pcie::{PciePort, Port};
use super::visible::{Hidden, Mark, Visible};
use super::{resp, Address, FromMaster, FromSlave, WriteData};
use crate::axis::keep;
use crate::{Pace, Seed, Stall};
use fastrand::Rng;
use std::collections::VecDeque;
use std::ops::RangeInclusive;

/// The memory refuses an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Answered with SLVERR.
    Slave,
    /// Answered with DECERR: nothing is mapped there.
    Decode,
    /// Not answered: the memory is asked again in the next cycle.
    NotYet,
}

impl Fault {
    pub(super) fn resp(self) -> u8 {
        match self {
            Fault::Slave => resp::SLVERR,
            Fault::Decode | Fault::NotYet => resp::DECERR,
        }
    }
}

/// What the design reads and writes. An access never crosses an aligned block of the bus's width.
pub trait Memory {
    /// Reads the bytes at `addr`.
    fn read(&mut self, addr: u64, bytes: &mut [u8]) -> Result<(), Fault>;
    /// Writes those bytes whose bit in `strobe` is set (bit 0 for the first).
    fn write(&mut self, addr: u64, bytes: &[u8], strobe: u128) -> Result<(), Fault>;
}

/// A block of memory; all other addresses are decode errors.
#[derive(Clone, Debug)]
pub struct Ram {
    /// The address of the first byte.
    pub base: u64,
    /// The contents.
    pub bytes: Vec<u8>,
}

impl Ram {
    /// Zeroed memory.
    pub fn new(base: u64, size: usize) -> Ram {
        Ram {
            base,
            bytes: vec![0; size],
        }
    }

    fn range(&mut self, addr: u64, length: usize) -> Result<&mut [u8], Fault> {
        let start = addr.checked_sub(self.base).ok_or(Fault::Decode)?;
        let start = usize::try_from(start).map_err(|_| Fault::Decode)?;
        let end = start.checked_add(length).ok_or(Fault::Decode)?;
        self.bytes.get_mut(start..end).ok_or(Fault::Decode)
    }
}

impl Memory for Ram {
    fn read(&mut self, addr: u64, bytes: &mut [u8]) -> Result<(), Fault> {
        bytes.copy_from_slice(self.range(addr, bytes.len())?);
        Ok(())
    }

    fn write(&mut self, addr: u64, bytes: &[u8], strobe: u128) -> Result<(), Fault> {
        let to = self.range(addr, bytes.len())?;
        if strobe.trailing_ones() as usize >= bytes.len() {
            to.copy_from_slice(bytes);
        } else {
            for (lane, (to, from)) in to.iter_mut().zip(bytes).enumerate() {
                if strobe >> lane & 1 == 1 {
                    *to = *from;
                }
            }
        }
        Ok(())
    }
}

/// In which order read bursts are answered. Bursts of one ID always keep their order (AXI4 A6.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As they were asked for.
    #[default]
    Asked,
    /// Bursts of different IDs overtake each other.
    BetweenIds,
    /// Beats of bursts with different IDs are mixed.
    Interleaved,
}

/// How fast the memory is. The default answers at once and never pauses.
#[derive(Clone, Debug)]
pub struct Timing {
    /// Pauses of AWREADY.
    pub aw: Stall,
    /// Pauses of WREADY.
    pub w: Stall,
    /// Pauses of ARREADY.
    pub ar: Stall,
    /// Pauses of BVALID.
    pub b: Stall,
    /// Pauses of RVALID.
    pub r: Stall,
    /// Cycles from a read's address to its first data.
    pub read_latency: RangeInclusive<u32>,
    /// Cycles from a write's last data to its response.
    pub write_latency: RangeInclusive<u32>,
    /// Reads that wait at most, then ARREADY goes low.
    pub max_reads: usize,
    /// Writes that wait at most, then AWREADY goes low.
    pub max_writes: usize,
    /// The order of read data.
    pub order: Order,
    /// Read data come in completions that end at multiples of so many bytes (PCIe's read completion boundary),
    /// each with this latency of its own after the one before; `None`: a burst comes in one piece.
    pub completions: Option<(u32, RangeInclusive<u32>)>,
    /// Bytes a cycle, for reads and for writes each; 0: no limit.
    pub bytes_per_cycle: f64,
    /// When the memory has what was written.
    pub visible: Visible,
    /// The most cycles for which a block that was written stays invisible of its own accord, if [`visible`](Self::visible) lets it.
    pub hidden: u32,
    /// The share of bursts answered with SLVERR though the memory would do them.
    pub error_rate: f64,
    /// A PCIe port in front of it, with a bandwidth and read latencies of its own; [`read_latency`](Self::read_latency) does not count then.
    pub pcie: Option<PciePort>,
}

impl Default for Timing {
    fn default() -> Timing {
        Timing {
            aw: Stall::Never,
            w: Stall::Never,
            ar: Stall::Never,
            b: Stall::Never,
            r: Stall::Never,
            read_latency: 1..=1,
            write_latency: 1..=1,
            max_reads: 64,
            max_writes: 64,
            order: Order::Asked,
            completions: None,
            bytes_per_cycle: 0.0,
            visible: Visible::AtOnce,
            hidden: 0,
            error_rate: 0.0,
            pcie: None,
        }
    }
}

impl Timing {
    /// A fixed read latency, all else at full speed.
    pub fn latency(cycles: u32) -> Timing {
        Timing {
            read_latency: cycles..=cycles,
            max_reads: 256,
            ..Timing::default()
        }
    }

    /// A host behind this PCIe port: reads of different IDs are mixed, and writes are answered when their credit is back.
    pub fn behind(pcie: PciePort) -> Timing {
        Timing {
            write_latency: pcie.posted_cycles..=pcie.posted_cycles,
            max_reads: 256,
            max_writes: 256,
            order: Order::Interleaved,
            completions: Some((pcie.payload, 0..=0)),
            pcie: Some(pcie),
            ..Timing::default()
        }
    }

    /// A host behind PCIe: latencies between half and double `read_latency`, completions split at 64 bytes and mixed between
    /// IDs, and `gigabytes` per second at a clock of `mhz`.
    pub fn pcie(read_latency: u32, gigabytes: f64, mhz: f64) -> Timing {
        Timing {
            read_latency: read_latency / 2..=read_latency * 2,
            write_latency: read_latency / 4..=read_latency / 2,
            max_reads: 256,
            order: Order::Interleaved,
            completions: Some((64, 0..=4)),
            bytes_per_cycle: gigabytes * 1000.0 / mhz,
            ..Timing::default()
        }
    }

    /// Everything at random, drawn from the seed: pauses, latencies, order of reads and splits. No errors; writes are visible at once.
    pub fn any(seed: Seed) -> Timing {
        let mut rng = seed.rng("axi timing");
        let longest = [2, 20, 200][rng.usize(0..3)];
        Timing {
            aw: Stall::any(&mut rng),
            w: Stall::any(&mut rng),
            ar: Stall::any(&mut rng),
            b: Stall::any(&mut rng),
            r: Stall::any(&mut rng),
            read_latency: 1..=longest,
            write_latency: 1..=longest,
            max_reads: rng.usize(1..32),
            max_writes: rng.usize(1..32),
            order: [Order::Asked, Order::BetweenIds, Order::Interleaved][rng.usize(0..3)],
            completions: rng.bool().then_some((64, 0..=rng.u32(0..8))),
            bytes_per_cycle: 0.0,
            visible: Visible::AtOnce,
            hidden: 0,
            error_rate: 0.0,
            pcie: None,
        }
    }
}

/// What went over the bus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Read bursts finished.
    pub reads: u64,
    /// Write bursts finished.
    pub writes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written (those with a strobe).
    pub write_bytes: u64,
    /// Bursts answered with an error.
    pub errors: u64,
    /// Beats that the memory refused when their burst had long been answered.
    pub lost: u64,
}

struct Read {
    address: Address,
    beat: u32,
    ready_at: u64,
    fail: bool,
    failed: bool,
}

struct Write {
    address: Address,
    number: u64,
    /// Responses before it was shown.
    after: u64,
    beat: u32,
    resp: u8,
}

struct Response {
    number: u64,
    id: u32,
    resp: u8,
    ready_at: u64,
}

/// Write data may come this many beats before their address.
const EARLY_BEATS: usize = 16;

/// The memory end of an AXI4 bus with `N` data bytes, for a design that is the master.
pub struct MemorySlave<const N: usize> {
    timing: Timing,
    rng: Rng,
    paces: [Pace; 5],
    reads: VecDeque<Read>,
    current: Option<usize>,
    writes: VecDeque<Write>,
    early: VecDeque<WriteData<N>>,
    responses: VecDeque<Response>,
    hidden: Hidden,
    /// Bursts so far; the one whose response is offered; responses when the one on AW was shown, if one was.
    bursts: u64,
    answering: u64,
    shown_after: Option<u64>,
    read_credit: f64,
    write_credit: f64,
    port: Option<Port>,
    /// Bursts of `reads`, from the front, that have been asked for at the port.
    requested: usize,
    totals: Totals,
}

impl<const N: usize> MemorySlave<N> {
    /// An empty bus with this timing.
    pub fn new(timing: Timing, seed: Seed) -> Self {
        let seed = seed.derive("axi memory");
        let paces = [
            Pace::new(timing.aw.clone(), seed.rng("aw")),
            Pace::new(timing.w.clone(), seed.rng("w")),
            Pace::new(timing.ar.clone(), seed.rng("ar")),
            Pace::new(timing.b.clone(), seed.rng("b")),
            Pace::new(timing.r.clone(), seed.rng("r")),
        ];
        MemorySlave {
            rng: seed.rng("latency"),
            hidden: Hidden::new(timing.visible, timing.hidden, seed.rng("visible")),
            bursts: 0,
            answering: 0,
            shown_after: None,
            paces,
            reads: VecDeque::with_capacity(timing.max_reads + 1),
            current: None,
            writes: VecDeque::with_capacity(timing.max_writes + 1),
            early: VecDeque::with_capacity(EARLY_BEATS + 1),
            responses: VecDeque::with_capacity(timing.max_writes + 1),
            read_credit: 0.0,
            write_credit: 0.0,
            port: timing.pcie.clone().map(|pcie| Port::new(pcie, seed)),
            requested: 0,
            totals: Totals::default(),
            timing,
        }
    }

    /// What went over the bus so far.
    pub fn totals(&self) -> Totals {
        let (write_bytes, lost) = self.hidden.totals();
        Totals {
            write_bytes: self.totals.write_bytes + write_bytes,
            lost,
            ..self.totals
        }
    }

    /// What was written so far, for something that goes behind it another way: the answer to a register read, an interrupt. To be asked
    /// before [`cycle`](Self::cycle).
    pub fn mark(&self) -> Mark {
        self.hidden.mark()
    }

    /// Is that visible that must not be overtaken by what went behind it?
    pub fn is_seen(&self, mark: Mark) -> bool {
        self.hidden.is_seen(mark)
    }

    /// Nothing in flight.
    pub fn is_idle(&self) -> bool {
        self.reads.is_empty()
            && self.writes.is_empty()
            && self.early.is_empty()
            && self.responses.is_empty()
            && self.hidden.is_empty()
    }

    /// One cycle: takes the handshakes, and sets the next cycle's readies, response and data.
    #[inline]
    pub fn cycle(
        &mut self,
        now: u64,
        drive: &mut FromSlave<N>,
        seen: &FromMaster<N>,
        memory: &mut impl Memory,
    ) {
        let aw = drive.aw_ready && seen.aw.valid;
        let w = drive.w_ready && seen.w.valid;
        let ar = drive.ar_ready && seen.ar.valid;
        let busy = !self.is_idle() || drive.b.valid || drive.r.valid;
        let after = match self.shown_after {
            Some(after) => after,
            None => self.hidden.answers(),
        };
        self.shown_after = (seen.aw.valid && !aw).then_some(after);
        if aw {
            let resp = self.injected();
            self.writes.push_back(Write {
                address: seen.aw,
                number: self.bursts,
                after,
                beat: 0,
                resp,
            });
            self.bursts += 1;
        }
        if w {
            self.early.push_back(seen.w);
        }
        if ar {
            let ready_at = match &self.port {
                None => now + u64::from(self.rng.u32(self.timing.read_latency.clone())),
                // Not asked for yet.
                Some(_) => u64::MAX,
            };
            let fail = self.injected() != resp::OKAY;
            self.reads.push_back(Read {
                address: seen.ar,
                beat: 0,
                ready_at,
                fail,
                failed: false,
            });
        }
        if busy || aw || w || ar {
            if drive.b.valid && seen.b_ready {
                self.hidden.answered(self.answering);
            }
            self.request(now);
            self.write(now, memory);
            self.hidden.cycle(now, memory);
            while let Some((number, id, resp)) = self.hidden.answerable() {
                self.answer(now, number, id, resp);
            }
            self.respond(now, drive, seen);
            self.read(now, drive, seen, memory);
        }
        let waiting = self.writes.len() + self.responses.len();
        drive.aw_ready =
            self.paces[0].next(seen.aw.valid && !aw) && waiting < self.timing.max_writes;
        drive.w_ready = self.paces[1].next(seen.w.valid && !w) && self.early.len() < EARLY_BEATS;
        drive.ar_ready =
            self.paces[2].next(seen.ar.valid && !ar) && self.reads.len() < self.timing.max_reads;
    }

    fn injected(&mut self) -> u8 {
        if self.timing.error_rate > 0.0 && self.rng.f64() < self.timing.error_rate {
            resp::SLVERR
        } else {
            resp::OKAY
        }
    }

    /// Asks for bursts at the port, in their order.
    fn request(&mut self, now: u64) {
        let Some(port) = &mut self.port else { return };
        port.cycle(now);
        while let Some(read) = self.reads.get_mut(self.requested) {
            let (last, bytes) = read.address.beat(read.address.beats() - 1, N);
            let end = last + bytes as u64;
            let Some(latency) = port.request(read.address.addr, end) else {
                return;
            };
            read.ready_at = now + latency;
            self.requested += 1;
        }
    }

    fn write(&mut self, now: u64, memory: &mut impl Memory) {
        self.write_credit = self.credit(self.write_credit);
        let hides = self.hidden.is_used();
        while let (Some(write), Some(beat)) = (self.writes.front_mut(), self.early.front()) {
            if self.hidden.is_full() {
                return;
            }
            if self.timing.bytes_per_cycle > 0.0 && self.write_credit < N as f64 {
                return;
            }
            if self.port.as_ref().is_some_and(|port| !port.may_write(N)) {
                return;
            }
            self.write_credit -= N as f64;
            let (addr, bytes) = write.address.beat(write.beat, N);
            let lane = addr as usize % N;
            let strobe = beat.strb >> lane & keep(bytes);
            if hides && write.beat == 0 {
                self.hidden
                    .begin(write.number, write.address.id, write.resp);
            }
            if strobe != 0 && hides && write.resp != resp::SLVERR {
                let relaxed = write.address.user & 1 == 1;
                let bytes = &beat.data[lane..lane + bytes];
                self.hidden
                    .beat(now, relaxed, write.after, addr, bytes, strobe);
            } else if strobe != 0 && write.resp != resp::SLVERR {
                match memory.write(addr, &beat.data[lane..lane + bytes], strobe) {
                    Ok(()) => self.totals.write_bytes += u64::from(strobe.count_ones()),
                    Err(Fault::NotYet) => {
                        self.write_credit += N as f64;
                        return;
                    }
                    Err(fault) if write.resp == resp::OKAY => write.resp = fault.resp(),
                    Err(_) => {}
                }
            }
            if let Some(port) = &mut self.port {
                port.write(now, addr, strobe.count_ones(), write.beat == 0);
            }
            write.beat += 1;
            let done = write.beat == write.address.beats();
            self.early.pop_front();
            if done {
                let Some(write) = self.writes.pop_front() else {
                    return;
                };
                if !hides || self.hidden.end() {
                    self.answer(now, write.number, write.address.id, write.resp);
                }
            }
        }
    }

    fn answer(&mut self, now: u64, number: u64, id: u32, resp: u8) {
        let latency = self.rng.u32(self.timing.write_latency.clone());
        let ready_at = now + u64::from(latency);
        self.responses.push_back(Response {
            number,
            id,
            resp,
            ready_at,
        });
    }

    fn respond(&mut self, now: u64, drive: &mut FromSlave<N>, seen: &FromMaster<N>) {
        if drive.b.valid {
            if !seen.b_ready {
                return;
            }
            drive.b.valid = false;
        }
        // Responses of one ID keep their order: only the first of each may go.
        let first = match self.timing.order {
            Order::Asked => 0,
            _ if self.responses.len() < 2 => 0,
            _ => {
                let pick = self.rng.usize(..self.responses.len());
                let id = self.responses[pick].id;
                self.responses
                    .iter()
                    .position(|response| response.id == id)
                    .unwrap_or(0)
            }
        };
        let Some(response) = self.responses.get(first) else {
            return;
        };
        if response.ready_at > now || !self.paces[3].start() {
            return;
        }
        self.answering = response.number;
        drive.b.id = response.id;
        drive.b.resp = response.resp;
        drive.b.valid = true;
        self.totals.writes += 1;
        self.totals.errors += u64::from(response.resp != resp::OKAY);
        self.responses.remove(first);
    }

    fn read(
        &mut self,
        now: u64,
        drive: &mut FromSlave<N>,
        seen: &FromMaster<N>,
        memory: &mut impl Memory,
    ) {
        self.read_credit = self.credit(self.read_credit);
        if drive.r.valid {
            if !seen.r_ready {
                return;
            }
            drive.r.valid = false;
        }
        if self.current.is_none() {
            self.current = self.choose(now);
        }
        let Some(at) = self.current else { return };
        if self.timing.bytes_per_cycle > 0.0 && self.read_credit < N as f64 {
            return;
        }
        if self.port.as_ref().is_some_and(|port| !port.may_complete()) {
            return;
        }
        if !self.paces[4].start() {
            return;
        }
        self.read_credit -= N as f64;
        let Some(read) = self.reads.get_mut(at) else {
            self.current = None;
            return;
        };
        let (addr, bytes) = read.address.beat(read.beat, N);
        let lane = addr as usize % N;
        drive.r.data = [0; N];
        drive.r.resp = resp::OKAY;
        if read.fail {
            drive.r.resp = resp::SLVERR;
        } else if let Err(fault) = memory.read(addr, &mut drive.r.data[lane..lane + bytes]) {
            drive.r.data = [0; N];
            if fault == Fault::NotYet {
                self.read_credit += N as f64;
                return;
            }
            drive.r.resp = fault.resp();
        }
        read.failed |= drive.r.resp != resp::OKAY;
        drive.r.id = read.address.id;
        read.beat += 1;
        drive.r.last = read.beat == read.address.beats();
        drive.r.valid = true;
        if let Some(port) = &mut self.port {
            port.complete(addr, bytes, read.beat == 1, drive.r.last);
        }
        self.totals.read_bytes += bytes as u64;
        if drive.r.last {
            self.totals.reads += 1;
            self.totals.errors += u64::from(read.failed);
            self.reads.remove(at);
            self.requested = self.requested.saturating_sub(1);
            self.current = None;
        } else if let Some((boundary, gap)) = &self.timing.completions {
            if (addr + bytes as u64) % u64::from((*boundary).max(1)) == 0 {
                read.ready_at = now + u64::from(self.rng.u32(gap.clone()));
                self.current = None;
            }
        } else if self.timing.order == Order::Interleaved {
            self.current = None;
        }
    }

    /// The read that sends the next beat: the first of its ID, its time has come, and no other burst is half sent unless
    /// beats may be mixed.
    fn choose(&mut self, now: u64) -> Option<usize> {
        let mut chosen = None;
        let mut candidates = 0;
        for (at, read) in self.reads.iter().enumerate() {
            if self.timing.order == Order::Asked
                || (self.timing.order == Order::BetweenIds && read.beat > 0)
            {
                return (read.ready_at <= now).then_some(at);
            }
            if read.ready_at > now
                || self
                    .reads
                    .iter()
                    .take(at)
                    .any(|other| other.address.id == read.address.id)
            {
                continue;
            }
            candidates += 1;
            if self.rng.u32(0..candidates) == 0 {
                chosen = Some(at);
            }
        }
        chosen
    }

    fn credit(&self, credit: f64) -> f64 {
        if self.timing.bytes_per_cycle > 0.0 {
            (credit + self.timing.bytes_per_cycle).min(4.0 * N as f64)
        } else {
            0.0
        }
    }
}
