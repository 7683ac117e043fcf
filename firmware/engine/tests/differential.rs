//! Hostile segments for two engines at once: one lets its card frame and place, the other does all by hand. Both take the
//! same ones and refuse the same ones, for the same reasons, and the same octets lie in memory. The card of these tests has
//! the rule of acceptance in words of its own. `WEFT_HOSTILE_SEEDS` says how many runs; usually 300.
#![allow(missing_docs)]

use crate::bench;

use bench::script::*;
use bench::*;
use weft_engine::*;
use weft_wire::ddp::DdpHeader;
use weft_wire::tcp::{flag, Options};

const REGION: u64 = 0x8000;
const WINDOW: u32 = 1 << 17;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as u32
    }

    fn below(&mut self, limit: u32) -> u32 {
        self.next() % limit
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u32) as usize]
    }
}

/// Both engines, with the peer they share.
struct Two {
    both: [Script; 2],
    stag: u32,
    start: u32,
    stream: Vec<u8>,
    /// The newest TSval the peer has sent.
    clock: u32,
    timestamps: bool,
}

fn standing(seed: u64) -> Two {
    let timestamps = seed & 1 != 0;
    let clock = 0xffff_f000u32.wrapping_add((seed as u32) << 8);
    let make = |attach: bool| {
        let mut s = Script::with(false, &|c| {
            c.seed = seed.into();
            c.timestamps = timestamps;
            // By hand because the engine is told so, or because of its rung.
            match seed & 2 {
                0 => c.attach = attach,
                _ if attach && seed & 4 != 0 => c.rung = Rung::Crc,
                _ if attach => {}
                _ => c.rung = Rung::Host,
            }
            c.receive_window = WINDOW;
            c.challenge_acks = u32::MAX;
        });
        s.seq = (seed as u32).wrapping_mul(0x9e37_79b9);
        s.ts_val = timestamps.then_some(clock);
        let qp = s.qp();
        let (pd, now) = (s.pd, s.now);
        let access = Access::LOCAL_WRITE | Access::REMOTE_WRITE;
        let stag = s
            .engine
            .register(pd, 0x1000, card::MEMORY, REGION, access, &mut s.card)
            .unwrap();
        for id in 0..16 {
            let sges = [sge(stag, 0x4000 + id * 200, 200)];
            let wr = RecvWr { id, sges: &sges };
            s.engine.post_recv(now, qp, &wr, &mut s.card).unwrap();
        }
        s.accepted(qp, RtrKinds::WRITE, &AcceptParams::default());
        s.data(&message(&DdpHeader::tagged(true, 0x40, 1, 0), &[]));
        s.wait(MS);
        (s, stag)
    };
    let (one, stag) = make(true);
    let (two, same) = make(false);
    assert_eq!(stag, same);
    let mut random = Random(seed);
    let mut stream = Vec::new();
    for n in 0..30 {
        let payload: Vec<u8> = (0..random.below(190))
            .map(|_| random.next() as u8)
            .collect();
        stream.extend(if n % 2 == 0 {
            let to = 0x1000 + u64::from(random.below(0x3000));
            message(&DdpHeader::tagged(true, 0x40, stag, to), &payload)
        } else {
            message(
                &DdpHeader::untagged(true, 0x43, 0, 0, 1 + n / 2, 0),
                &payload,
            )
        });
    }
    Two {
        start: one.seq,
        both: [one, two],
        stag,
        stream,
        clock,
        timestamps,
    }
}

/// What was decided so far, by whomever.
fn decided(s: &Script) -> [u64; 6] {
    let stats = s.engine.stats();
    [
        stats.refused_no_ack,
        stats.refused_window,
        stats.refused_timestamp,
        stats.refused_no_timestamp,
        stats.duplicates,
        stats.acks_unacceptable,
    ]
}

impl Two {
    /// Octets of the stream that are acknowledged.
    fn position(&self) -> u32 {
        let ack = self.both[0].sent.last().map_or(self.start, |s| s.ack);
        ack.wrapping_sub(self.start)
    }

    fn step(&mut self, seed: u64, random: &mut Random) {
        let position = self.position();
        let honest = random.below(3) == 0;
        let length = 1 + random.below(400);
        let mut at = position;
        let mut flags = flag::ACK;
        let mut ack_off = 0;
        let mut ts = Some(self.clock);
        let mut ip_options = false;
        let mut garbage = false;
        if !honest {
            let edges = [
                0,
                1,
                length,
                length / 2,
                WINDOW - length,
                WINDOW - length + 1,
                WINDOW,
                1 << 30,
                (1 << 31) - 1,
                1u32.wrapping_neg(),
                length.wrapping_neg(),
                (length + 1).wrapping_neg(),
                1u32.wrapping_sub(length),
                300u32.wrapping_neg(),
            ];
            at = position.wrapping_add(random.one(&edges));
            flags = random.one(&[
                flag::ACK,
                flag::ACK,
                flag::ACK | flag::PSH,
                flag::ACK | flag::URG,
                flag::PSH,
                0,
                flag::SYN,
                flag::SYN | flag::ACK,
                flag::RST,
            ]);
            ack_off = random.one(&[
                0,
                0,
                0,
                1,
                70_000,
                1 << 31,
                1u32.wrapping_neg(),
                (1u32 << 24).wrapping_neg(),
            ]);
            ip_options = random.below(4) == 0;
            if self.timestamps {
                let old = random.one(&[1, 0x100, (1 << 31) - 1, 1 << 31]);
                ts = random.one(&[ts, ts, ts, None, Some(self.clock.wrapping_sub(old))]);
            }
            // Content of somebody else's, where nobody may take it.
            let bad_control = flags & flag::ACK == 0 || flags & (flag::SYN | flag::RST) != 0;
            garbage = bad_control || ts != Some(self.clock) && self.timestamps && !ip_options;
            if flags & flag::RST != 0 && at == position {
                return;
            }
            // What the card cannot see behind IP options, it calls a duplicate where the engine calls it too old.
            if ip_options && self.timestamps && ts != Some(self.clock) {
                return;
            }
        } else if self.timestamps {
            self.clock = self
                .clock
                .wrapping_add(random.below(3) * random.below(1000));
            ts = Some(self.clock);
        }
        let empty = !honest && random.below(6) == 0;
        let payload: Vec<u8> = (0..if empty { 0 } else { length })
            .map(|n| at.wrapping_add(n) as usize)
            .map_while(|n| match self.stream.get(n) {
                _ if garbage => Some(0xee),
                Some(byte) => Some(*byte),
                None if honest || n < 0x10000 => None,
                None => Some(0xee),
            })
            .collect();
        if payload.is_empty() && ts == Some(self.clock) {
            // A newer timestamp without data reaches the engine alone; the card's TS.Recent goes on with data.
            let echo = self.both[0].sent.last().and_then(|s| s.options.timestamps);
            ts = echo.map(|(_, echo)| echo);
        }
        let seq = self.start.wrapping_add(at);
        let before = self.both.each_ref().map(decided);
        for s in &mut self.both {
            s.ts_val = ts.filter(|_| self.timestamps);
            let good = s.ack;
            s.ack = good.wrapping_add(ack_off);
            let frame = s.frame(flags, seq, Options::default(), &payload);
            s.ack = good;
            s.card.receive(&if ip_options {
                with_ip_options(&frame)
            } else {
                frame
            });
            s.work();
            s.wait(30 * US);
        }
        let change = |n: usize| {
            let now = decided(&self.both[n]);
            std::array::from_fn::<u64, 6, _>(|i| now[i] - before[n][i])
        };
        let what = format!(
            "seed {seed}: {flags:02x} at {position} + {}, {} octets, ack {ack_off:x}, ts {ts:?}, IP options {ip_options}",
            at.wrapping_sub(position) as i32,
            payload.len()
        );
        assert_eq!(change(0), change(1), "{what}");
        self.same(&what);
    }

    fn same(&mut self, what: &str) {
        let [one, two] = &mut self.both;
        let acks = [&*one, &*two].map(|s| s.sent.last().map(|s| s.ack));
        assert_eq!(acks[0], acks[1], "{what}");
        assert_eq!(one.completions, two.completions, "{what}");
        assert_eq!(one.events.len(), two.events.len(), "{what}");
        let length = REGION as usize;
        let memory = one.card.bytes(card::MEMORY, length).unwrap().to_vec();
        assert!(
            memory == two.card.bytes(card::MEMORY, length).unwrap(),
            "{what}: memory"
        );
    }
}

#[test]
fn the_card_and_the_engine_take_the_same_segments() {
    // Environment (tests): `WEFT_HOSTILE_SEEDS`: hostile input to the engine, and hostile traffic to the model: how many seeds. Without it: some
    // hundreds.
    let seeds = std::env::var("WEFT_HOSTILE_SEEDS").ok();
    let seeds: u64 = seeds.and_then(|seeds| seeds.parse().ok()).unwrap_or(300);
    let begin = std::time::Instant::now();
    let mut walked = 0;
    for seed in 0..seeds {
        let mut two = standing(seed);
        let mut random = Random(seed ^ 0x5eed);
        for _ in 0..60 {
            two.step(seed, &mut random);
        }
        // In the end the honest peer's stream is there, whatever came between.
        two.clock = two.clock.wrapping_add(10);
        while let Some(rest) = two
            .stream
            .get(two.position() as usize..)
            .filter(|rest| !rest.is_empty())
        {
            let piece = rest[..rest.len().min(700)].to_vec();
            let at = two.start.wrapping_add(two.position());
            let before = two.position();
            for s in &mut two.both {
                s.ts_val = two.timestamps.then_some(two.clock);
                s.send(flag::ACK, at, Options::default(), &piece);
                s.wait(30 * US);
            }
            assert!(
                two.position() > before,
                "seed {seed}: no way on at {before}"
            );
        }
        two.same(&format!("seed {seed}, the end"));
        assert_eq!(two.both[0].completions.len(), 15, "seed {seed}");
        let by_hand = two.both[1].engine.stats();
        assert_eq!((by_hand.attaches, by_hand.fpdus_card), (0, 0));
        walked += two.both[0].engine.stats().fpdus_card;
        let _ = two.stag;
    }
    assert!(walked > 2 * seeds, "the card took {walked}");
    println!(
        "{seeds} seeds, {walked} FPDUs by the card, {:?}",
        begin.elapsed()
    );
}
