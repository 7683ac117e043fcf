//! The engine's face: reports and time in, events and completions out. Its other calls have a file each.

mod adoption;
mod byte_streams;
mod connections;
mod execute;
mod frames;
mod half_open;
mod host_stack;
mod incoming;
mod listeners;
mod liveness;
mod loopback;
mod queue_pairs;
mod start_mpa;
mod table;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use weft_layout::{
    report_kind, FpduReport, FrameReport, JobReport, JobStatus, PlacedReport, ReplayReport,
    SegmentReport,
};

pub use self::byte_streams::StreamState;
use self::table::Connections;
use crate::card::port::Port;
use crate::connection::conn::{Conn, Phase, ReportPath, TcpState};
use crate::connection::deadlines::Deadlines;
use crate::connection::link::Link;
use crate::connection::shared::Shared;
use crate::handover::out_of_order::SlotUse;
use crate::interface::cm::Event;
use crate::interface::config::EngineConfig;
use crate::interface::error::Error;
use crate::interface::random::Random;
use crate::interface::stats::EngineStats;
use crate::interface::verbs::{Completion, QpId};
use crate::queues::qp::Qp;
use crate::tcp::fast_path::placed_write;
use crate::tcp::input::Seen;
use crate::tcp::syn_cache::HalfOpens;

/// Where the flow is in the reports that have one.
const FLOW_AT: usize = SegmentReport::FLOW_AT;
const _: () = assert!(FpduReport::FLOW_AT == FLOW_AT);

/// One per card: flows, queue pairs, regions, listeners, connections, timers.
#[derive(Debug)]
pub struct Engine {
    pub(crate) shared: Shared,
    pub(crate) conns: Connections,
    /// When the connections' timers are due.
    deadlines: Deadlines,
    /// Those that are, at a time.
    expired: Vec<u16>,
    qps: Vec<Option<Box<Qp>>>,
    /// Flows without queue pair: the one unused for longest is taken next.
    free_flows: VecDeque<u16>,
    generations: Vec<u16>,
    listeners: Vec<listeners::Listener>,
    connections_made: u32,
    /// Half-open connections.
    half_open: HalfOpens,
    /// The host's own stack uses the card as well.
    host_stack: bool,
    /// Randomness.
    random: Random,
}

impl Engine {
    /// An engine for a card that was just reset (its tables are empty).
    pub fn new(mut config: EngineConfig) -> Self {
        // What was walked over is taken apart here where an FPDU of it is for the engine.
        let longest = u16::try_from(config.memory.longest).unwrap_or(u16::MAX);
        config.replay = config.replay.min(longest);
        let flows = config.num_flows;
        let slots = config.slots();
        let syn_cache = config.syn_cache;
        let mut random = Random::new(&config.seed);
        let free_flows = config.split.flows(flows).collect();
        let shared = Shared::new(config, &mut random);
        let half_open = HalfOpens::new(syn_cache, random.secret());
        Engine {
            conns: Connections::new(slots),
            deadlines: Deadlines::new(usize::from(slots)),
            expired: Vec::with_capacity(usize::from(slots)),
            qps: (0..flows).map(|_| None).collect(),
            free_flows,
            generations: (0..flows).map(|_| 0).collect(),
            listeners: Vec::new(),
            connections_made: 0,
            half_open,
            host_stack: false,
            random,
            shared,
        }
    }

    /// Its settings.
    pub fn config(&self) -> &EngineConfig {
        &self.shared.config
    }

    /// What it counted.
    pub fn stats(&self) -> &EngineStats {
        &self.shared.stats
    }

    // ------------------------------------------------------------------ events in

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

    /// A raw slot that was lent and is free again.
    pub fn poll_slot<P: Port>(&mut self, port: &P) -> Option<u16> {
        self.shared.slots.poll(port)
    }

    /// The raw ring runs out of slots: what lies in this one, and all that the same connection has, is copied. It is free when
    /// [`Engine::poll_slot`] says so, which is at once unless the card is reading it.
    pub fn want_slot<P: Port>(&mut self, now: u64, slot: u16, port: &mut P) {
        let found = self
            .conns
            .iter()
            .find(|conn| conn.handover.out_of_order.has(slot));
        if let Some(conn) = found.map(|conn| conn.id.slot) {
            self.run(now, conn, port, |link| {
                link.spill();
                link.stream();
                link.offer();
            });
        }
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

    /// Does what is due; early or needless calls do no harm.
    pub fn on_timer<P: Port>(&mut self, now: u64, port: &mut P) {
        self.shared.stats.steps += 1;
        self.half_open_timers(now, port);
        self.shared.slots.check(now, port);
        self.neighbours_expired(now, port);
        let mut expired = core::mem::take(&mut self.expired);
        self.deadlines.expired(now, &mut expired);
        expired.sort_unstable();
        for slot in expired.drain(..) {
            if self.look(slot).is_some_and(|at| at <= now) {
                self.run(now, slot, port, |link| link.timers_expired());
                self.look(slot);
            }
        }
        self.expired = expired;
    }

    /// When to call [`Engine::on_timer`] next; `None`: not before the next report or call. May lie in
    /// the past: then call at once. May be too early, where a timer was stopped or put off meanwhile: the call then finds out when it is.
    #[inline]
    pub fn next_deadline(&self) -> Option<u64> {
        let mut first = self.deadlines.first();
        let half_open = self.half_open.rows.next_deadline();
        if let Some(at) = half_open {
            first = Some(first.map_or(at, |first| first.min(at)));
        }
        if let Some(at) = self.shared.neighbours.next_deadline() {
            first = Some(first.map_or(at, |first| first.min(at)));
        }
        if let Some(at) = self.shared.slots.check_at() {
            first = Some(first.map_or(at, |first| first.min(at)));
        }
        first
    }

    /// The reports at hand have been read, and the next ones will be later than an acknowledgment may wait: what is owed to the peer on
    /// this flow goes now. False: nothing is.
    pub fn acknowledge<P: Port>(&mut self, now: u64, flow: u16, port: &mut P) -> bool {
        let Some(slot) = self.slot_of_flow(flow) else {
            return false;
        };
        let owes = self.conns.get(slot).is_some_and(|c| c.ack.pending > 0);
        if owes {
            self.shared.stats.steps += 1;
            self.run(now, slot, port, |link| link.conn.ack.now = true);
        }
        owes
    }

    /// Full segments of the connection on this flow that wait for an acknowledgment; `None`: nothing does.
    pub fn segments_in_flight(&self, flow: u16) -> Option<u32> {
        let sender = &self.conns.get(self.slot_of_flow(flow)?)?.sender;
        let flight = sender.flight();
        (flight > 0).then(|| flight / sender.mss.max(1))
    }

    // ------------------------------------------------------------------ events out

    /// The oldest event not yet taken.
    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        let event = self.shared.outbox.events.pop_front();
        if let Some(Event::Moved { conn }) = &event {
            let found = self.conns.get_mut(conn.slot);
            if let Some(conn) = found.filter(|found| found.id == *conn) {
                conn.move_told = false;
            }
        }
        event
    }

    /// There is an event that was not taken.
    #[inline]
    pub fn has_event(&self) -> bool {
        !self.shared.outbox.events.is_empty()
    }

    /// The oldest completion not yet taken: for each queue pair in the order of its queues.
    #[inline]
    pub fn poll_completion(&mut self) -> Option<Completion> {
        self.shared.queues.completions.pop_front()
    }

    // ------------------------------------------------------------------ inside

    fn qp(&self, id: QpId) -> Result<&Qp, Error> {
        self.qps
            .get(usize::from(id.flow))
            .and_then(|qp| qp.as_deref())
            .filter(|qp| qp.id == id)
            .ok_or(Error::UnknownQp)
    }

    /// The card has a flow for this connection whose row is valid, or was: before that it places nothing.
    pub(crate) fn card_may_place(&self, slot: u16) -> bool {
        let conn = self.conns.get(slot);
        conn.is_some_and(|conn| conn.handover.is_bound() && conn.committed)
    }

    /// Of the connection that a report of a flow is about.
    #[inline]
    fn slot_of_report(&self, report: &[u8; 64]) -> Option<u16> {
        self.slot_of_flow(u16::from_le_bytes([report[FLOW_AT], report[FLOW_AT + 1]]))
    }

    fn slot_of_flow(&self, flow: u16) -> Option<u16> {
        self.qps.get(usize::from(flow))?.as_ref()?.conn
    }

    /// Of the connection that had this flow in this binding, and has left it: what the card has reported before is its own as well.
    fn slot_that_left(&self, flow: u16, epoch: u8) -> Option<u16> {
        let left = |conn: &&Conn| conn.handover.has_left(flow, epoch);
        self.conns.iter().find(left).map(|conn| conn.id.slot)
    }

    pub(crate) fn forget(&mut self, slot: u16) {
        if let Some(mut conn) = self.conns.remove(slot) {
            self.shared.buffers.take_back(&mut conn);
            if let Some(bytes) = &conn.byte_stream {
                bytes.end(&mut self.shared.regions);
            }
            conn.reassembly.release(&mut self.shared.buffers.pool);
            self.shared.slots.free_all(&mut conn);
            if self.shared.config.on_card && conn.known {
                let forgotten = Event::Forgotten { conn: conn.id };
                self.shared.outbox.events.push_back(forgotten);
            }
        }
        self.deadlines.set(slot, None);
    }

    /// IdlePolls at a connection's timers: when the first one is due.
    fn look(&mut self, slot: u16) -> Option<u64> {
        let at = self.conns.get_mut(slot)?.timers.look();
        self.deadlines.set(slot, at);
        at
    }

    /// Lets a connection work, and nothing more.
    fn with<P: Port>(
        &mut self,
        now: u64,
        slot: u16,
        port: &mut P,
        work: impl FnOnce(&mut Link<'_, P>),
    ) {
        let Some(conn) = self.conns.get_mut(slot) else {
            return;
        };
        let qp = match conn.qp {
            Some(flow) => self.qps[usize::from(flow)].as_deref_mut(),
            None => None,
        };
        let look_at = conn.timers.look_at();
        let mut link = Link {
            now,
            conn,
            qp,
            shared: &mut self.shared,
            port,
        };
        work(&mut link);
        let Link {
            conn, qp, shared, ..
        } = link;
        shared.slots.free_done(conn);
        shared.slots.watch(now);
        conn.path = conn.find_path(qp.as_deref(), &shared.config);
        if conn.timers.look_at() < look_at {
            self.deadlines.set(slot, Some(conn.timers.look_at()));
        }
    }

    /// Lets a connection work, sends what follows from it, and looks whether it is over; then admits the requests that it has made room for.
    pub(crate) fn run<P: Port>(
        &mut self,
        now: u64,
        slot: u16,
        port: &mut P,
        work: impl FnOnce(&mut Link<'_, P>),
    ) {
        self.run_one(now, slot, port, work);
        if self.shared.admission.may_admit() {
            self.admit_requests(now, port);
        }
    }

    /// The same, and nothing else.
    fn run_one<P: Port>(
        &mut self,
        now: u64,
        slot: u16,
        port: &mut P,
        work: impl FnOnce(&mut Link<'_, P>),
    ) {
        let mut again = None;
        self.with(now, slot, port, |link| {
            let asked = link.conn.phase == Phase::AwaitAnswer;
            work(link);
            link.shared.admission.answered |= asked && link.conn.phase != Phase::AwaitAnswer;
            if link.wants_fall_back() {
                again = Some(link.conn.remote);
                return;
            }
            link.retire();
            link.transmit();
            // What was learned of JOB_DONE meanwhile may have made room.
            while link.retire() {
                link.transmit();
            }
            link.housekeeping();
            link.shared.buffers.take_back(link.conn);
            debug_assert_eq!(liveness::stuck(link.conn, link.qp.as_deref()), None);
        });
        if let Some(remote) = again {
            let local = self.free_port(remote);
            self.with(now, slot, port, |link| link.fall_back(local));
            self.conns.readdressed(slot);
        }
        let gone = self
            .conns
            .get(slot)
            .is_some_and(|conn| conn.tcp == TcpState::Dead && conn.phase == Phase::Finished);
        if gone {
            self.forget(slot);
        }
    }
}
