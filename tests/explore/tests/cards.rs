//! Runs of the exploration on the cards, functional model and RTL: the same events in the same order, and after each the same owner, position,
//! reports and placements as in the exploration's world. The host's half is the world's.
//!
//! `WEFT_EXPLORED_SEEDS` says how many walks on each card.

use crate::wire;

use weft_explore::card::{Outcome, Report};
use weft_explore::suite::{explore, parts, place_of};
use weft_explore::world::Done;
use weft_explore::{Action, Fault, Sizes, Step, Walk};
use weft_layout::{
    report_kind, table, AttachRow, FlowKeyRow, FlowRxRow, FlowTxRow, Job, JobKind, ReplayJob,
    ReplayOutcome, ReplayReport, SegmentReport, StagRow,
};
use weft_sim::bench::{Bench, Ends, Region, Rings};
use weft_sim::kind::CardKind;
use weft_sim::link::LinkConfig;
use weft_sim::model::ethernet::{self, flag};
use weft_sim::model::tables::key_places;

const FLOW: u16 = 3;
const PD: u32 = 7;
const STAG: u32 = 0x0000_05a5;
const BASE: u64 = 0x1_0000_0000;
/// The number of octet 0.
const SEQ: u32 = 0xffff_f000;
/// Events of a walk.
const EVENTS: usize = 150;
/// Nanoseconds that anything takes at most.
const SOON: u64 = 1_000_000;

/// A card, and what should lie in its host's memory.
struct Under {
    bench: Bench,
    sink: Region,
    source: Region,
    ends: Ends,
    wanted: Vec<u8>,
    /// What its FLOW_RX row asks for.
    flags: u8,
}

fn seq_of(octet: u32) -> u32 {
    SEQ.wrapping_add(octet.wrapping_mul(wire::OCTET))
}

impl Under {
    fn new(kind: CardKind, seed: u64, sizes: &Sizes) -> Self {
        let mut bench = Bench::new(
            kind.build(seed, 0),
            seed,
            LinkConfig::default(),
            Rings::default(),
        )
        .unwrap();
        let sink = bench.region(wire::SINK);
        let source = bench.region(1 << 14);
        let row = StagRow {
            valid: StagRow::VALID,
            key: 0xa5,
            access: StagRow::LOCAL_WRITE | StagRow::REMOTE_WRITE,
            pd: PD,
            base: BASE,
            length: wire::SINK as u64,
            iova: sink.iova,
        };
        bench.stag(STAG, &row).unwrap();
        let mut under = Under {
            bench,
            sink,
            source,
            ends: Ends::of(FLOW),
            wanted: vec![0; wire::SINK],
            flags: (FlowRxRow::CRC | FlowRxRow::VALID)
                | if sizes.carry { FlowRxRow::CARRY } else { 0 },
        };
        under.bind(1);
        under
    }

    /// The flow is a new connection's, and the engine's.
    fn bind(&mut self, epoch: u8) {
        let rx = FlowRxRow {
            flags: self.flags,
            epoch,
            pd: PD,
            ..FlowRxRow::default()
        };
        let tx = self.ends.tx(FlowTxRow::VALID | FlowTxRow::CRC, 0);
        self.bench
            .flow(FLOW, &self.ends, &rx, &tx, &AttachRow::default())
            .unwrap();
    }

    fn leave(&mut self) {
        let mut key = [0; 12];
        key[..4].copy_from_slice(&self.ends.remote_ip);
        key[4..8].copy_from_slice(&self.ends.local_ip);
        key[8..10].copy_from_slice(&self.ends.remote_port.to_be_bytes());
        key[10..].copy_from_slice(&self.ends.local_port.to_be_bytes());
        let index = key_places(&key, self.bench.flows())[usize::from(FLOW & 3)];
        let rows = [
            (table::FLOW_RX, FLOW.into(), FlowRxRow::default().to_bytes()),
            (table::ATTACH, FLOW.into(), AttachRow::default().to_bytes()),
            (table::FLOW_KEY, index, FlowKeyRow::default().to_bytes()),
        ];
        for (table, index, row) in rows {
            assert!(self.bench.write_table(table, index, &row).unwrap());
        }
    }

    fn segment(&mut self, seq: u32, length: u32, fin: bool) {
        let flags = flag::ACK | if fin { flag::FIN } else { 0 };
        let payload = wire::octets(seq, seq + length, STAG, BASE);
        let row = self.ends.peer_tx(4, 0);
        let seq = seq_of(seq);
        let frame = ethernet::segment(&row, &Job::default(), seq, flags, 9, &payload);
        self.bench.inject(frame);
    }

    fn foreign(&mut self) {
        let mut frame = vec![0; 60];
        frame[..6].copy_from_slice(&self.ends.local_mac);
        frame[6..12].copy_from_slice(&self.ends.remote_mac);
        frame[12..14].copy_from_slice(&[0x88, 0xb5]);
        self.bench.inject(frame);
    }

    fn replay(&mut self, job: &weft_explore::card::Job) {
        let octets = wire::octets(job.seq, job.end, STAG, BASE);
        self.source.write(0, &octets).unwrap();
        let replay = ReplayJob {
            kind: JobKind::Replay.raw(),
            flow: FLOW,
            seq: seq_of(job.seq),
            flags: if job.follows { ReplayJob::FOLLOWS } else { 0 },
            msn: 1,
            length: octets.len() as u32,
            sge_count: 1,
            sge0_iova: self.source.iova,
            sge0_length: octets.len() as u32,
            ..ReplayJob::default()
        };
        let job = Job::from_bytes(&replay.to_bytes());
        self.bench.post(&job, &[]);
        self.bench.ring_jobs();
    }

    /// The next report that is not an FPDU's.
    fn report(&mut self) -> [u8; 64] {
        loop {
            // One that stands for two comes as two.
            let reports = self.bench.some_reports(1);
            let (report, _) = reports.last().expect("a report");
            if report[0] != report_kind::FPDU {
                return *report;
            }
        }
    }

    fn attach(&mut self, at: u32) -> bool {
        let row = AttachRow {
            attached: AttachRow::ATTACHED,
            raw_seen: self.bench.raw_seen(),
            rcv_nxt: seq_of(at),
            msn: 1,
            window: 1 << 20,
            ..AttachRow::default()
        };
        self.bench
            .write_table(table::ATTACH, FLOW.into(), &row.to_bytes())
            .unwrap()
    }

    fn position(&mut self) -> AttachRow {
        let row = self.bench.read_table(table::ATTACH, FLOW.into()).unwrap();
        AttachRow::from_bytes(&row.unwrap())
    }

    /// The event comes about; `what` names it.
    fn step(&mut self, step: &Step, walk: &Walk, what: &str) {
        match step.action {
            Action::Segment(_, length, fin) if !step.dropped => {
                self.segment(step.seq, length, fin);
            }
            Action::Foreign if !step.dropped => self.foreign(),
            Action::Replay => self.replay(&step.job.expect("a job")),
            Action::Leave => self.leave(),
            Action::BindAnew => self.bind(walk.world().card.epoch),
            _ => {}
        }
        self.bench.settle(SOON).unwrap();
        if let Some(expected) = &step.handled {
            let report = self.report();
            compare(expected, &report, what);
        }
        for done in &step.done {
            match *done {
                Done::Attach { at, applied } => {
                    assert_eq!(self.attach(at), applied, "ATTACH is applied: {what}");
                }
                Done::Place {
                    by_card: true,
                    from,
                    to,
                } => {
                    for payload in wire::payloads(from, to) {
                        let there = payload.at..payload.at + payload.bytes.len();
                        let got = self.sink.read(payload.at, payload.bytes.len()).unwrap();
                        assert!(got == payload.bytes, "{from} is placed: {what}");
                        self.wanted[there].copy_from_slice(&payload.bytes);
                    }
                }
                Done::Place { .. } | Done::Post(_) | Done::Want => {}
            }
        }
        let (card, position) = (&walk.world().card, self.position());
        assert_eq!(position.attached(), card.attached, "attached: {what}");
        if card.attached {
            let rcv = seq_of(walk.at(card.rcv)).wrapping_add(card.behind_fin.into());
            assert_eq!(position.rcv_nxt, rcv, "the position: {what}");
        }
    }

    /// Nothing else was placed, and nothing has happened that no report tells.
    fn end(&mut self, what: &str) {
        let got = self.sink.read(0, wire::SINK).unwrap();
        let wrong = got
            .iter()
            .zip(&self.wanted)
            .position(|(got, want)| got != want);
        assert_eq!(wrong, None, "an octet of the sink: {what}");
        let faults = self.bench.world.iommu(0).take_faults();
        assert!(faults.is_empty(), "{faults:?}: {what}");
    }
}

fn compare(expected: &Report, report: &[u8; 64], what: &str) {
    match *expected {
        Report::Segment(expected) => {
            assert_eq!(report[0], report_kind::SEGMENT, "{what}");
            let report = SegmentReport::from_bytes(report);
            let got = (
                report.seq,
                u32::from(report.payload_len),
                u32::from(report.done_len),
                report.raw(),
                report.attached(),
                report.epoch,
            );
            let want = (
                seq_of(expected.seq),
                expected.length * wire::OCTET,
                expected.done * wire::OCTET,
                expected.slot.is_some(),
                expected.attached,
                expected.epoch,
            );
            assert_eq!(got, want, "a segment's report: {what}");
        }
        Report::Foreign { .. } => assert_eq!(report[0], report_kind::FRAME, "{what}"),
        Report::Replay {
            epoch,
            seq,
            done,
            outcome,
            ..
        } => {
            assert_eq!(report[0], report_kind::REPLAY, "{what}");
            let report = ReplayReport::from_bytes(report);
            let outcome = match outcome {
                Outcome::Whole => ReplayOutcome::Whole,
                Outcome::Partial => ReplayOutcome::Partial,
                Outcome::Refused => ReplayOutcome::Refused,
            };
            let got = (report.seq, u32::from(report.done_len), report.epoch);
            assert_eq!(got, (seq_of(seq), done * wire::OCTET, epoch), "{what}");
            assert_eq!(report.outcome(), Ok(outcome), "{what}");
        }
    }
}

fn seeds() -> u64 {
    // Environment (tests): `WEFT_EXPLORED_SEEDS`: runs of the exploration on the cards and the engine: how many walks of each kind. Without it: 6.
    let asked = std::env::var("WEFT_EXPLORED_SEEDS").ok();
    asked.and_then(|asked| asked.parse().ok()).unwrap_or(6)
}

/// Walks through worlds of each kind.
#[test]
fn walks() {
    for kind in CardKind::available() {
        // The model is quick.
        let seeds = if kind == CardKind::Model {
            3 * seeds()
        } else {
            seeds()
        };
        // The octets have no markers, so the cards place nothing beyond a gap.
        for part in parts(false).iter().filter(|part| part.sizes.islands == 0) {
            let mut events = 0;
            for seed in 0..seeds {
                let sizes = Sizes {
                    slots: if part.sizes.foreign { 4 } else { 6 },
                    reports: 4,
                    ..part.sizes
                };
                let mut walk = Walk::new(seed, sizes);
                let mut under = Under::new(kind, seed, &sizes);
                for event in 0..EVENTS {
                    if walk.has_come_round() {
                        break;
                    }
                    events += 1;
                    let action = walk.draw();
                    let step = walk.step(action);
                    let what = format!(
                        "{kind}, {}, seed {seed}, event {event}: {step:?}",
                        part.name
                    );
                    under.step(&step, &walk, &what);
                    assert_eq!(walk.world().broken, None, "{what}");
                }
                under.end(&format!("{kind}, {}, seed {seed}", part.name));
            }
            assert!(events > 20 * seeds, "{}: {events} events", part.name);
        }
    }
}

/// The shortest run that shows each planted fault, as far as it comes about without the fault: then nothing is wrong.
#[test]
fn the_runs_that_show_planted_faults() {
    for fault in Fault::all() {
        let sizes = place_of(*fault);
        if sizes.islands > 0 {
            continue;
        }
        let found = explore(&sizes);
        let (_, actions) = found.broken.first().expect("it is found");
        for kind in CardKind::available() {
            let right = Sizes {
                fault: None,
                ..sizes
            };
            let mut walk = Walk::new(0, right);
            let mut under = Under::new(kind, 0, &right);
            let mut came = 0;
            for action in actions {
                if !walk.enabled().contains(action) {
                    continue;
                }
                came += 1;
                let step = walk.step(*action);
                let what = format!("{kind}, {fault:?}, of {actions:?}: {step:?}");
                under.step(&step, &walk, &what);
            }
            assert!(came > 0, "{fault:?}: {actions:?}");
            assert_eq!(walk.world().broken, None);
            under.end(&format!("{kind}, {fault:?}"));
        }
    }
}
