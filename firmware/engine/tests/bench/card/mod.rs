//! A small card for tests: what `docs/card.md` says, in plain Rust and without any hurry. FPDUs are the
//! judge's.

mod islands;
mod receive;
mod replay;
mod slots;
mod transmit;

use std::collections::VecDeque;

use weft_engine::{Full, HashSecret, MemoryError, Port};
use weft_layout::{
    count_near, job_kind, stands_for_both, table, AttachRow, FlowKeyRow, FlowRxRow, FlowTxRow, Job,
    ReceiveElement, StagRow,
};

/// IOVA of the first byte of host memory.
pub const MEMORY: u64 = 0x10_0000;

/// The largest send buffer of a flow.
pub const SEND_MEMORY: u64 = 1 << 17;
/// Slots of the job ring: `Card::ring` is how many of them are used.
const JOB_SLOTS: usize = 1024;

/// A report and its raw frame.
pub type Report = ([u8; 64], Option<Vec<u8>>);

fn is_attached(row: &AttachRow) -> bool {
    row.attached & AttachRow::ATTACHED != 0
}

#[derive(Clone, Default)]
struct Flow {
    rx: FlowRxRow,
    tx: FlowTxRow,
    attach: AttachRow,
    rq_tail: u32,
    /// Octets of an FPDU that goes on in the next segment.
    carried: Vec<u8>,
    /// Ranges beyond a gap that are placed.
    islands: Vec<islands::Island>,
}

/// The card and its host's memory.
pub struct Card {
    pub memory: Vec<u8>,
    pub mac: [u8; 6],
    flows: Vec<Flow>,
    keys: Vec<FlowKeyRow>,
    stags: Vec<StagRow>,
    /// HASH_SECRET.
    pub secret: HashSecret,
    /// The job ring: a job's slot is its number modulo its length.
    jobs: Vec<[u8; 128]>,
    posted: u32,
    done: u32,
    known_done: u32,
    next_iova: u64,
    /// Job slots.
    pub ring: usize,
    /// Frames on their way out.
    pub out: Vec<Vec<u8>>,
    /// What the last of them has of FPDUs, if another may join it.
    open: Option<transmit::Open>,
    /// FPDUs sent that are not the first of their segment.
    pub packed: u32,
    pub reports: VecDeque<Report>,
    slots: slots::Slots,
    /// Frames put into slots, and of these the ones whose reports were handed over.
    raw_tail: u32,
    raw_seen: u32,
    /// Replays done, by their outcome.
    pub replays: [u32; 4],
    /// Payload of a replay at most (JOB_REPLAY).
    pub most_replayed: usize,
    /// Every replay is refused.
    pub no_replay: bool,
    /// The next replay is stopped behind so many octets, whole FPDUs: a port that is stopped refuses the rest.
    pub stops_replay: Option<usize>,
    pub refused: u32,
    pub placed: u64,
    /// Segments whose last FPDU was carried to the next one.
    pub carried: u32,
    /// Segments placed beyond a gap.
    pub beyond: u32,
    /// Octets that the engine has placed.
    pub placed_by_hand: u64,
    /// Terminate codes of the FPDUs in which an error was found.
    pub errors: Vec<u16>,
    /// Rows written.
    pub writes: usize,
    /// Reports that the host has not handled are on their way to it, so that it does not see them.
    pub reports_on_way: bool,
    /// Never attach (everything goes by the engine's hands).
    pub no_attach: bool,
    /// The ring is full until the host looks: bare acknowledgments are merged, and so many were.
    pub merges: bool,
    pub merged: u32,
}

impl Card {
    pub fn new(mac: [u8; 6], flows: u16, stags: u32) -> Self {
        Card {
            memory: vec![0; 9 << 20],
            mac,
            flows: vec![Flow::default(); usize::from(flows)],
            keys: vec![FlowKeyRow::default(); 2 * usize::from(flows)],
            stags: vec![StagRow::default(); stags as usize],
            secret: HashSecret::default(),
            jobs: vec![[0; 128]; JOB_SLOTS],
            posted: 0,
            done: 0,
            known_done: 0,
            next_iova: MEMORY + (4 << 20),
            ring: 64,
            out: Vec::new(),
            open: None,
            packed: 0,
            reports: VecDeque::new(),
            slots: slots::Slots::default(),
            raw_tail: 0,
            raw_seen: 0,
            replays: [0; 4],
            most_replayed: usize::MAX,
            no_replay: false,
            stops_replay: None,
            refused: 0,
            placed: 0,
            carried: 0,
            beyond: 0,
            placed_by_hand: 0,
            errors: Vec::new(),
            writes: 0,
            reports_on_way: false,
            no_attach: false,
            merges: false,
            merged: 0,
        }
    }

    pub fn bytes(&mut self, iova: u64, length: usize) -> Option<&mut [u8]> {
        if iova >= slots::SLOTS {
            return self.slots.bytes(iova, length);
        }
        let at = usize::try_from(iova.checked_sub(MEMORY)?).ok()?;
        self.memory.get_mut(at..at.checked_add(length)?)
    }

    /// It has so many raw slots.
    pub fn raw_slots(&mut self, count: usize) {
        self.slots.resize(count);
    }

    /// Flows that it has.
    pub fn attached(&self) -> usize {
        let attached = self.flows.iter().filter(|flow| is_attached(&flow.attach));
        attached.count()
    }

    /// So many jobs have been done before this engine came.
    pub fn jobs_begin_at(&mut self, number: u32) {
        (self.posted, self.done, self.known_done) = (number, number, number);
    }

    /// The row of an STag.
    /// Where it sends what is of this flow.
    pub fn station_of(&self, flow: usize) -> [u8; 6] {
        self.flows[flow].tx.remote_mac
    }

    pub fn stag_row(&self, stag: u32) -> StagRow {
        self.stags[(stag >> 8) as usize]
    }

    fn report(&mut self, report: [u8; 64], raw: Option<&[u8]>) {
        let mut report = report;
        report[56..59].copy_from_slice(&self.done.to_le_bytes()[..3]);
        if let Some(frame) = raw {
            let slot = self.slots.put(frame);
            self.raw_tail = self.raw_tail.wrapping_add(1);
            report[28..30].copy_from_slice(&slot.to_le_bytes());
        }
        self.reports.push_back((report, raw.map(<[u8]>::to_vec)));
    }

    /// Leaves out what a card leaves out of a full ring.
    pub fn merge(&mut self) {
        let mut at = 0;
        while self.merges && at + 2 < self.reports.len() {
            if stands_for_both([0, 1, 2].map(|n| &self.reports[at + n].0)) {
                self.reports.remove(at + 1);
                self.merged += 1;
            } else {
                at += 1;
            }
        }
    }

    /// The next report, for a host that copies the frame out of its slot.
    pub fn take_report(&mut self) -> Option<Report> {
        let report = self.next_report()?;
        if report.1.is_some() {
            self.slots.copied(replay::slot_of(&report.0));
        }
        Some(report)
    }

    /// Hands a report to the engine: what it says about jobs is known from now on.
    pub fn next_report(&mut self) -> Option<Report> {
        let report = self.reports.pop_front()?;
        let low = u32::from_le_bytes(report.0[56..60].try_into().unwrap()) & 0xff_ffff;
        self.known_done = count_near(self.known_done, low);
        self.raw_seen = self.raw_seen.wrapping_add(report.1.is_some().into());
        Some(report)
    }
}

impl Port for Card {
    fn post_job(&mut self, slot: &[u8; Job::SIZE]) -> Result<u32, Full> {
        self.slot_for(slot.len())?.copy_from_slice(slot);
        Ok(self.number_it())
    }

    fn post_bare_job(&mut self, half: &[u8; Job::SIZE / 2]) -> Result<u32, Full> {
        self.slot_for(half.len())?.copy_from_slice(half);
        Ok(self.number_it())
    }

    fn send_frame(&mut self, frame: &[u8]) -> Result<(), Full> {
        self.slot_for(0)?;
        // A bounce buffer: the frame is copied, and lies in host memory until it is sent.
        let at = MEMORY + (6 << 20) + u64::from(self.posted % 256) * 2048;
        self.bytes(at, frame.len()).unwrap().copy_from_slice(frame);
        let job = Job {
            kind: job_kind::RAW_FRAME,
            sge_count: 1,
            length: frame.len() as u32,
            sge0_iova: at,
            sge0_length: frame.len() as u32,
            ..Default::default()
        };
        self.post_job(&job.to_bytes()).map(|_| ())
    }

    fn jobs_done(&self) -> u32 {
        self.known_done
    }

    fn refresh_jobs_done(&mut self) -> u32 {
        self.known_done = self.done;
        self.done
    }

    fn write_table(&mut self, number: u8, index: u32, row: &[u8; 64]) {
        self.writes += 1;
        let index = index as usize;
        match number {
            table::FLOW_KEY => self.keys[index] = FlowKeyRow::from_bytes(row),
            table::FLOW_RX => self.flows[index].rx = FlowRxRow::from_bytes(row),
            table::FLOW_TX => self.flows[index].tx = FlowTxRow::from_bytes(row),
            table::STAG => self.stags[index] = StagRow::from_bytes(row),
            _ => panic!("table {number}"),
        }
    }

    fn read_table(&mut self, number: u8, index: u32) -> [u8; 64] {
        match number {
            table::ATTACH => self.flows[index as usize].attach.to_bytes(),
            _ => panic!("table {number}"),
        }
    }

    fn raw_seen(&self) -> u32 {
        self.raw_seen
    }

    fn has_report(&self) -> bool {
        !self.reports_on_way && !self.reports.is_empty()
    }

    fn attach(&mut self, flow: u16, row: &AttachRow) -> bool {
        let mark = self.flows[usize::from(flow)].attach.raw_seen;
        let state = &mut self.flows[usize::from(flow)].attach;
        if row.freshen() {
            let valid = row.attached & AttachRow::TS_RECENT_VALID;
            if is_attached(state) {
                state.attached = AttachRow::ATTACHED | valid;
                state.ts_recent = row.ts_recent;
            }
            return is_attached(state);
        }
        // Told exactly: numbers of slots as they are.
        let seen = mark.wrapping_sub(row.raw_seen) as i32 <= 0;
        if is_attached(row) && (!seen || self.no_attach) {
            self.refused += 1;
            return false;
        }
        *state = AttachRow {
            raw_seen: mark,
            ..*row
        };
        self.flows[usize::from(flow)].carried.clear();
        self.flows[usize::from(flow)].islands.clear();
        true
    }

    fn write_element(&mut self, flow: u16, slot: u32, element: &ReceiveElement) {
        // Element memory is where `rq_memory` says.
        let at = MEMORY + (7 << 20) + u64::from(flow) * 4096 * 4 + u64::from(slot) * 64;
        self.bytes(at, 64)
            .unwrap()
            .copy_from_slice(&element.to_bytes());
    }

    fn rq_tail(&mut self, flow: u16, posted: u32) {
        self.flows[usize::from(flow)].rq_tail = posted;
    }

    fn rq_memory(&mut self, flow: u16, log2: u8) -> Option<u64> {
        let _ = self.next_iova;
        (log2 <= 8).then(|| MEMORY + (7 << 20) + u64::from(flow) * 4096 * 4)
    }

    fn send_memory(&mut self, flow: u16, bytes: u32) -> Option<u64> {
        // Behind everything else.
        let at = MEMORY + (8 << 20) + u64::from(flow) * SEND_MEMORY;
        if u64::from(bytes) > SEND_MEMORY {
            return None;
        }
        self.bytes(at, bytes as usize).map(|_| at)
    }

    fn slot_at(&self, slot: u16) -> Option<u64> {
        self.slots.at(slot)
    }

    fn copy_slot(&mut self, slot: u16, at: usize, bytes: &mut [u8]) -> Result<(), MemoryError> {
        bytes.copy_from_slice(self.slots.lent(slot, at, bytes.len()));
        Ok(())
    }

    fn copy_in(&mut self, iova: u64, bytes: &[u8]) -> Result<(), MemoryError> {
        self.placed_by_hand += bytes.len() as u64;
        self.bytes(iova, bytes.len())
            .ok_or(MemoryError)?
            .copy_from_slice(bytes);
        Ok(())
    }

    fn copy_out(&mut self, iova: u64, bytes: &mut [u8]) -> Result<(), MemoryError> {
        let length = bytes.len();
        bytes.copy_from_slice(self.bytes(iova, length).ok_or(MemoryError)?);
        Ok(())
    }
}
