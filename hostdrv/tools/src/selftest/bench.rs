//! A card under test: up, with rings, in MAC loopback.

use std::sync::{Arc, PoisonError};

use weft_engine::{raw_frame_job, HashSecret};
use weft_layout::{
    reg::Ctrl, registers, FpduReport, Job, JobReport, PlacedReport, Register, ReportKind,
    SegmentReport,
};

use super::{nonzero, Context, Counted, Failure};
use weft_card_transport::dma::DmaBuffer;
use weft_card_transport::{RegisterAccess, Transport};
use weft_hostdrv::bare::{BareCard, BareStation};
use weft_hostdrv::device::RingSizes;

/// The station under test.
pub(super) const MAC: [u8; 6] = [0x02, 0x57, 0, 0, 0, 1];
/// What the card's flow lookup is keyed with.
pub(super) const SECRET: HashSecret =
    HashSecret([0x4b5a_6978, 0x0f1e_2d3c, 0x89ab_cdef, 0x0123_4567]);
/// Largest IPv4 packet of a test.
pub(super) const MTU: u16 = 9000;
/// Longest frame.
pub(super) const MAX_FRAME: usize = MTU as usize + 18;
/// Without a report for so long, the card has lost something.
const LIMIT_NS: u64 = 3_000_000_000;
/// Everything on, with MAC loopback.
const LOOPBACK: Ctrl = Ctrl(Ctrl::JOBS | Ctrl::RECEIVE | Ctrl::LOOPBACK);

/// A report and what comes with it.
#[derive(Clone, Debug)]
pub(super) enum Arrived {
    Segment(SegmentReport, Option<Vec<u8>>),
    Fpdu(FpduReport),
    Placed(PlacedReport),
    Frame(Vec<u8>),
    Job(JobReport),
}

impl std::fmt::Display for Arrived {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Segment(report, frame) => write!(
                f,
                "a segment report (seq {:#x}, {} bytes, {} done, flags {:#04x}{})",
                report.seq,
                report.payload_len,
                report.done_len,
                report.flags,
                frame.as_ref().map_or("", |_| ", with the raw frame")
            ),
            Self::Fpdu(report) => write!(
                f,
                "an FPDU report (verdict {}, terminate {:#06x}, {} payload bytes)",
                report.verdict, report.terminate, report.payload_len
            ),
            Self::Placed(report) => write!(
                f,
                "a placed report (seq {:#x}, {} bytes, {} of them payload of the FPDU)",
                report.seq, report.payload_len, report.ddp_payload_len
            ),
            Self::Frame(frame) => write!(f, "a raw frame of {} bytes", frame.len()),
            Self::Job(report) => write!(
                f,
                "a job report (job {}, status {})",
                report.job, report.status
            ),
        }
    }
}

/// The card, and how to use it in a test.
pub(super) struct Bench {
    transport: Arc<dyn Transport>,
    counted: Counted,
    pub(super) card: BareCard,
    frame: Vec<u8>,
}

impl Bench {
    /// Resets the card and brings it up, with MAC loopback.
    pub(super) fn new(context: &Context) -> Result<Self, Failure> {
        Self::with_rings(
            context,
            RingSizes {
                jobs_log2: 6,
                reports_log2: 8,
                raw_log2: 6,
                push: 0,
            },
        )
    }

    pub(super) fn with_rings(context: &Context, rings: RingSizes) -> Result<Self, Failure> {
        let transport = Arc::clone(&context.transport);
        let station = BareStation {
            mac: MAC,
            mtu: MTU,
            secret: SECRET.0,
        };
        let card = BareCard::bring_up(Arc::clone(&transport), station, rings)?;
        transport.write(registers::CTRL, LOOPBACK)?;
        Ok(Self {
            transport,
            counted: Arc::clone(&context.counted),
            card,
            frame: Vec::new(),
        })
    }

    pub(super) fn read<A, W, R: From<u32>>(
        &self,
        register: Register<A, W, R>,
    ) -> Result<R, Failure> {
        Ok(self.transport.read(register)?)
    }

    pub(super) fn dma(&self, len: usize) -> Result<DmaBuffer, Failure> {
        Ok(self.transport.dma_alloc(len)?)
    }

    pub(super) fn now(&self) -> u64 {
        self.transport.now()
    }

    /// Posts a job and answers its number; the card hears of it by [`ring`](Self::ring).
    pub(super) fn post(&mut self, job: &Job) -> Result<u32, Failure> {
        self.card.post_job(&job.to_bytes())?.ok_or_else(|| {
            Failure::because(
                "the job ring is full although all jobs were answered: JOB_DONE does not follow",
            )
        })
    }

    /// The doorbells of what was posted.
    pub(super) fn ring(&mut self) -> Result<(), Failure> {
        Ok(self.card.ring_doorbells()?)
    }

    /// Writes a table row.
    pub(super) fn row(&mut self, table: u8, index: u32, row: &[u8; 64]) -> Result<(), Failure> {
        Ok(self.card.write_table(table, index, row)?)
    }

    /// The next report, if it is there.
    pub(super) fn take(&mut self) -> Result<Option<Arrived>, Failure> {
        let Some((report, with_frame)) = self.card.take_report(&mut self.frame)? else {
            return Ok(None);
        };
        let frame = with_frame.then(|| self.frame.clone());
        let kind = ReportKind::from_raw(report[SegmentReport::KIND_AT]);
        Ok(Some(match (kind, frame) {
            (Some(ReportKind::Segment), frame) => {
                Arrived::Segment(SegmentReport::from_bytes(&report), frame)
            }
            (Some(ReportKind::Fpdu), _) => Arrived::Fpdu(FpduReport::from_bytes(&report)),
            (Some(ReportKind::Placed), _) => Arrived::Placed(PlacedReport::from_bytes(&report)),
            (Some(ReportKind::Frame), Some(frame)) => Arrived::Frame(frame),
            _ => Arrived::Job(JobReport::from_bytes(&report)),
        }))
    }

    /// Takes the next report, which has to be of a segment of one FPDU that was placed.
    pub(super) fn placed(&mut self, what: impl Fn() -> String) -> Result<(), Failure> {
        match self.next(&what)? {
            Arrived::Placed(_) => Ok(()),
            other => Err(Failure::differs(what(), "a placed report", other)),
        }
    }

    /// The next report; `what` is waited for. Does not trust interrupts: it looks more and more seldom.
    pub(super) fn next(&mut self, what: impl FnOnce() -> String) -> Result<Arrived, Failure> {
        let start = self.now();
        let mut pause = 2_000;
        loop {
            if let Some(arrived) = self.take()? {
                return Ok(arrived);
            }
            let waited = self.now().saturating_sub(start);
            if waited >= LIMIT_NS {
                let done = self.read(registers::JOB_DONE)?;
                let status = self.read(registers::STATUS)?.0;
                return Err(Failure::differs(
                    what(),
                    "a report",
                    format!(
                        "none for {} ms (JOB_DONE {done} of {}, REPORT_TAIL {}, STATUS {status:#x})",
                        waited / 1_000_000,
                        self.card.jobs_posted(),
                        self.read(registers::REPORT_TAIL)?
                    ),
                ));
            }
            // Armed, the interrupt ends the pause; if it is lost, its end does.
            self.card.arm(1)?;
            pause = (pause * 2).min(50_000_000);
            let until = self.now() + pause;
            while !self.transport.wait(0, Some(until))? && self.now() < until {}
        }
    }

    /// The next report must be a raw frame.
    pub(super) fn next_frame(&mut self, what: impl Fn() -> String) -> Result<Vec<u8>, Failure> {
        match self.next(&what)? {
            Arrived::Frame(frame) => Ok(frame),
            other => Err(Failure::differs(what(), "the frame in the raw ring", other)),
        }
    }

    /// A raw-frame job for one run of bytes.
    pub(super) fn raw_job(iova: u64, length: usize) -> Job {
        raw_frame_job(iova, length as u32)
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        // Before the card goes, which resets it.
        let counted = nonzero(self.transport.as_ref());
        *self.counted.lock().unwrap_or_else(PoisonError::into_inner) = counted;
    }
}

/// A frame of a protocol that is nobody's, to the station itself.
pub(super) fn plain_frame(context: &mut Context, length: usize) -> Vec<u8> {
    let mut frame = [MAC, MAC].concat();
    // 0x88b5: local experiments.
    frame.extend_from_slice(&[0x88, 0xb5]);
    frame.extend(context.random.bytes(length.saturating_sub(14)));
    frame.truncate(length);
    frame
}
