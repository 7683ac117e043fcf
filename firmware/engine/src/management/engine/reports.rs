//! The card's reports: the fast path, or step by step.

use weft_layout::{
    report_kind, FpduReport, FrameReport, JobReport, JobStatus, PlacedReport, ReplayReport,
    SegmentReport,
};

use crate::card::port::Port;
use crate::connection::conn::{ReportPath, TcpState};
use crate::connection::link::Link;
use crate::handover::out_of_order::SlotUse;
use crate::tcp::fast_path::placed_write;
use crate::tcp::input::Seen;

use super::{liveness, Engine};

/// Where the flow is in the reports that have one.
const FLOW_AT: usize = SegmentReport::FLOW_AT;
const _: () = assert!(FpduReport::FLOW_AT == FLOW_AT);

impl Engine {
    /// Handles one report of the card; `raw` is the frame in its raw slot, if it has one. Reports
    /// must come in the card's order, and each only once. True: the frame is for the host's own
    /// stack; only after [`Engine::set_host_stack`].
    pub fn on_report<P: Port>(
        &mut self,
        now: u64,
        report: &[u8; 64],
        raw: Option<&[u8]>,
        port: &mut P,
    ) -> bool {
        self.shared.stats.steps += 1;
        match report[0] {
            report_kind::SEGMENT => {
                let segment = SegmentReport::from_bytes(report);
                if !self.fast_path(now, segment.flow, port, |link| link.fast_segment(&segment)) {
                    self.segment(now, report, raw, port);
                }
            }
            report_kind::PLACED => {
                let placed = PlacedReport::from_bytes(report);
                if !self.fast_path(now, placed.flow, port, |link| link.fast_placed(&placed)) {
                    self.placed(now, report, port);
                }
            }
            report_kind::FPDU => {
                let Some(slot) = self.slot_of_report(report) else {
                    return false;
                };
                let config = &self.shared.config;
                let conn = self.conns.get_mut(slot);
                if conn.is_some_and(|conn| placed_write(conn, report, config)) {
                    self.shared.stats.fpdus_card += 1;
                } else {
                    self.fpdu(now, slot, &FpduReport::from_bytes(report), port);
                }
            }
            report_kind::FRAME => {
                self.shared.stats.frames += 1;
                let failed = FrameReport::from_bytes(report).raw_failed();
                self.shared.stats.reports_unusable += u64::from(failed);
                let raw = raw.filter(|_| !failed);
                if self.host_stack {
                    let for_host =
                        raw.is_some_and(|frame| self.frame_beside_host(now, frame, port));
                    self.shared.stats.frames_for_host += u64::from(for_host);
                    return for_host;
                }
                let done = raw.and_then(|frame| self.frame(now, frame, port));
                if done.is_none() {
                    self.shared.stats.frames_ignored += 1;
                }
            }
            report_kind::REPLAY => {
                let report = ReplayReport::from_bytes(report);
                if let Some(slot) = self.slot_of_flow(report.flow) {
                    self.run(now, slot, port, |link| {
                        if link.is_current(report.epoch) {
                            link.replay_report(&report);
                            link.offer();
                        }
                    });
                }
            }
            report_kind::JOB => {
                let report = JobReport::from_bytes(report);
                if report.status() == Ok(JobStatus::Done) {
                    return false;
                }
                self.shared.stats.jobs_failed += 1;
                if let Some(slot) = self.slot_of_flow(report.flow) {
                    self.run(now, slot, port, |link| link.local_failure(report.job));
                }
            }
            _ => {}
        }
        false
    }

    /// Handles a segment's report whose raw frame can stay in its slot, where [`Port::copy_slot`] finds it. In the card's order with the
    /// reports of [`Engine::on_report`].
    pub fn on_report_in_slot<P: Port>(
        &mut self,
        now: u64,
        report: &[u8; 64],
        port: &mut P,
    ) -> SlotUse {
        if report[0] != report_kind::SEGMENT {
            return SlotUse::Untouched;
        }
        let report = SegmentReport::from_bytes(report);
        let Some(slot) = self.slot_of_flow(report.flow) else {
            return SlotUse::Untouched;
        };
        let mut piece = None;
        self.with(now, slot, port, |link| {
            piece = link.may_stay_in_slot(&report)
        });
        let (Some(piece), Some(mut seen)) = (piece, Seen::of_report(&report, None)) else {
            return SlotUse::Untouched;
        };
        self.shared.stats.steps += 1;
        seen.slot_piece = Some(piece);
        let mut slot_use = SlotUse::Free;
        self.run(now, slot, port, |link| {
            link.segment_report(&report, &[]);
            link.segment(&seen);
            link.offer();
            if link.shared.slots.has(piece.slot) || link.conn.handover.out_of_order.has(piece.slot)
            {
                slot_use = SlotUse::Lent;
            }
        });
        slot_use
    }

    /// Tries the fast path for a report; false: nothing was done.
    #[inline]
    fn fast_path<P: Port>(
        &mut self,
        now: u64,
        flow: u16,
        port: &mut P,
        work: impl FnOnce(&mut Link<'_, P>) -> bool,
    ) -> bool {
        let Some(qp) = self.qps.get_mut(usize::from(flow)) else {
            return false;
        };
        let Some(qp) = qp.as_deref_mut() else {
            return false;
        };
        let Some(conn) = qp.conn.and_then(|slot| self.conns.get_mut(slot)) else {
            return false;
        };
        debug_assert_eq!(conn.path, conn.find_path(Some(qp), &self.shared.config));
        if conn.path == ReportPath::Slow {
            return false;
        }
        let look_at = conn.timers.look_at();
        let mut link = Link {
            now,
            conn,
            qp: Some(qp),
            shared: &mut self.shared,
            port,
        };
        let done = work(&mut link);
        let Link { conn, qp, .. } = link;
        debug_assert!(!done || liveness::stuck(conn, qp.as_deref()).is_none());
        if conn.timers.look_at() < look_at {
            self.deadlines
                .set(conn.id.slot, Some(conn.timers.look_at()));
        }
        if conn.tcp == TcpState::Dead {
            let slot = conn.id.slot;
            self.run(now, slot, port, |_| ());
        }
        done
    }

    /// A segment and its one FPDU, as if each had its report.
    #[inline(never)]
    fn placed<P: Port>(&mut self, now: u64, report: &[u8; 64], port: &mut P) {
        let report = PlacedReport::from_bytes(report);
        let Some(slot) = self.slot_of_flow(report.flow) else {
            return;
        };
        self.fpdu(now, slot, &report.fpdu(), port);
        let segment = report.segment();
        if !self.fast_path(now, report.flow, port, |link| link.fast_segment(&segment)) {
            self.segment_of(now, &segment, None, port);
        }
    }

    /// A segment of a flow. What of its report the fast path does not need is taken out of it here.
    #[inline(never)]
    fn segment<P: Port>(&mut self, now: u64, report: &[u8; 64], raw: Option<&[u8]>, port: &mut P) {
        self.segment_of(now, &SegmentReport::from_bytes(report), raw, port);
    }

    fn segment_of<P: Port>(
        &mut self,
        now: u64,
        report: &SegmentReport,
        raw: Option<&[u8]>,
        port: &mut P,
    ) {
        let seen = Seen::of_report(report, raw);
        let there = self.slot_of_flow(report.flow);
        let is_current = |slot: &u16| {
            let conn = self.conns.get(*slot);
            conn.is_some_and(|conn| conn.handover.epoch() == report.epoch)
        };
        let Some(slot) = there.filter(is_current) else {
            let left = self.slot_that_left(report.flow, report.epoch);
            self.shared.stats.reports_stale += u64::from(there.is_some() && left.is_none());
            if let (Some(slot), Some(seen)) = (left, seen) {
                self.run(now, slot, port, |link| link.segment(&seen));
            }
            return;
        };
        self.run(now, slot, port, |link| {
            let Some(seen) = seen else {
                link.segment_report(report, &[]);
                link.shared.stats.reports_unusable += 1;
                return;
            };
            link.segment_report(report, seen.payload);
            link.segment(&seen);
            link.offer();
        });
    }

    /// An FPDU in a segment whose own report comes next; what follows from it waits for that.
    #[inline(never)]
    fn fpdu<P: Port>(&mut self, now: u64, slot: u16, report: &FpduReport, port: &mut P) {
        self.with(now, slot, port, |link| {
            if link.is_current(report.epoch) {
                link.fpdu_report(report);
            }
        });
    }

    /// Of the connection that a report of a flow is about.
    #[inline]
    fn slot_of_report(&self, report: &[u8; 64]) -> Option<u16> {
        self.slot_of_flow(u16::from_le_bytes([report[FLOW_AT], report[FLOW_AT + 1]]))
    }
}
