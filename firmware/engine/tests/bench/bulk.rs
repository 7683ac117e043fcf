//! Bulk both ways: Writes, Sends and Reads between hosts that are any number of reports behind, over a way that cuts, loses and repeats.
//! Every octet is looked at in the end.

use super::late::Late;
use super::middlebox::{Cuts, Middlebox};
use super::*;
use weft_layout::replay_outcome;

/// Behind the sources of a host lie its sinks.
const SOURCE: u32 = 1 << 20;
const SINK: u64 = 3 << 20;
/// Work requests of a host in flight.
const AHEAD: usize = 24;
/// Its receives, of which a host that is behind may not know that they are used.
const RECEIVES: usize = 60;

/// One run.
#[derive(Clone, Debug)]
pub struct Plan {
    pub seed: u64,
    pub late: [Late; 2],
    /// What lies behind is on its way, so that a host does not see it; else it is at hand.
    pub on_way: bool,
    pub faults: Faults,
    pub cuts: Option<Cuts>,
    pub mtu: u16,
    pub window: u32,
    pub raw_slots: usize,
    pub replay: u16,
    pub timestamps: bool,
    pub markers: [bool; 2],
    /// Both ask that each segment begins with an FPDU.
    pub aligned: bool,
    /// The cards carry FPDUs over the ends of segments.
    pub carry: bool,
    /// Octets of each host's messages together, and of a message at most.
    pub volume: u32,
    pub message: u32,
    /// Of Writes, Sends, Reads.
    pub shares: [u32; 3],
    /// How late a report is at the least.
    pub report_delay: u64,
}

/// A number from a row of equal chances.
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: u32) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as u32 % end
    }

    fn of<T: Copy>(&mut self, these: &[T]) -> T {
        these[self.below(these.len() as u32) as usize]
    }

    fn one_in(&mut self, count: u32) -> bool {
        self.below(count) == 0
    }
}

impl Plan {
    /// Any of them.
    pub fn drawn(seed: u64) -> Self {
        let mut draw = Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let d = &mut draw;
        for _ in 0..4 {
            d.below(2);
        }
        let mut late = || {
            let behind = d.of(&[0, 0, 1, 1, 2, 3, 4, 8, 16, 32, 64]);
            if d.one_in(2) {
                Late::fixed(behind)
            } else {
                Late::up_to(behind)
            }
        };
        let late = [late(), late()];
        let faults = match d.below(6) {
            0..3 => Faults::default(),
            3 => Faults {
                loss: d.of(&[100, 655, 2000]),
                ..Faults::default()
            },
            4 => Faults {
                duplicate: 1500,
                reorder: d.of(&[200, 2000, 6000]),
                ..Faults::default()
            },
            _ => Faults {
                loss: 400,
                burst: 30,
                duplicate: 1000,
                reorder: 1000,
                split: 2000,
                ..Faults::default()
            },
        };
        let window = 1 << (14 + d.below(7));
        let sizes = match d.below(4) {
            0 => (1, 1400),
            1 => (1400, 1400),
            2 => (500, 1100),
            _ => (60 + d.below(300), 1400),
        };
        let cuts = Cuts {
            sizes,
            ends: d.one_in(2),
            fill: !d.one_in(3),
            window,
        };
        // A window below the engine's least one is the way's.
        let cuts = (window < 1 << 17 || !d.one_in(3)).then_some(cuts);
        let message = d.of(&[64, 700, 3000, 20_000, 100_000]);
        let volume = match message {
            64 => 6_000,
            700 => 60_000,
            _ if d.one_in(6) => window * 2 + 300_000,
            _ => 200_000,
        };
        Plan {
            seed,
            late,
            on_way: d.one_in(2),
            faults,
            cuts,
            mtu: d.of(&[1500, 1500, 1500, 1280, 1006, 576]),
            window: window.max(1 << 17),
            raw_slots: 4096,
            replay: d.of(&[0, 0, 4096, 4096, 9000, 1500]),
            timestamps: d.one_in(3),
            markers: [d.one_in(4), d.one_in(4)],
            volume: volume.min(2 << 20),
            message,
            shares: d.of(&[[1, 0, 0], [0, 1, 0], [1, 1, 1], [2, 1, 0], [0, 0, 1]]),
            report_delay: d.of(&[500, 500, 3000, 20_000]),
            carry: d.one_in(2),
            aligned: d.one_in(4),
        }
    }

    fn has_losses(&self) -> bool {
        self.faults.loss > 0 || self.faults.burst > 0
    }
}

/// A message of a host.
#[derive(Clone, Copy)]
struct Message {
    kind: usize,
    length: u32,
    /// In its source.
    from: u32,
    /// In its sink.
    at: u64,
}

/// Octet `at` of a host's source.
fn octet(host: usize, at: u32) -> u8 {
    (at * 31 + (at >> 8) * 7 + (at >> 16) * 3 + host as u32 * 101) as u8
}

/// The run, from the connection to its orderly end.
#[track_caller]
pub fn run(plan: &Plan) -> Bench {
    let seed = plan.seed;
    let mut b = Bench::with(seed, &|c| {
        c.mtu = plan.mtu;
        c.receive_window = plan.window;
        c.replay = plan.replay;
        c.timestamps = plan.timestamps;
        c.carry = plan.carry;
    });
    for host in &mut b.hosts {
        host.card.raw_slots(plan.raw_slots);
        host.card.reports_on_way = plan.on_way;
    }
    b.faults = plan.faults;
    b.late = plan.late;
    b.report_delay = plan.report_delay;
    b.middlebox = plan.cuts.map(|cuts| Middlebox::new(seed, cuts));
    let params = ConnectParams {
        markers: plan.markers[0],
        aligned: plan.aligned,
        ..Default::default()
    };
    let accept = AcceptParams {
        markers: plan.markers[1],
        aligned: plan.aligned,
        ..Default::default()
    };
    let pair = b.connect(&params, &accept);
    let access =
        Access::LOCAL_WRITE | Access::REMOTE_READ | Access::REMOTE_WRITE | Access::READ_SINK;
    let size = u64::from(SOURCE) + SINK;
    let regions = [
        b.hosts[0].region(size, access),
        b.hosts[1].region(size, access),
    ];
    for (n, region) in regions.iter().enumerate() {
        let source = b.memory(n, region.1, SOURCE as usize);
        (0..)
            .zip(source)
            .for_each(|(at, byte)| *byte = octet(n, at));
    }
    let mut draw = Draw(seed ^ 0x51ed_270b);
    let messages = [0, 1].map(|_| drawn_messages(plan, &mut draw));
    let (mut posted, mut received) = ([0; 2], [0u64; 2]);
    let mut sink = [u64::from(SOURCE); 2];
    let mut expected: Vec<(usize, Message)> = Vec::new();
    let mut done: [Vec<Completion>; 2] = Default::default();
    let mut completed = [0; 2];
    let started = b.now;
    loop {
        for n in 0..2 {
            while posted[n] < messages[n].len() && posted[n] - completed[n] < AHEAD {
                let mut message = messages[n][posted[n]];
                let taken = done[1 - n].len() - completed[1 - n];
                if message.kind == 1 && received[1 - n] as usize - taken >= RECEIVES {
                    break;
                }
                let to = if message.kind == 2 { n } else { 1 - n };
                message.at = sink[to];
                sink[to] += u64::from(message.length) + 3;
                assert!(sink[to] < size, "seed {seed}: more than there is room for");
                post(
                    &mut b,
                    n,
                    &pair,
                    regions,
                    (&message, posted[n] as u64),
                    &mut received,
                );
                expected.push((to, message));
                posted[n] += 1;
            }
        }
        for n in 0..2 {
            for completion in b.hosts[n].completions.drain(..) {
                assert_eq!(completion.status, Status::Success, "{plan:?}");
                completed[n] += usize::from(completion.opcode != Opcode::Recv);
                done[n].push(completion);
            }
        }
        let all = |n: usize| {
            completed[n] == messages[n].len()
                && done[n].len() == completed[n] + received[n] as usize
        };
        if all(0) && all(1) {
            break;
        }
        let alive = b.step();
        // Nobody waits for a timer of a fifth of a second where nothing is lost, but for a few.
        let limit = if plan.has_losses() { 600_000 } else { 4_000 };
        assert!(
            alive && b.now - started < limit * MS,
            "it stands still: {completed:?} of {:?}, {plan:?}\n{:?}\n{:?}",
            [messages[0].len(), messages[1].len()],
            b.hosts[0].engine.stats(),
            b.hosts[1].engine.stats(),
        );
    }
    if plan.replay > 0 {
        // What lies in slots is acknowledged before the card has walked over it.
        b.run(2 * MS);
    }
    for n in 0..2 {
        let ids = done[n].iter().filter(|c| c.opcode == Opcode::Recv);
        let ids: Vec<u64> = ids.map(|c| c.wr_id).collect();
        assert_eq!(ids, (0..received[n]).collect::<Vec<_>>(), "{plan:?}");
    }
    verify(&mut b, plan, regions, &expected);
    b.call(0, |e, now, c| e.disconnect(now, pair.conns[0], c))
        .unwrap();
    for n in 0..2 {
        let event = b.event_of(n, 1_000_000 * MS);
        let orderly = matches!(
            event,
            Event::Disconnected {
                reason: DisconnectReason::Local | DisconnectReason::Peer,
                ..
            }
        );
        assert!(orderly, "{event:?} {plan:?}");
        assert_eq!(b.hosts[n].engine.stats().terminates_sent, 0, "{plan:?}");
    }
    b.run(2 * MS);
    for (n, host) in b.hosts.iter().enumerate() {
        assert_eq!(host.card.lent_out(), 0, "a slot is lost: {plan:?}");
        let placed = host.card.placed + host.card.placed_by_hand;
        let to = expected.iter().filter(|(to, _)| *to == n);
        let once: u64 = to.map(|(_, message)| u64::from(message.length)).sum();
        assert_eq!(placed, once, "placed twice: {plan:?}");
        // Another one comes behind a piece that has come.
        let partial = host.card.replays[usize::from(replay_outcome::PARTIAL)];
        let held = host.engine.stats().segments_held;
        assert!(u64::from(partial) <= held, "{partial} of {held}: {plan:?}");
    }
    b.judge([params.markers, accept.markers]);
    b
}

fn drawn_messages(plan: &Plan, draw: &mut Draw) -> Vec<Message> {
    let all: u32 = plan.shares.iter().sum();
    let mut messages = Vec::new();
    let mut left = plan.volume;
    while left > 0 {
        let mut chance = draw.below(all);
        let mut kind = 0;
        while chance >= plan.shares[kind] {
            chance -= plan.shares[kind];
            kind += 1;
        }
        let length = match draw.below(3) {
            0 => plan.message,
            1 => draw.below(plan.message + 1),
            _ => draw.below(plan.message.min(1600) + 1),
        };
        let length = length.min(left);
        left -= length.max(1);
        let from = draw.below(SOURCE - length);
        messages.push(Message {
            kind,
            length,
            from,
            at: 0,
        });
    }
    messages
}

fn post(
    b: &mut Bench,
    n: usize,
    pair: &Pair,
    regions: [(u32, u64); 2],
    (message, id): (&Message, u64),
    received: &mut [u64; 2],
) {
    let &Message {
        kind,
        length,
        from,
        at,
    } = message;
    let other = 1 - n;
    let (own, there) = (regions[n].0, regions[other].0);
    let source = [sge(own, from.into(), length)];
    let sinks = [sge(own, at, length)];
    let wr = match kind {
        0 => write(id, there, 0x1000 + at, &source),
        1 => {
            let half = length / 2;
            let sges = [
                sge(there, at, half),
                sge(there, at + u64::from(half), length - half),
            ];
            b.post_recv(other, pair.qps[other], received[other], &sges)
                .unwrap();
            received[other] += 1;
            send(id, &source)
        }
        _ => read(id, there, 0x1000 + u64::from(from), &sinks),
    };
    b.post_send(n, pair.qps[n], &wr).unwrap();
}

/// Every octet is where it belongs, and nothing lies between.
#[track_caller]
fn verify(b: &mut Bench, plan: &Plan, regions: [(u32, u64); 2], expected: &[(usize, Message)]) {
    for (n, region) in regions.iter().enumerate() {
        let mut want = vec![0; SINK as usize];
        for (_, message) in expected.iter().filter(|(host, _)| *host == n) {
            let at = (message.at - u64::from(SOURCE)) as usize;
            let octets = (message.from..).map(|at| octet(1 - n, at));
            let there = &mut want[at..at + message.length as usize];
            there
                .iter_mut()
                .zip(octets)
                .for_each(|(byte, is)| *byte = is);
        }
        let got = b.memory(n, region.1 + u64::from(SOURCE), SINK as usize);
        if got != want {
            let at = got.iter().zip(&want).position(|(got, want)| got != want);
            panic!("a wrong octet at {at:?} of host {n}: {plan:?}");
        }
    }
}
