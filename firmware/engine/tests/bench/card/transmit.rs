//! What the card makes of jobs.

use weft_engine::Full;
use weft_layout::{job_kind, job_status, report_kind, FlowTxRow, Job, JobReport};
use weft_wire::tcp::{flag, FrameHeader, Options};

use super::super::oracle::fpdu::{self, crc32c};
use super::super::oracle::segment::Segment;
use super::super::{set_ecn, ECT};
use super::{Card, JOB_SLOTS};

/// FPDUs of a segment that waits (docs/card.md, Sending: jobs).
#[derive(Clone)]
pub(super) struct Open {
    /// Frames before it.
    at: usize,
    flow: u16,
    seq: u32,
    flags: u8,
    ect: bool,
    fpdus: u32,
    payload: Vec<u8>,
}

/// IOVA and length of each SGE of a job.
pub(super) fn sges(job: &Job) -> impl Iterator<Item = (u64, u32)> {
    let all = [
        (job.sge0_iova, job.sge0_length),
        (job.sge1_iova, job.sge1_length),
        (job.sge2_iova, job.sge2_length),
        (job.sge3_iova, job.sge3_length),
    ];
    assert!(usize::from(job.sge_count) <= all.len(), "too many SGEs");
    all.into_iter().take(job.sge_count.into())
}

impl Card {
    /// The first so many bytes of the next job's slot.
    pub(super) fn slot_for(&mut self, bytes: usize) -> Result<&mut [u8], Full> {
        if self.posted.wrapping_sub(self.done) as usize >= self.ring {
            return Err(Full);
        }
        Ok(&mut self.jobs[self.posted as usize % JOB_SLOTS][..bytes])
    }

    /// The job in the next slot is posted: its number.
    pub(super) fn number_it(&mut self) -> u32 {
        let number = self.posted;
        let slot = &mut self.jobs[number as usize % JOB_SLOTS];
        slot[Job::NUMBER_AT..Job::NUMBER_AT + 4].copy_from_slice(&number.to_le_bytes());
        self.posted = number.wrapping_add(1);
        number
    }

    /// What it was told last of what goes out of a flow.
    pub fn tx_row(&self, flow: u16) -> FlowTxRow {
        self.flows[usize::from(flow)].tx
    }

    /// Runs all jobs posted so far.
    pub fn run_jobs(&mut self) {
        while self.done != self.posted {
            self.run_next_job();
        }
    }

    /// Runs the jobs before the next replay.
    pub fn run_jobs_before_replay(&mut self) {
        while self.done != self.posted && self.next_job().kind != job_kind::REPLAY {
            self.run_next_job();
        }
    }

    fn next_job(&self) -> Job {
        Job::from_bytes(&self.jobs[self.done as usize % JOB_SLOTS])
    }

    /// Runs the oldest job posted.
    pub fn run_next_job(&mut self) {
        let slot = self.jobs[self.done as usize % JOB_SLOTS];
        let job = Job::from_bytes(&slot);
        let status = self.run_job(&job, &slot);
        let number = self.done;
        self.done = number.wrapping_add(1);
        if status != job_status::DONE {
            let report = JobReport {
                kind: report_kind::JOB,
                status,
                flow: job.flow,
                job: number,
                ..Default::default()
            };
            self.report(report.to_bytes(), None);
        }
    }

    fn run_job(&mut self, job: &Job, slot: &[u8; 128]) -> u8 {
        let mut payload = Vec::new();
        if job.inline_payload() {
            assert_eq!(job.sge_count, 0);
            payload.extend_from_slice(&slot[64..64 + job.length as usize]);
        } else {
            for (iova, length) in sges(job) {
                assert!(length > 0, "an SGE without bytes");
                match self.bytes(iova, length as usize) {
                    Some(bytes) => payload.extend_from_slice(bytes),
                    None => return job_status::READ_ERROR,
                }
            }
        }
        assert_eq!(payload.len(), job.length as usize);
        let row = self.flows[usize::from(job.flow)].tx;
        match job.kind {
            job_kind::RAW_FRAME => {
                self.open = None;
                self.out.push(payload);
            }
            job_kind::REPLAY => self.replay(job, &payload),
            job_kind::SEGMENT if job.append_crc() => {
                if payload.is_empty() || payload.len() % 4 != 0 {
                    return job_status::MALFORMED;
                }
                let crc = crc32c(&payload);
                payload.extend_from_slice(&crc.to_le_bytes());
                self.segment(&row, job, job.seq, job.tcp_flags, &payload);
            }
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
        self.open = None;
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
            tos: row.tos,
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

    /// An FPDU goes alone, or into the segment before it, if nobody has taken that.
    fn fpdu(&mut self, row: &FlowTxRow, job: &Job, seq: u32, flags: u8, fpdu: &[u8]) {
        let mut now = Open {
            at: self.out.len(),
            flow: job.flow,
            seq,
            flags,
            ect: job.ect(),
            fpdus: 1,
            payload: fpdu.to_vec(),
        };
        let joins = |open: &Open| {
            let length = open.payload.len() + fpdu.len();
            open.at + 1 == now.at
                && (open.flow, open.ect) == (now.flow, now.ect)
                && open.seq.wrapping_add(open.payload.len() as u32) == seq
                && (open.flags | flags) & !(flag::ACK | flag::PSH) == 0
                && open.fpdus < 16
                && length <= usize::from(row.pack.min(2048))
        };
        if let Some(open) = self.open.take().filter(joins) {
            now = Open {
                flags: flags | open.flags,
                fpdus: open.fpdus + 1,
                payload: [open.payload, now.payload].concat(),
                ..open
            };
            self.out.pop();
            self.packed += 1;
        }
        self.segment(row, job, now.seq, now.flags, &now.payload);
        self.open = Some(now);
    }

    fn message(&mut self, row: &FlowTxRow, job: &Job, payload: &[u8]) {
        assert!(job.fpdu_payload > 0 || payload.is_empty());
        let markers = row.markers().then_some(row.marker_base);
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
            let header = Segment {
                tagged: job.tagged(),
                ddp_control: if job.tagged() { 0x80 } else { 0 } | if last { 0x40 } else { 0 } | 1,
                rdmap_control: job.rdmap_control,
                stag_or_qn: job.stag_or_qn,
                msn: job.msn,
                to_or_mo: at,
                rsvd_ulp: job.rsvd_ulp,
                ..Segment::default()
            };
            let out = fpdu::frame(seq, markers, row.crc(), &header.with(chunk));
            let flags = if end {
                job.tcp_flags
            } else {
                job.tcp_flags & !flag::PSH
            };
            self.fpdu(row, job, seq, flags, &out);
            seq = seq.wrapping_add(out.len() as u32);
            offset += chunk.len() as u64;
        }
    }
}
