//! Runs of the exploration on the engine and the card of its tests: the same events in the same order, and after each the same owner, attempts,
//! placements and replays as in the exploration's world.
//!
//! The engine's least window is far wider than a world's, so a run ends where the window's right edge stands still. It is of one connection.
//! `WEFT_EXPLORED_SEEDS` says how many walks of each kind.

#[path = "../../../firmware/engine/tests/bench/mod.rs"]
mod bench;
use crate::wire;

use bench::script::{message, Script};
use bench::{card, MS};
use weft_engine::handover::ReplayPolicy;
use weft_engine::{AcceptParams, Access, EngineStats, RtrKinds};
use weft_explore::stream::PERIOD;
use weft_explore::suite::{explore, place_of};
use weft_explore::world::Done;
use weft_explore::{Action, Fault, Sizes, Step, Walk};
use weft_layout::report_kind;
use weft_wire::ddp::DdpHeader;
use weft_wire::tcp::{flag, Options};

/// Tagged offsets of the sink begin here.
const BASE: u64 = 0x1000;
/// Events of a walk.
const EVENTS: usize = 200;

/// An engine with a connection that stands and a flow that the card has, and the walk that has come as far.
struct Under {
    script: Script,
    stag: u32,
    /// The number of octet 0.
    origin: u32,
    walk: Walk,
}

impl Under {
    fn new(seed: u64, sizes: Sizes) -> Self {
        let mut script = Script::with(false, &|config| {
            config.delayed_ack = 0;
            config.carry = sizes.carry;
            config.replay = if sizes.replay {
                3 * wire::OCTET as u16
            } else {
                0
            };
        });
        script.card.ring = 1000;
        script.card.reports_on_way = true;
        let qp = script.qp();
        let access = Access::LOCAL_WRITE | Access::REMOTE_WRITE;
        let (pd, length) = (script.pd, wire::SINK as u64);
        let stag = script
            .engine
            .register(pd, BASE, card::MEMORY, length, access, &mut script.card)
            .unwrap();
        script.accepted(qp, RtrKinds::NONE, &AcceptParams::default());
        script.data(&message(&DdpHeader::tagged(true, 0x40, 1, 0), &[]));
        script.wait(MS);
        script.auto_ack = false;
        assert_eq!(script.card.attached(), 1);
        let origin = script.seq.wrapping_sub(PERIOD * wire::OCTET);
        let mut walk = Walk::new(seed, sizes);
        walk.step(Action::Segment(PERIOD, 0, false));
        walk.step(Action::Handle);
        assert!(walk.world().card.attached);
        Under {
            script,
            stag,
            origin,
            walk,
        }
    }

    /// The walk is where engine and world are no longer alike.
    fn is_over(&self) -> bool {
        self.walk.has_come_round() || self.walk.world().host.handover.edge_stands()
    }

    fn counts(&self) -> (EngineStats, u64) {
        (*self.script.engine.stats(), self.script.card.placed)
    }

    fn step(&mut self, action: Action, what: &str) {
        let world = self.walk.world();
        let may_stay = 2 * world.ring.len() <= self.walk.sizes().slots + 1;
        let before = self.counts();
        let step = self.walk.step(action);
        let what = format!("{what}: {step:?}");
        let s = &mut self.script;
        match step.action {
            Action::Segment(_, length, _) if !step.dropped => {
                let payload = wire::octets(step.seq, step.seq + length, self.stag, BASE);
                let seq = self.origin.wrapping_add(step.seq * wire::OCTET);
                let frame = s.frame(flag::ACK, seq, Options::default(), &payload);
                s.card.receive(&frame);
            }
            Action::Foreign if !step.dropped => {
                let mut frame = vec![0; 60];
                frame[..6].copy_from_slice(&s.card.mac);
                frame[12..14].copy_from_slice(&[0x88, 0xb5]);
                s.card.receive(&frame);
            }
            Action::Replay => s.card.run_next_job(),
            Action::Handle => loop {
                let report = s.card.next_report().expect("a report");
                let kind = report.0[0];
                s.card.hand_if(may_stay, s.now, &mut s.engine, report);
                if kind != report_kind::FPDU {
                    break;
                }
            },
            Action::Timer => s.now += MS,
            _ => {}
        }
        if step.done.contains(&Done::Want) {
            let slot = s.card.oldest_lent().expect("a slot");
            s.engine.want_slot(s.now, slot, &mut s.card);
        }
        self.quiet();
        self.compare(&step, before, &what);
    }

    /// Acknowledgments go, and what is due is done.
    fn quiet(&mut self) {
        let s = &mut self.script;
        while s.engine.next_deadline().is_some_and(|at| at <= s.now) {
            s.engine.on_timer(s.now, &mut s.card);
        }
        s.card.take_back(&mut s.engine);
        s.card.run_jobs_before_replay();
        s.card.out.clear();
        while s.engine.poll_event().is_some() {}
    }

    fn compare(&mut self, step: &Step, before: (EngineStats, u64), what: &str) {
        let (stats, placed) = self.counts();
        let (mut tried, mut refused, mut by_hand, mut by_card) = (0, 0, 0, 0);
        for done in &step.done {
            match *done {
                Done::Attach { applied, .. } => {
                    tried += 1;
                    refused += u64::from(!applied);
                }
                Done::Place {
                    by_card: card,
                    from,
                    to,
                } => {
                    for payload in wire::payloads(from, to) {
                        let at = card::MEMORY + payload.at as u64;
                        let length = payload.bytes.len();
                        let there = self.script.card.bytes(at, length).unwrap();
                        assert!(there == payload.bytes, "{from} is placed: {what}");
                        match card {
                            true => by_card += length as u64,
                            false => by_hand += 1,
                        }
                    }
                }
                Done::Post(_) | Done::Want => {}
            }
        }
        let tries = (
            stats.attaches - before.0.attaches,
            stats.attaches_refused - before.0.attaches_refused,
        );
        assert_eq!(
            tries,
            (tried, refused),
            "attempts, and those refused: {what}"
        );
        let hand = stats.fpdus_software - before.0.fpdus_software;
        assert_eq!(hand, by_hand, "FPDUs by hand: {what}");
        assert_eq!(placed - before.1, by_card, "octets by the card: {what}");
        let world = self.walk.world();
        let replays = self.script.card.replays_to_do().count();
        assert_eq!(replays, world.jobs.len(), "replays under way: {what}");
        let attached = self.script.card.attached() == 1;
        assert_eq!(attached, world.card.attached, "attached: {what}");
        assert_eq!(world.broken, None, "{what}");
    }
}

/// Worlds whose window is wide, and whose engine has its own policy.
fn wide(replay: bool, foreign: bool) -> Sizes {
    Sizes {
        window: 24,
        slots: if foreign { 4 } else { 6 },
        reports: 4,
        jobs: 8,
        replay,
        foreign,
        policy: ReplayPolicy::HOST,
        ..Sizes::default()
    }
}

#[test]
fn walks() {
    let asked = std::env::var("WEFT_EXPLORED_SEEDS").ok();
    let seeds: u64 = asked.and_then(|asked| asked.parse().ok()).unwrap_or(6) * 5;
    for (replay, foreign) in [(false, false), (false, true), (true, false)] {
        let mut events = 0;
        for seed in 0..seeds {
            let mut under = Under::new(seed, wide(replay, foreign));
            for event in 0..EVENTS {
                if under.is_over() {
                    break;
                }
                let action = under.walk.draw();
                let what =
                    format!("replay {replay}, foreign {foreign}, seed {seed}, event {event}");
                under.step(action, &what);
                events += 1;
            }
        }
        assert!(events > 15 * seeds, "{events} events in {seeds} walks");
    }
}

/// The shortest run that shows each planted fault, as far as it comes about without the fault and before the connection's end.
#[test]
fn the_runs_that_show_planted_faults() {
    for fault in Fault::all() {
        let sizes = place_of(*fault);
        let found = explore(&sizes);
        let (_, actions) = found.broken.first().expect("it is found");
        let mut under = Under::new(0, wide(sizes.replay, sizes.foreign));
        for action in actions {
            if matches!(action, Action::Leave | Action::Segment(_, _, true)) || under.is_over() {
                break;
            }
            if under.walk.enabled().contains(action) {
                under.step(*action, &format!("{fault:?}, of {actions:?}"));
            }
        }
    }
}
