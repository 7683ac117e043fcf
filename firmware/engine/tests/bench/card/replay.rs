//! Replays: a piece of the stream that lay in raw slots is walked again; and what a driver does with the slots.

use weft_engine::{Engine, SlotUse};
use weft_layout::{job_kind, replay_outcome, report_kind, Job, ReplayJob, ReplayReport};
use weft_wire::tcp::{flag, Options, TcpSegment};

use super::transmit::sges;
use super::{is_attached, slots, Card, Report, JOB_SLOTS};

/// Where the raw frame of a report is.
pub(super) fn slot_of(report: &[u8; 64]) -> u16 {
    u16::from_le_bytes([report[28], report[29]])
}

impl Card {
    /// The bytes of a replay job.
    pub(super) fn replay(&mut self, job: &Job, bytes: &[u8]) {
        let stops = self.stops_replay.take();
        assert!(
            bytes.len() <= self.most_replayed,
            "a replay that is too long"
        );
        let flow = usize::from(job.flow);
        let state = self.flows[flow].clone();
        let mut report = ReplayReport {
            kind: report_kind::REPLAY,
            flow: job.flow,
            seq: job.seq,
            payload_len: bytes.len() as u16,
            epoch: state.rx.epoch,
            ..Default::default()
        };
        let mut fpdus = Vec::new();
        let job = ReplayJob::from_bytes(&job.to_bytes());
        let follows = job.follows();
        let elsewhere = follows && job.seq != state.attach.rcv_nxt;
        let never = !state.rx.valid() || is_attached(&state.attach) || self.no_replay;
        report.status = if never || elsewhere {
            replay_outcome::REFUSED
        } else {
            let row = &mut self.flows[flow].attach;
            if !follows {
                (row.msn, row.mo) = (job.msn, job.mo);
            }
            let segment = TcpSegment {
                source_port: 0,
                destination_port: 0,
                seq: job.seq,
                ack: 0,
                flags: flag::ACK,
                window: 0,
                options: Options::default(),
                payload: stops.map_or(bytes, |at| &bytes[..at]),
            };
            let (done, whole, _) = self.walk(job.flow, &segment, &mut fpdus);
            let left = &mut self.flows[flow].attach;
            *left = weft_layout::AttachRow {
                rcv_nxt: job.seq.wrapping_add(done as u32),
                msn: left.msn,
                mo: left.mo,
                ..state.attach
            };
            report.done_len = done as u16;
            let error = weft_layout::fpdu_verdict::ERROR;
            match fpdus.last() {
                _ if stops.is_some() => replay_outcome::REFUSED,
                _ if whole => replay_outcome::WHOLE,
                Some(last) if last.verdict == error => replay_outcome::ERROR,
                _ => replay_outcome::PARTIAL,
            }
        };
        self.replays[usize::from(report.status)] += 1;
        for fpdu in fpdus {
            self.report(fpdu.to_bytes(), None);
        }
        self.report(report.to_bytes(), None);
    }

    /// No slot for another frame.
    pub fn is_full(&self) -> bool {
        self.slots.is_full()
    }

    /// Slots that the engine has.
    pub fn lent_out(&self) -> usize {
        self.slots.lent_out()
    }

    /// The slot that the engine has kept longest.
    pub fn oldest_lent(&self) -> Option<u16> {
        self.slots.oldest_lent()
    }

    /// Hands a report to the engine, as a driver does: a frame stays in its slot if the engine can use it there.
    pub fn hand(&mut self, now: u64, engine: &mut Engine, report: Report) {
        let may_stay = !self.slots.is_half_full();
        self.hand_if(may_stay, now, engine, report);
        if let Some(slot) = self.slots.wanted() {
            engine.want_slot(now, slot, self);
        }
        self.take_back(engine);
    }

    /// The same; whether a frame may stay in its slot, the caller says.
    pub fn hand_if(
        &mut self,
        may_stay: bool,
        now: u64,
        engine: &mut Engine,
        (report, raw): Report,
    ) {
        let slot = slot_of(&report);
        let mut kept = SlotUse::Untouched;
        if raw.is_some() && may_stay {
            kept = engine.on_report_in_slot(now, &report, self);
        }
        match kept {
            SlotUse::Lent => self.slots.lend(slot),
            SlotUse::Free => self.slots.free(slot),
            SlotUse::Untouched => {
                engine.on_report(now, &report, raw.as_deref(), self);
                if raw.is_some() {
                    self.slots.free(slot);
                }
            }
        }
        self.take_back(engine);
    }

    /// Slots that the engine gives back.
    pub fn take_back(&mut self, engine: &mut Engine) {
        while let Some(slot) = engine.poll_slot(self) {
            assert!(!self.will_read(slot), "a job has still to read slot {slot}");
            self.slots.free(slot);
        }
    }

    /// Replays that were posted and are not done.
    pub fn replays_to_do(&self) -> impl Iterator<Item = Job> + '_ {
        (self.done..self.posted)
            .map(|number| Job::from_bytes(&self.jobs[number as usize % JOB_SLOTS]))
            .filter(|job| job.kind == job_kind::REPLAY)
    }

    /// A replay is to be done.
    pub fn will_replay(&self) -> bool {
        self.replays_to_do().next().is_some()
    }

    /// One of them names a piece of this slot.
    fn will_read(&self, slot: u16) -> bool {
        self.replays_to_do()
            .any(|job| sges(&job).any(|(iova, _)| slots::slot_at(iova) == slot))
    }
}
