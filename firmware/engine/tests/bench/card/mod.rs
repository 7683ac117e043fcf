//! A small card for tests: what `docs/card.md` says, in plain Rust and without any hurry.

use std::collections::VecDeque;

use super::{ecn, set_ecn, ECT};
use weft_engine::{Full, MemoryError, Port};
use weft_layout::{
    fpdu_verdict, job_kind, job_status, refusal, report_kind, table, AttachRow, FlowKeyRow,
    FlowRxRow, FlowTxRow, FpduReport, FrameReport, Job, JobReport, PlacedReport, ReceiveElement,
    SegmentReport, StagRow,
};
use weft_wire::crc32c::crc32c;
use weft_wire::ddp::{self, DdpHeader, Target};
use weft_wire::ethernet::EthernetHeader;
use weft_wire::fpdu::{self, FpduError, Markers};
use weft_wire::ipv4::{protocol, Ipv4Packet};
use weft_wire::rdmap;
use weft_wire::tcp::{flag, FrameHeader, Options, TcpSegment};

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
}

/// The card and its host's memory.
pub struct Card {
    pub memory: Vec<u8>,
    pub mac: [u8; 6],
    flows: Vec<Flow>,
    keys: Vec<FlowKeyRow>,
    stags: Vec<StagRow>,
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
    pub reports: VecDeque<Report>,
    pub refused: u32,
    pub placed: u64,
    /// Never attach (everything goes by the engine's hands).
    pub no_attach: bool,
}

impl Card {
    pub fn new(mac: [u8; 6], flows: u16, stags: u32) -> Self {
        Card {
            memory: vec![0; 9 << 20],
            mac,
            flows: vec![Flow::default(); usize::from(flows)],
            keys: vec![FlowKeyRow::default(); 2 * usize::from(flows)],
            stags: vec![StagRow::default(); stags as usize],
            jobs: vec![[0; 128]; JOB_SLOTS],
            posted: 0,
            done: 0,
            known_done: 0,
            next_iova: MEMORY + (4 << 20),
            ring: 64,
            out: Vec::new(),
            reports: VecDeque::new(),
            refused: 0,
            placed: 0,
            no_attach: false,
        }
    }

    pub fn bytes(&mut self, iova: u64, length: usize) -> Option<&mut [u8]> {
        let at = usize::try_from(iova.checked_sub(MEMORY)?).ok()?;
        self.memory.get_mut(at..at.checked_add(length)?)
    }

    /// So many jobs have been done before this engine came.
    pub fn jobs_begin_at(&mut self, number: u32) {
        (self.posted, self.done, self.known_done) = (number, number, number);
    }

    /// The row of an STag.
    pub fn stag_row(&self, stag: u32) -> StagRow {
        self.stags[(stag >> 8) as usize]
    }

    fn report(&mut self, report: [u8; 64], raw: Option<&[u8]>) {
        let mut report = report;
        report[56..60].copy_from_slice(&self.done.to_le_bytes());
        self.reports.push_back((report, raw.map(<[u8]>::to_vec)));
    }

    /// Hands a report to the engine: what it says about jobs is known from now on.
    pub fn take_report(&mut self) -> Option<Report> {
        let report = self.reports.pop_front()?;
        self.known_done = u32::from_le_bytes(report.0[56..60].try_into().unwrap());
        Some(report)
    }

    // ------------------------------------------------------------------ transmit

    /// The first so many bytes of the next job's slot.
    fn slot_for(&mut self, bytes: usize) -> Result<&mut [u8], Full> {
        if self.posted.wrapping_sub(self.done) as usize >= self.ring {
            return Err(Full);
        }
        Ok(&mut self.jobs[self.posted as usize % JOB_SLOTS][..bytes])
    }

    /// The job in the next slot is posted: its number.
    fn number_it(&mut self) -> u32 {
        let number = self.posted;
        let slot = &mut self.jobs[number as usize % JOB_SLOTS];
        slot[Job::NUMBER_AT..Job::NUMBER_AT + 4].copy_from_slice(&number.to_le_bytes());
        self.posted = number.wrapping_add(1);
        number
    }

    /// Runs all jobs posted so far.
    pub fn run_jobs(&mut self) {
        while self.done != self.posted {
            let slot = self.jobs[self.done as usize % JOB_SLOTS];
            let job = Job::from_bytes(&slot);
            let status = self.run_job(&job, &slot);
            if status != job_status::DONE {
                let report = JobReport {
                    kind: report_kind::JOB,
                    status,
                    flow: job.flow,
                    job: self.done,
                    ..Default::default()
                };
                self.done = self.done.wrapping_add(1);
                self.report(report.to_bytes(), None);
            } else {
                self.done = self.done.wrapping_add(1);
            }
        }
    }

    fn run_job(&mut self, job: &Job, slot: &[u8; 128]) -> u8 {
        let mut payload = Vec::new();
        if job.inline_payload() {
            assert_eq!(job.sge_count, 0);
            payload.extend_from_slice(&slot[64..64 + job.length as usize]);
        } else {
            let sges = [
                (job.sge0_iova, job.sge0_length),
                (job.sge1_iova, job.sge1_length),
                (job.sge2_iova, job.sge2_length),
                (job.sge3_iova, job.sge3_length),
            ];
            for (iova, length) in &sges[..usize::from(job.sge_count)] {
                assert!(*length > 0, "an SGE without bytes");
                match self.bytes(*iova, *length as usize) {
                    Some(bytes) => payload.extend_from_slice(bytes),
                    None => return job_status::READ_ERROR,
                }
            }
        }
        assert_eq!(payload.len(), job.length as usize);
        let row = self.flows[usize::from(job.flow)].tx;
        match job.kind {
            job_kind::RAW_FRAME => self.out.push(payload),
            job_kind::SEGMENT => self.segment(&row, job, job.seq, job.tcp_flags, &payload),
            job_kind::MESSAGE => {
                if !row.valid() {
                    return job_status::MALFORMED;
                }
                self.message(&row, job, &payload);
            }
            _ => return job_status::MALFORMED,
        }
        job_status::DONE
    }

    fn segment(&mut self, row: &FlowTxRow, job: &Job, seq: u32, flags: u8, payload: &[u8]) {
        assert!(row.valid(), "no FLOW_TX row");
        let mut options = Options::default();
        if row.timestamps() {
            options.timestamps = Some((job.ts_val, job.ts_ecr));
        }
        let header = FrameHeader {
            source_mac: row.local_mac,
            destination_mac: row.remote_mac,
            source_ip: row.local_ip,
            destination_ip: row.remote_ip,
            identification: 0,
            source_port: u16::from_be_bytes(row.local_port),
            destination_port: u16::from_be_bytes(row.remote_port),
            seq,
            ack: job.ack,
            flags,
            window: job.window,
            options,
        };
        let mut frame = vec![0; payload.len() + 100];
        let length = header.write(payload, &mut frame).unwrap();
        frame.truncate(length);
        if job.ect() {
            set_ecn(&mut frame, ECT);
        }
        assert!(frame.len() <= 1514, "a frame of {} bytes", frame.len());
        self.out.push(frame);
    }

    fn message(&mut self, row: &FlowTxRow, job: &Job, payload: &[u8]) {
        assert!(job.fpdu_payload > 0 || payload.is_empty());
        let markers = Markers(row.markers().then_some(row.marker_base));
        let mut chunks: Vec<&[u8]> = payload
            .chunks(usize::from(job.fpdu_payload.max(1)))
            .collect();
        if chunks.is_empty() {
            chunks.push(&[]);
        }
        let (mut seq, mut offset) = (job.seq, 0u64);
        let count = chunks.len();
        for (index, chunk) in chunks.into_iter().enumerate() {
            let end = index + 1 == count;
            let last = end && job.last();
            let at = job.to_or_mo.wrapping_add(offset);
            let header = if job.tagged() {
                DdpHeader::tagged(last, job.rdmap_control, job.stag_or_qn, at)
            } else {
                DdpHeader::untagged(
                    last,
                    job.rdmap_control,
                    job.rsvd_ulp,
                    job.stag_or_qn,
                    job.msn,
                    at as u32,
                )
            };
            let mut out = vec![0; chunk.len() + 2000];
            let head = &header.to_bytes()[..header.length()];
            let crc = row.crc();
            let length = fpdu::encode(&[head, chunk], seq, markers, crc, &mut out).unwrap();
            let flags = if end {
                job.tcp_flags
            } else {
                job.tcp_flags & !flag::PSH
            };
            self.segment(row, job, seq, flags, &out[..length]);
            seq = seq.wrapping_add(length as u32);
            offset += chunk.len() as u64;
        }
    }

    // ------------------------------------------------------------------ receive

    /// A frame from the wire.
    pub fn receive(&mut self, frame: &[u8]) {
        let Some((ethernet, packet)) = EthernetHeader::parse(frame) else {
            return;
        };
        if ethernet.destination != self.mac && ethernet.destination[0] & 1 == 0 {
            return;
        }
        let packet = match (ethernet.ethertype, Ipv4Packet::parse(packet)) {
            (0x0800, Ok(packet)) => Some(packet),
            (0x0800, Err(_)) => return,
            _ => None,
        };
        if let Some(packet) = packet {
            let own = ethernet.destination == self.mac;
            if packet.protocol == protocol::TCP && !packet.fragment && own {
                let Ok(mut segment) =
                    TcpSegment::parse(packet.source, packet.destination, packet.payload)
                else {
                    return;
                };
                if let Some(flow) = self.lookup(&packet, &segment) {
                    if packet.has_options {
                        segment.options = Options::default();
                    }
                    self.flow_segment(flow, &segment, packet.has_options, frame);
                    return;
                }
            }
        }
        let report = FrameReport {
            kind: report_kind::FRAME,
            raw_len: frame.len() as u16,
            ..Default::default()
        };
        self.report(report.to_bytes(), Some(frame));
    }

    pub fn epoch_of(&self, flow: u16) -> u8 {
        self.flows[usize::from(flow)].rx.epoch
    }

    fn lookup(&self, packet: &Ipv4Packet<'_>, segment: &TcpSegment<'_>) -> Option<u16> {
        let mut key = Vec::new();
        key.extend_from_slice(&packet.source);
        key.extend_from_slice(&packet.destination);
        key.extend_from_slice(&segment.source_port.to_be_bytes());
        key.extend_from_slice(&segment.destination_port.to_be_bytes());
        let hash = crc32c(&key);
        let flows = self.flows.len();
        let bucket = |bits: u32| 2 * (bits as usize & (flows / 2 - 1));
        let (low, high) = (bucket(hash), flows + bucket(hash >> 16));
        [low, low + 1, high, high + 1]
            .iter()
            .map(|place| &self.keys[*place])
            .find(|row| {
                row.valid == FlowKeyRow::VALID
                    && row.remote_ip == packet.source
                    && row.local_ip == packet.destination
                    && row.remote_port == segment.source_port.to_be_bytes()
                    && row.local_port == segment.destination_port.to_be_bytes()
            })
            .map(|row| row.flow)
    }

    fn flow_segment(
        &mut self,
        flow: u16,
        segment: &TcpSegment<'_>,
        ip_options: bool,
        frame: &[u8],
    ) {
        let length = segment.payload.len();
        let mut report = SegmentReport {
            kind: report_kind::SEGMENT,
            flow,
            seq: segment.seq,
            ack: segment.ack,
            window: segment.window,
            tcp_flags: segment.flags,
            payload_len: length as u16,
            ecn: ecn(frame),
            ..Default::default()
        };
        if let Some((value, echo)) = segment.options.timestamps {
            report.flags |= SegmentReport::TIMESTAMPS;
            report.ts_val = value;
            report.ts_ecr = echo;
        }
        let blocks = segment.options.sack.as_slice();
        let at = |n: usize| blocks.get(n).copied().unwrap_or_default();
        report.flags |= (blocks.len().min(3) as u8) << SegmentReport::SACK_COUNT_SHIFT;
        (report.sack0_left, report.sack0_right) = at(0);
        (report.sack1_left, report.sack1_right) = at(1);
        (report.sack2_left, report.sack2_right) = at(2);

        let control = segment.flags & (flag::SYN | flag::RST) != 0;
        let state = self.flows[usize::from(flow)].clone();
        let (mut raw, mut fpdus) = (false, Vec::new());
        if length == 0 {
            raw = control || ip_options;
        } else if control {
            raw = true;
        } else if segment.flags & flag::ACK == 0 {
            report.status = refusal::NO_ACK;
        } else if !state.rx.valid() || !is_attached(&state.attach) {
            raw = true;
            self.bump(flow, false);
        } else {
            let s = state.attach.rcv_nxt;
            let ahead = i64::from(segment.seq.wrapping_add(length as u32).wrapping_sub(s) as i32);
            // Behind IP options the TCP options are not read: the engine reads them in the raw frame.
            let with_timestamps = state.rx.timestamps() && !ip_options;
            let ts_old = |value: u32| {
                state.attach.attached & AttachRow::TS_RECENT_VALID != 0
                    && value.wrapping_sub(state.attach.ts_recent) >= 1 << 31
            };
            let timestamp = segment.options.timestamps.map(|(value, _)| value);
            if with_timestamps && timestamp.is_none() {
                report.status = refusal::NO_TIMESTAMP;
            } else if with_timestamps && timestamp.is_some_and(ts_old) {
                report.status = refusal::PAWS;
            } else if ahead <= 0 {
                report.flags |= SegmentReport::DUPLICATE;
            } else if state.attach.window > 0 && ahead > i64::from(state.attach.window) {
                report.status = refusal::WINDOW;
            } else if segment.seq != s || segment.flags & flag::URG != 0 || ip_options {
                raw = true;
                self.bump(flow, true);
            } else {
                let (done, whole, engine) = self.walk(flow, segment, &mut fpdus);
                report.done_len = done as u16;
                let row = &mut self.flows[usize::from(flow)].attach;
                row.rcv_nxt = segment.seq.wrapping_add(done as u32);
                if let (true, Some(value)) = (with_timestamps, timestamp) {
                    row.ts_recent = value;
                    row.attached |= AttachRow::TS_RECENT_VALID;
                }
                raw = engine || !whole;
                if !whole {
                    self.bump(flow, true);
                }
            }
        }
        let row = &self.flows[usize::from(flow)].attach;
        report.raw_count = row.raw_count;
        report.epoch = self.flows[usize::from(flow)].rx.epoch;
        for (on, bit) in [
            (is_attached(row), SegmentReport::ATTACHED),
            (raw, SegmentReport::RAW),
        ] {
            report.flags |= if on { bit } else { 0 };
        }
        report.raw_len = if raw { frame.len() as u16 } else { 0 };
        // One report for a segment of one FPDU that was placed.
        if let [fpdu] = &fpdus[..] {
            if let Some(both) = PlacedReport::of(fpdu, &report) {
                return self.report(both.to_bytes(), None);
            }
        }
        for fpdu in fpdus {
            self.report(fpdu.to_bytes(), None);
        }
        self.report(report.to_bytes(), raw.then_some(frame));
    }

    fn bump(&mut self, flow: u16, detach: bool) {
        let row = &mut self.flows[usize::from(flow)].attach;
        row.raw_count = row.raw_count.wrapping_add(1);
        if detach {
            row.attached = 0;
        }
    }

    /// Bytes done, whether that is all, whether an FPDU is for the engine.
    fn walk(
        &mut self,
        flow: u16,
        segment: &TcpSegment<'_>,
        reports: &mut Vec<FpduReport>,
    ) -> (usize, bool, bool) {
        let rx = self.flows[usize::from(flow)].rx;
        let markers = Markers(rx.markers().then_some(rx.marker_base));
        let mut ulpdu = vec![0; 65536];
        let (mut done, mut engine) = (0, false);
        while done < segment.payload.len() {
            let seq = segment.seq.wrapping_add(done as u32);
            let octets = &segment.payload[done..];
            let mut report = FpduReport {
                kind: report_kind::FPDU,
                flow,
                seq,
                epoch: rx.epoch,
                offset: done as u16,
                ..Default::default()
            };
            let found = match fpdu::decode(octets, seq, markers, rx.crc(), &mut ulpdu) {
                Err(FpduError::Incomplete(_)) => return (done, false, engine),
                Err(error) => {
                    report.verdict = fpdu_verdict::ERROR;
                    report.terminate = if error == FpduError::Crc {
                        0x2002
                    } else {
                        0x2003
                    };
                    reports.push(report);
                    return (done, false, engine);
                }
                Ok(found) => found,
            };
            let unit = &ulpdu[..found.ulpdu_length];
            report.ulpdu_len = unit.len() as u16;
            let Some((header, payload)) = DdpHeader::parse(unit) else {
                report.verdict = fpdu_verdict::ERROR;
                report.terminate = 0x1000;
                reports.push(report);
                return (done, false, engine);
            };
            report.flags = FpduReport::HEADER_VALID;
            report.ddp_control = header.control;
            report.rdmap_control = header.rdmap_control;
            report.payload_len = payload.len() as u32;
            match header.target {
                Target::Tagged { stag, to } => {
                    report.stag_or_qn = stag;
                    report.to_or_mo = to;
                }
                Target::Untagged {
                    rsvd_ulp,
                    qn,
                    msn,
                    mo,
                } => {
                    report.stag_or_qn = qn;
                    report.msn = msn;
                    report.to_or_mo = u64::from(mo);
                    report.rsvd_ulp = rsvd_ulp;
                }
            }
            match self.place(flow, &rx, &header, payload) {
                Ok(for_engine) => {
                    report.verdict = if for_engine {
                        fpdu_verdict::ENGINE
                    } else {
                        fpdu_verdict::PLACED
                    };
                    engine |= for_engine;
                }
                Err(code) => {
                    report.verdict = fpdu_verdict::ERROR;
                    report.terminate = code;
                    reports.push(report);
                    return (done, false, engine);
                }
            }
            reports.push(report);
            done += found.wire_length;
        }
        (done, true, engine)
    }

    fn place(
        &mut self,
        flow: u16,
        rx: &FlowRxRow,
        header: &DdpHeader,
        payload: &[u8],
    ) -> Result<bool, u16> {
        let opcode = rdmap::opcode_of(header.rdmap_control);
        if header.version() != ddp::VERSION {
            return Err(if header.is_tagged() { 0x1104 } else { 0x1206 });
        }
        if header.rdmap_control >> 6 != 1 {
            return Err(0x0205);
        }
        match header.target {
            Target::Tagged { stag, to } => {
                if !rdmap::is_tagged_opcode(opcode) {
                    return Err(0x0206);
                }
                if payload.is_empty() {
                    return Ok(false);
                }
                let access = if opcode == rdmap::opcode::WRITE {
                    StagRow::REMOTE_WRITE
                } else {
                    StagRow::READ_SINK
                };
                let iova = self.check(rx.pd, stag, to, payload.len() as u64, access)?;
                self.put(iova, payload)?;
                Ok(false)
            }
            Target::Untagged { qn, msn, mo, .. } => {
                if qn > 3 {
                    return Err(0x1201);
                }
                if !rdmap::is_queue_opcode(qn, opcode) {
                    return Err(0x0206);
                }
                if qn > 0 {
                    return Ok(true);
                }
                let state = &self.flows[usize::from(flow)];
                if msn != state.attach.msn {
                    return Err(0x1203);
                }
                if mo != state.attach.mo {
                    return Err(0x1204);
                }
                if (state.rq_tail.wrapping_sub(msn) as i32) < 0 {
                    return Err(0x1202);
                }
                let slot = msn.wrapping_sub(1) & ((1 << rx.rq_log2) - 1);
                let at = rx.rq_base + 64 * u64::from(slot);
                let bytes: [u8; 64] = self.bytes(at, 64).ok_or(0x1000u16)?.try_into().unwrap();
                let e = ReceiveElement::from_bytes(&bytes);
                let sges = [
                    (e.sge0_stag, e.sge0_to, e.sge0_length),
                    (e.sge1_stag, e.sge1_to, e.sge1_length),
                    (e.sge2_stag, e.sge2_to, e.sge2_length),
                    (e.sge3_stag, e.sge3_to, e.sge3_length),
                ];
                let total: u64 = sges
                    .iter()
                    .take_while(|sge| sge.2 > 0)
                    .map(|sge| u64::from(sge.2))
                    .sum();
                if u64::from(mo) + payload.len() as u64 > total {
                    return Err(0x1205);
                }
                let mut skip = u64::from(mo);
                let mut rest = payload;
                for (stag, to, length) in sges.into_iter().take_while(|sge| sge.2 > 0) {
                    let skipped = skip.min(u64::from(length));
                    skip -= skipped;
                    let count = rest.len().min((u64::from(length) - skipped) as usize);
                    if count > 0 {
                        let iova = self
                            .check(
                                rx.pd,
                                stag,
                                to + skipped,
                                count as u64,
                                StagRow::LOCAL_WRITE,
                            )
                            .map_err(|_| 0x1000u16)?;
                        self.put(iova, &rest[..count])?;
                        rest = &rest[count..];
                    }
                }
                let row = &mut self.flows[usize::from(flow)].attach;
                if header.is_last() {
                    row.msn = row.msn.wrapping_add(1);
                    row.mo = 0;
                } else {
                    row.mo += payload.len() as u32;
                }
                Ok(false)
            }
        }
    }

    fn check(&self, pd: u32, stag: u32, to: u64, length: u64, access: u8) -> Result<u64, u16> {
        let row = self
            .stags
            .get((stag >> 8) as usize)
            .filter(|row| row.valid == StagRow::VALID && row.key == stag as u8)
            .ok_or(0x1100u16)?;
        to.checked_add(length - 1).ok_or(0x1103u16)?;
        if row.pd != pd {
            return Err(0x1102);
        }
        if row.access & access == 0 {
            return Err(0x0102);
        }
        if to < row.base
            || u128::from(to) + u128::from(length) > u128::from(row.base) + u128::from(row.length)
        {
            return Err(0x1101);
        }
        Ok(row.iova + (to - row.base))
    }

    fn put(&mut self, iova: u64, payload: &[u8]) -> Result<(), u16> {
        self.placed += payload.len() as u64;
        self.bytes(iova, payload.len())
            .ok_or(0x1000u16)?
            .copy_from_slice(payload);
        Ok(())
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

    fn attach(&mut self, flow: u16, row: &AttachRow) -> bool {
        let state = &mut self.flows[usize::from(flow)];
        if is_attached(row) && (state.attach.raw_count != row.raw_count || self.no_attach) {
            self.refused += 1;
            return false;
        }
        state.attach = *row;
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

    fn copy_in(&mut self, iova: u64, bytes: &[u8]) -> Result<(), MemoryError> {
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
