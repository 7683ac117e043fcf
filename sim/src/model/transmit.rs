//! The transmit path: jobs, segmentation, gather.

use std::collections::VecDeque;

use weft_layout::{
    doorbell, trace_kind, Counter, FlowTxRow, Job, JobKind, JobReport, JobStatus, ReplayJob,
    ReportKind, TraceEntry, TraceFrameOut,
};

use super::counters::Counters;
use super::ethernet::{self, flag};
use super::mpa;
use super::reports::ReportRing;
use super::trace::{Trace, NO_FLOW};
use crate::iommu::{Fault, HostMemory};

/// Longest frame, header included.
pub const MAX_FRAME: usize = 9216;
/// Longest payload of a segment job, and of an FPDU.
pub const MAX_PAYLOAD: usize = 9000;

/// A frame on its way out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outgoing {
    /// The frame.
    pub bytes: Vec<u8>,
    /// The card made its headers.
    segment: bool,
    /// It is an FPDU.
    fpdu: bool,
    /// It is none: the bytes are a piece of a flow's received stream.
    pub replay: Option<Replay>,
    /// What it has of FPDUs, if another may join them.
    open: Option<Open>,
}

/// A segment of FPDUs that another one may join (docs/card.md, Sending: jobs).
#[derive(Clone, Debug, PartialEq, Eq)]
struct Open {
    flow: u16,
    row: FlowTxRow,
    ect: bool,
    seq: u32,
    flags: u8,
    id: u16,
    fpdus: usize,
    payload: Vec<u8>,
}

/// Most FPDUs of a segment, and octets of its payload if there are several.
const MAX_PACKED: (usize, usize) = (16, 2048);

impl Open {
    /// May this FPDU of the same kind go behind it?
    fn takes(&self, next: &Open) -> bool {
        let length = self.payload.len() + next.payload.len();
        (self.flow, self.row, self.ect) == (next.flow, next.row, next.ect)
            && (self.flags | next.flags) & !(flag::ACK | flag::PSH) == 0
            && self.seq.wrapping_add(self.payload.len() as u32) == next.seq
            && self.fpdus < MAX_PACKED.0
            && length <= usize::from(self.row.pack).min(MAX_PACKED.1)
    }
}

/// Where in a flow's received stream bytes are that are to be walked again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    /// The flow.
    pub flow: u16,
    /// TCP sequence number of the first byte.
    pub seq: u32,
    /// It goes on where the last one ended: what is expected is known.
    pub follows: bool,
    /// MSN that is expected on queue 0, else.
    pub msn: u32,
    /// MO that is expected in that message.
    pub mo: u32,
}

impl Outgoing {
    /// FPDUs that wait may join it.
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Its event: sent.
    pub fn event(&self, looped: bool) -> TraceEntry {
        /// Where the sequence number is in the headers that the card makes.
        const SEQ: usize = 38;
        let seq = self.bytes[..].get(SEQ..SEQ + 4).filter(|_| self.segment);
        TraceEntry {
            kind: trace_kind::FRAME_OUT,
            detail: TraceFrameOut::default()
                .with_headers(self.segment)
                .with_fpdu(self.fpdu)
                .with_loopback(looped)
                .0,
            flow: NO_FLOW,
            value: seq.map_or(0, |b| u32::from_be_bytes([b[0], b[1], b[2], b[3]])),
            info: self.bytes.len() as u16,
            ..TraceEntry::default()
        }
    }
}

/// Payload bytes of a replay at most.
pub const MAX_REPLAY: u32 = 4096;

/// Why a job ended before its end.
enum Failure {
    Malformed,
    ReadError(Fault),
}

/// The job ring and what is left of its work.
#[derive(Clone, Debug, Default)]
pub struct Transmit {
    /// IOVA of the ring.
    pub base: u64,
    /// That of the ring as it was set up.
    ring: u64,
    log2: u8,
    tail: u32,
    done: u32,
    identification: u16,
    push: PushWindow,
    /// Payload bytes that a replay may have; 0: there are none.
    pub max_replay: u32,
}

/// Slots of the push window.
pub const PUSH_SLOTS: u32 = 32;

/// Where the last word of a slot is.
const LAST_WORD: usize = Job::SIZE - 4;

/// Jobs that the host has written into the card.
#[derive(Clone, Debug)]
struct PushWindow {
    slots: [[u8; Job::SIZE]; PUSH_SLOTS as usize],
    /// The last word of the slot was written, and nobody has taken the job.
    full: u32,
}

impl Default for PushWindow {
    fn default() -> Self {
        Self {
            slots: [[0; Job::SIZE]; PUSH_SLOTS as usize],
            full: 0,
        }
    }
}

impl PushWindow {
    /// A write of the host, in words of 32 bits; `offset` counts from the window's start.
    fn write(&mut self, offset: usize, bytes: &[u8]) {
        for (n, word) in bytes.chunks_exact(4).enumerate() {
            let at = offset + 4 * n;
            let slot = at / Job::SIZE;
            let Some(bytes) = self.slots.get_mut(slot) else {
                return;
            };
            bytes[at % Job::SIZE..][..4].copy_from_slice(word);
            match at % Job::SIZE {
                // Whatever was in it.
                Job::NUMBER_AT => self.full &= !(1 << slot),
                LAST_WORD => self.full |= 1 << slot,
                _ => {}
            }
        }
    }

    /// The job of this number, if it is there.
    fn get(&self, number: u32) -> Option<&[u8; Job::SIZE]> {
        let slot = number % PUSH_SLOTS;
        let job = self.slots.get(slot as usize)?;
        let at = &job[Job::NUMBER_AT..Job::NUMBER_AT + 4];
        let there = self.full & 1 << slot != 0 && at == &number.to_le_bytes()[..];
        there.then_some(job)
    }

    fn take(&mut self, number: u32) -> Option<[u8; Job::SIZE]> {
        let job = *self.get(number)?;
        self.full &= !(1 << (number % PUSH_SLOTS));
        Some(job)
    }
}

impl Transmit {
    /// Of a card whose replay jobs may have so many bytes.
    pub fn new(max_replay: u32) -> Self {
        Self {
            max_replay,
            ..Self::default()
        }
    }

    /// A new ring.
    pub fn set_log2(&mut self, log2: u8) {
        *self = Self {
            base: self.base,
            ring: self.base,
            log2,
            identification: self.identification,
            max_replay: self.max_replay,
            ..Self::default()
        };
    }

    /// log2 of the slots.
    pub fn log2(&self) -> u8 {
        self.log2
    }

    /// Doorbell.
    pub fn set_tail(&mut self, tail: u32) {
        self.tail = tail;
    }

    /// Jobs finished.
    pub fn done(&self) -> u32 {
        self.done
    }

    /// A write into the push window, at this offset of the doorbells.
    pub fn push(&mut self, offset: u32, bytes: &[u8]) {
        let from_start = offset.saturating_sub(doorbell::JOB_PUSH);
        self.push.write(from_start as usize, bytes);
    }

    /// Is there a job to run?
    pub fn has_work(&self) -> bool {
        (1..=16).contains(&self.log2) && (self.in_ring() || self.push.get(self.done).is_some())
    }

    /// The next job is in the ring.
    fn in_ring(&self) -> bool {
        (self.tail.wrapping_sub(self.done) as i32) > 0
    }

    /// Runs the next job; its frames go to `frames`. `Err`: some DMA read failed.
    pub fn run(
        &mut self,
        rows: &[FlowTxRow],
        memory: &mut dyn HostMemory,
        counters: &mut Counters,
        reports: &mut ReportRing,
        trace: &mut Trace,
        frames: &mut VecDeque<Outgoing>,
    ) -> Result<(), Fault> {
        let number = self.done;
        let mut slot = [0; Job::SIZE];
        let address = self.ring + u64::from(number & ((1 << self.log2) - 1)) * Job::SIZE as u64;
        let pushed = (!self.in_ring()).then(|| self.push.take(number)).flatten();
        counters.count(Counter::TxJobs);
        let read = match pushed {
            Some(job) => {
                slot = job;
                Ok(())
            }
            None => {
                counters.count(Counter::DmaReadRequests);
                memory.read(address, &mut slot)
            }
        };
        let begin = TraceEntry {
            kind: trace_kind::JOB_BEGIN,
            flow: NO_FLOW,
            value: number,
            ..TraceEntry::default()
        };
        let (job, outcome) = match read {
            Err(fault) => {
                trace.record(begin);
                (Job::default(), Err(Failure::ReadError(fault)))
            }
            Ok(()) => {
                let job = Job::from_bytes(&slot);
                trace.record(TraceEntry {
                    detail: job.kind,
                    flow: job.flow,
                    info: job.length.min(65535) as u16,
                    ..begin
                });
                let outcome = self.execute(&job, &slot, rows, memory, frames, counters);
                (job, outcome)
            }
        };
        self.done = self.done.wrapping_add(1);
        let status = match &outcome {
            Ok(()) => JobStatus::Done,
            Err(Failure::Malformed) => {
                counters.count(Counter::TxJobsBad);
                JobStatus::Malformed
            }
            Err(Failure::ReadError(_)) => {
                counters.count(Counter::TxReadErrors);
                JobStatus::ReadError
            }
        };
        trace.record(TraceEntry {
            kind: trace_kind::JOB_DONE,
            detail: status.raw(),
            flow: job.flow,
            value: number,
            ..TraceEntry::default()
        });
        if status != JobStatus::Done || job.notify() {
            let report = JobReport {
                kind: ReportKind::Job.raw(),
                status: status.raw(),
                flow: job.flow,
                job: number,
                ..JobReport::default()
            };
            reports.push_job(&report, counters);
        }
        if let Err(Failure::ReadError(fault)) = outcome {
            counters.count(Counter::DmaReadErrors);
            return Err(fault);
        }
        Ok(())
    }

    fn execute(
        &mut self,
        job: &Job,
        slot: &[u8; Job::SIZE],
        rows: &[FlowTxRow],
        memory: &mut dyn HostMemory,
        frames: &mut VecDeque<Outgoing>,
        counters: &mut Counters,
    ) -> Result<(), Failure> {
        let mut payload = Payload::new(job, slot)?;
        let length = job.length as usize;
        let kind = job.kind().map_err(|_| Failure::Malformed)?;
        if kind == JobKind::RawFrame {
            if !(ethernet::ETHERNET..=MAX_FRAME).contains(&length) {
                return Err(Failure::Malformed);
            }
            frames.push_back(Outgoing {
                bytes: payload.take(length, memory)?,
                ..Outgoing::default()
            });
            return Ok(());
        }
        let row = rows
            .get(usize::from(job.flow))
            .filter(|row| row.valid())
            .ok_or(Failure::Malformed)?;
        match kind {
            JobKind::Segment if length <= MAX_PAYLOAD => {
                if job.append_crc() && (length == 0 || length % 4 != 0 || length > MAX_PAYLOAD - 4)
                {
                    return Err(Failure::Malformed);
                }
                let mut bytes = payload.take(length, memory)?;
                if job.append_crc() {
                    let crc = crc32c::crc32c(&bytes);
                    bytes.extend_from_slice(&crc.to_le_bytes());
                }
                let id = self.next_identification();
                frames.push_back(Outgoing {
                    bytes: ethernet::segment(row, job, job.seq, job.tcp_flags, id, &bytes),
                    segment: true,
                    ..Outgoing::default()
                });
                Ok(())
            }
            JobKind::Replay if (1..=self.max_replay as usize).contains(&length) => {
                let replay = ReplayJob::from_bytes(&job.to_bytes());
                let replay = Replay {
                    flow: replay.flow,
                    seq: replay.seq,
                    follows: replay.follows(),
                    msn: replay.msn,
                    mo: replay.mo,
                };
                frames.push_back(Outgoing {
                    bytes: payload.take(length, memory)?,
                    replay: Some(replay),
                    ..Outgoing::default()
                });
                Ok(())
            }
            JobKind::Message => self.message(job, row, payload, memory, frames, counters),
            _ => Err(Failure::Malformed),
        }
    }

    fn message(
        &mut self,
        job: &Job,
        row: &FlowTxRow,
        mut payload: Payload,
        memory: &mut dyn HostMemory,
        frames: &mut VecDeque<Outgoing>,
        counters: &mut Counters,
    ) -> Result<(), Failure> {
        let (length, step) = (job.length as usize, usize::from(job.fpdu_payload));
        let phase = job.seq.wrapping_sub(row.marker_base) % 4;
        if length > 0 && (step == 0 || step.min(length) > MAX_PAYLOAD)
            || row.markers() && phase != 0
        {
            return Err(Failure::Malformed);
        }
        let markers = row.markers().then_some(row.marker_base);
        let (mut seq, mut at) = (job.seq, 0);
        loop {
            let count = step.min(length - at);
            let final_one = at + count == length;
            let mut ulpdu = ddp_header(job, at as u64, final_one && job.last());
            ulpdu.extend_from_slice(&payload.take(count, memory)?);
            let fpdu = mpa::frame(seq, markers, row.crc(), &ulpdu);
            let flags = if final_one {
                job.tcp_flags
            } else {
                job.tcp_flags & !flag::PSH
            };
            let length = fpdu.len() as u32;
            let next = Open {
                flow: job.flow,
                row: *row,
                ect: job.ect(),
                seq,
                flags,
                id: self.identification,
                fpdus: 1,
                payload: fpdu,
            };
            self.send(job, next, frames, counters);
            counters.count(Counter::TxFpdus);
            seq = seq.wrapping_add(length);
            at += count;
            if final_one {
                return Ok(());
            }
        }
    }

    /// Makes a segment of an FPDU, or puts it into the one before, which waits.
    fn send(
        &mut self,
        job: &Job,
        mut open: Open,
        frames: &mut VecDeque<Outgoing>,
        counters: &mut Counters,
    ) {
        let before = frames.back_mut().and_then(|frame| frame.open.take());
        match before.filter(|before| before.takes(&open)) {
            Some(before) => {
                open.seq = before.seq;
                open.flags |= before.flags;
                open.id = before.id;
                open.fpdus += before.fpdus;
                open.payload = [before.payload, open.payload].concat();
                frames.pop_back();
                counters.count(Counter::TxFpdusPacked);
            }
            None => {
                self.next_identification();
            }
        }
        frames.push_back(Outgoing {
            bytes: ethernet::segment(&open.row, job, open.seq, open.flags, open.id, &open.payload),
            segment: true,
            fpdu: true,
            replay: None,
            open: (open.row.pack != 0).then_some(open),
        });
    }

    fn next_identification(&mut self) -> u16 {
        let id = self.identification;
        self.identification = id.wrapping_add(1);
        id
    }
}

/// The DDP header of the FPDU whose payload begins `at` bytes into the job's (RFC 5041 §4).
fn ddp_header(job: &Job, at: u64, last: bool) -> Vec<u8> {
    let tagged = job.tagged();
    let control =
        if tagged { 0x80 } else { 0 } | if last { 0x40 } else { 0 } | (job.ddp_rsvd & 0x3c) | 1;
    let mut header = vec![control, job.rdmap_control];
    let place = job.to_or_mo.wrapping_add(at);
    if tagged {
        header.extend_from_slice(&job.stag_or_qn.to_be_bytes());
        header.extend_from_slice(&place.to_be_bytes());
    } else {
        header.extend_from_slice(&job.rsvd_ulp.to_be_bytes());
        header.extend_from_slice(&job.stag_or_qn.to_be_bytes());
        header.extend_from_slice(&job.msn.to_be_bytes());
        header.extend_from_slice(&(place as u32).to_be_bytes());
    }
    header
}

/// The payload bytes of a job, taken from the front.
enum Payload {
    Inline(VecDeque<u8>),
    Gather(VecDeque<(u64, u32)>),
}

impl Payload {
    fn new(job: &Job, slot: &[u8; Job::SIZE]) -> Result<Self, Failure> {
        let length = job.length as usize;
        if job.inline_payload() {
            if length > 64 || job.sge_count != 0 {
                return Err(Failure::Malformed);
            }
            return Ok(Payload::Inline(
                slot[64..64 + length].iter().copied().collect(),
            ));
        }
        let all = [
            (job.sge0_iova, job.sge0_length),
            (job.sge1_iova, job.sge1_length),
            (job.sge2_iova, job.sge2_length),
            (job.sge3_iova, job.sge3_length),
        ];
        let sges = all
            .get(..usize::from(job.sge_count))
            .ok_or(Failure::Malformed)?;
        if sges.iter().map(|s| u64::from(s.1)).sum::<u64>() != u64::from(job.length) {
            return Err(Failure::Malformed);
        }
        Ok(Payload::Gather(
            sges.iter().copied().filter(|s| s.1 != 0).collect(),
        ))
    }

    fn take(&mut self, count: usize, memory: &mut dyn HostMemory) -> Result<Vec<u8>, Failure> {
        match self {
            Payload::Inline(bytes) => Ok(bytes.drain(..count.min(bytes.len())).collect()),
            Payload::Gather(sges) => {
                let mut bytes = vec![0; count];
                let mut at = 0;
                while at < count {
                    let (iova, left) = sges.front_mut().ok_or(Failure::Malformed)?;
                    let n = (*left as usize).min(count - at);
                    memory
                        .read(*iova, &mut bytes[at..at + n])
                        .map_err(Failure::ReadError)?;
                    *iova = iova.wrapping_add(n as u64);
                    *left -= n as u32;
                    at += n;
                    if *left == 0 {
                        sges.pop_front();
                    }
                }
                Ok(bytes)
            }
        }
    }
}
