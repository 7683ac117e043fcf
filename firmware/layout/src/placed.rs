//! The report that stands for two.

use crate::{fpdu_verdict, report_kind, FpduReport, PlacedReport, SegmentReport};

impl PlacedReport {
    /// The one for a segment and its only FPDU; `None`: each has its own.
    pub fn of(fpdu: &FpduReport, segment: &SegmentReport) -> Option<Self> {
        let joins = fpdu.verdict == fpdu_verdict::PLACED
            && fpdu.offset == 0
            && segment.flags & !(SegmentReport::TIMESTAMPS | SegmentReport::ATTACHED) == 0
            && segment.status & (SegmentReport::REFUSAL_MASK | SegmentReport::RAW_FAILED) == 0
            && segment.done_len == segment.payload_len;
        joins.then_some(Self {
            kind: report_kind::PLACED,
            flags: segment.flags,
            flow: segment.flow,
            seq: segment.seq,
            ack: segment.ack,
            window: segment.window,
            tcp_flags: segment.tcp_flags,
            epoch: segment.epoch,
            ts_val: segment.ts_val,
            ts_ecr: segment.ts_ecr,
            payload_len: segment.payload_len,
            ulpdu_len: fpdu.ulpdu_len,
            ddp_control: fpdu.ddp_control,
            rdmap_control: fpdu.rdmap_control,
            ddp_payload_len: fpdu.payload_len as u16,
            stag_or_qn: fpdu.stag_or_qn,
            msn: fpdu.msn,
            to_or_mo: fpdu.to_or_mo,
            rsvd_ulp: fpdu.rsvd_ulp,
            job_done: segment.job_done,
            arrival: segment.arrival,
            status: segment.status,
            phase: segment.phase,
        })
    }

    /// What a report of the FPDU alone would say.
    #[inline]
    pub fn fpdu(&self) -> FpduReport {
        FpduReport {
            kind: report_kind::FPDU,
            flags: FpduReport::HEADER_VALID,
            flow: self.flow,
            seq: self.seq,
            ddp_control: self.ddp_control,
            rdmap_control: self.rdmap_control,
            verdict: fpdu_verdict::PLACED,
            ulpdu_len: self.ulpdu_len,
            stag_or_qn: self.stag_or_qn,
            msn: self.msn,
            to_or_mo: self.to_or_mo,
            rsvd_ulp: self.rsvd_ulp,
            payload_len: u32::from(self.ddp_payload_len),
            job_done: self.job_done,
            epoch: self.epoch,
            phase: self.phase,
            ..FpduReport::default()
        }
    }

    /// What a report of the segment alone would say.
    #[inline]
    pub fn segment(&self) -> SegmentReport {
        SegmentReport {
            kind: report_kind::SEGMENT,
            flags: self.flags,
            flow: self.flow,
            seq: self.seq,
            ack: self.ack,
            window: self.window,
            tcp_flags: self.tcp_flags,
            epoch: self.epoch,
            ts_val: self.ts_val,
            ts_ecr: self.ts_ecr,
            payload_len: self.payload_len,
            done_len: self.payload_len,
            job_done: self.job_done,
            arrival: self.arrival,
            status: self.status,
            phase: self.phase,
            ..SegmentReport::default()
        }
    }
}
