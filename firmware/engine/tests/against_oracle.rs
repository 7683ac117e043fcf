//! FPDUs of all kinds, right and wrong, for one who shares no code with those who take them in earnest: the tests' card has its
//! framing and its checks from `bench/oracle`, the engine (as the functional model) from `weft-wire`. Both place the same octets, and
//! find the same error in the same FPDU. `WEFT_ORACLE_SEEDS` says how many streams; usually 500.
#![allow(missing_docs)]

use crate::bench;

use std::collections::BTreeMap;

use bench::oracle::fpdu;
use bench::oracle::segment::Segment;
use bench::script::*;
use bench::*;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use weft_engine::*;

/// One region for everything; its bytes are at the front of the card's memory.
const BASE: u64 = 0x1000;
const SIZE: u64 = 4000;
/// Receive elements that were posted, each of three pieces.
const POSTED: u32 = 5;
const PIECES: [(u64, u32); 3] = [(100, 70), (300, 1), (500, 150)];

struct Random(ChaCha8Rng);

impl Random {
    fn below(&mut self, limit: u32) -> u32 {
        self.0.next_u32() % limit
    }

    fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u32) as usize]
    }

    fn octets(&mut self, count: u32) -> Vec<u8> {
        let mut octets = vec![0; count as usize];
        self.0.fill_bytes(&mut octets);
        octets
    }
}

/// What the peer does: its FPDUs, as they lie in the stream.
struct Plan {
    markers: bool,
    stags: [u32; 3],
    msn: u32,
    mo: u32,
}

impl Plan {
    /// A segment: mostly right, at places that are mostly edges.
    fn segment(&mut self, random: &mut Random) -> Vec<u8> {
        let wrong = random.one_in(10);
        let mut segment = Segment {
            ddp_control: 1 | if random.one_in(3) { 0 } else { 0x40 },
            rdmap_control: 0x40,
            ..Segment::default()
        };
        let mut length = random.one(&[0, 1, 3, 20, 63, 64, 69, 70, 71, 72, 200, 221, 222, 600]);
        if random.one_in(2) {
            segment.tagged = true;
            segment.ddp_control |= 0x80;
            segment.stag_or_qn = self.stags[0];
            let room = SIZE - u64::from(length);
            segment.to_or_mo = BASE + random.one(&[0, 1, room / 2, room - 1, room]);
            if wrong {
                let [_, foreign, silent] = self.stags;
                segment.stag_or_qn =
                    random.one(&[self.stags[0], foreign, silent, 0, 0x77, 0xffff_ff00]);
                let edge = BASE + room;
                segment.to_or_mo = random.one(&[
                    segment.to_or_mo,
                    BASE - 1,
                    edge + 1,
                    u64::MAX,
                    0u64.wrapping_sub(length.into()),
                    1u64.wrapping_sub(length.into()),
                ]);
                // A Read Response that nobody asked for.
                segment.rdmap_control = random.one(&[0x40, 0x40, 0x42]);
            }
        } else {
            segment.rdmap_control = random.one(&[0x43, 0x45]);
            let room: u32 = PIECES.iter().map(|piece| piece.1).sum();
            let left = room.saturating_sub(self.mo);
            if !wrong {
                length = length.min(left);
            } else if random.one_in(3) {
                length = left + 1;
            }
            let off = if wrong {
                random.one(&[0, 1, u32::MAX, 1 << 31])
            } else {
                0
            };
            segment.msn = self.msn.wrapping_add(off);
            let off = if wrong {
                random.one(&[0, 0, 1, u32::MAX])
            } else {
                0
            };
            segment.to_or_mo = self.mo.wrapping_add(off).into();
            if segment.is_last() {
                (self.msn, self.mo) = (self.msn.wrapping_add(1), 0);
            } else {
                self.mo = self.mo.wrapping_add(length);
            }
        }
        if wrong && random.one_in(3) {
            let bit = 1 << random.below(8);
            match random.below(3) {
                0 => segment.ddp_control ^= bit & 3,
                1 => segment.rdmap_control ^= bit,
                _ => segment.stag_or_qn = random.one(&[1, 2, 3, 4, u32::MAX]),
            }
        }
        let payload = random.octets(length);
        let mut ulpdu = segment.with(&payload);
        if wrong && random.one_in(4) {
            ulpdu.truncate(random.below(20) as usize);
        }
        ulpdu
    }

    /// The FPDU of it, to begin at `seq`; perhaps one of its bits is another one.
    fn fpdu(&mut self, random: &mut Random, seq: u32, base: u32) -> Vec<u8> {
        let markers = self.markers.then_some(base);
        let ulpdu = loop {
            let (msn, mo) = (self.msn, self.mo);
            let ulpdu = self.segment(random);
            if is_judged(&ulpdu) {
                break ulpdu;
            }
            (self.msn, self.mo) = (msn, mo);
        };
        let mut octets = fpdu::frame(seq, markers, true, &ulpdu);
        let marker = base.wrapping_sub(seq) as usize % 512;
        if random.one_in(30) {
            // Not in the length field: it would wait for more.
            let at = random.below(octets.len() as u32 - 6) as usize + 6;
            octets[at] ^= 1 << random.below(8);
        } else if self.markers && marker + 4 < octets.len() && random.one_in(10) {
            octets[marker + random.one(&[0, 1, 2, 3, 3])] ^= 1 << random.below(8);
            if random.one_in(2) {
                // The CRC is that of what goes out.
                let covered = octets.len() - 4;
                let sum = fpdu::crc32c(&octets[..covered]).to_le_bytes();
                octets[covered..].copy_from_slice(&sum);
            }
        }
        octets
    }
}

/// The card's checks end what comes of it. Messages for the engine, and those that it looks at once more when they are placed
/// (invalidations, immediate data, the end of a Read), have tests of their own.
fn is_judged(ulpdu: &[u8]) -> bool {
    Segment::read(ulpdu).is_none_or(|segment| {
        let asks_more = segment.stag_or_qn > 0 || matches!(segment.opcode(), 4 | 6 | 8 | 9);
        let response = segment.tagged && segment.opcode() == 2 && ulpdu.len() == segment.len;
        segment.check().is_err() || !response && (segment.tagged || !asks_more)
    })
}

fn standing(way: Way, seed: u64, markers: bool) -> (Script, [u32; 3]) {
    let mut s = Script::with(way == Way::ByHand, &|c| {
        c.seed = seed.into();
        if way == Way::Host {
            c.rung = Rung::Host;
        }
    });
    s.seq = (seed as u32).wrapping_mul(0x9e37_79b9);
    let qp = s.qp();
    let other = s.engine.alloc_pd();
    let all = Access::LOCAL_WRITE | Access::REMOTE_WRITE | Access::READ_SINK;
    let stags = [(s.pd, all), (other, all), (s.pd, Access::LOCAL_WRITE)].map(|(pd, access)| {
        s.engine
            .register(pd, BASE, card::MEMORY, SIZE, access, &mut s.card)
            .unwrap()
    });
    for id in 0..POSTED {
        let sges = PIECES.map(|(at, length)| sge(stags[0], at, length));
        let wr = RecvWr {
            id: id.into(),
            sges: &sges,
        };
        s.engine.post_recv(s.now, qp, &wr, &mut s.card).unwrap();
    }
    let accept = AcceptParams {
        markers,
        ..AcceptParams::default()
    };
    s.accepted(qp, RtrKinds::NONE, &accept);
    (s, stags)
}

#[test]
fn the_judge_finds_the_same_errors() {
    // Environment (tests): `WEFT_ORACLE_SEEDS`: FPDUs right and wrong to the engine and to the judge of its tests: how many streams. Without it: 500.
    let seeds = std::env::var("WEFT_ORACLE_SEEDS").ok();
    let seeds: u64 = seeds.and_then(|seeds| seeds.parse().ok()).unwrap_or(500);
    let mut found: BTreeMap<u16, u32> = BTreeMap::new();
    let (mut by_card, mut good) = (0, 0);
    for seed in 0..seeds {
        let markers = seed & 1 != 0;
        let ways = Way::ALL.map(|way| standing(way, seed, markers));
        let stags = ways[0].1;
        let mut ways = ways.map(|(s, own)| {
            assert_eq!(own, stags, "seed {seed}");
            s
        });
        let mut random = Random(ChaCha8Rng::seed_from_u64(seed));
        let mut plan = Plan {
            markers,
            stags,
            msn: 1,
            mo: 0,
        };
        let base = ways[0].seq;
        // The first FPDU is right: it lets the card begin.
        let first = Segment {
            ddp_control: 0x41,
            rdmap_control: 0x43,
            msn: 1,
            ..Segment::default()
        };
        plan.msn = 2;
        let mut octets = fpdu::frame(base, markers.then_some(base), true, &first.with(&[]));
        for _ in 0..30 {
            for s in &mut ways {
                s.data(&octets);
                s.wait(MS);
            }
            if ways.iter().any(|s| s.terminate().is_some()) {
                break;
            }
            octets.clear();
            let mut seq = ways[0].seq;
            for _ in 0..1 + random.below(2) {
                let next = plan.fpdu(&mut random, seq, base);
                seq = seq.wrapping_add(next.len() as u32);
                octets.extend(next);
            }
        }
        let code = ways[0].card.errors.first().copied();
        for (s, way) in ways.iter().zip(Way::ALL) {
            let said = s.terminate().map(|(code, _)| code);
            assert_eq!(said, code, "seed {seed}, {way:?}");
        }
        let [card, others @ ..] = &mut ways;
        let memory = card.card.bytes(card::MEMORY, SIZE as usize).unwrap();
        for (s, way) in others.iter_mut().zip(&Way::ALL[1..]) {
            let same = s.card.bytes(card::MEMORY, SIZE as usize).unwrap() == memory;
            assert!(same, "seed {seed}, {way:?}: memory");
            let done = s.completions == card.completions;
            assert!(done, "seed {seed}, {way:?}: completions");
        }
        by_card += card.engine.stats().fpdus_card;
        match code {
            Some(code) => *found.entry(code).or_default() += 1,
            None => good += 1,
        }
    }
    println!("{seeds} streams: {by_card} FPDUs placed by the card, {good} without error; errors: {found:x?}");
    if seeds >= 500 {
        let all = [
            0x0102, 0x0205, 0x0206, 0x1000, 0x1100, 0x1101, 0x1102, 0x1103, 0x1104, 0x1201, 0x1202,
            0x1203, 0x1204, 0x1205, 0x1206, 0x2002, 0x2003,
        ];
        for code in all {
            assert!(found.contains_key(&code), "{code:04x} was never found");
        }
        assert!(by_card > 5 * seeds, "{by_card}");
    }
}

/// The judge by itself: the worked examples of RFC 5044 §4.4, Sends of 24 zero octets, and each bit of one of them.
#[test]
fn the_judge_knows_the_examples() {
    let ulpdu = |msn: u32| {
        Segment {
            ddp_control: 0x41,
            rdmap_control: 0x43,
            msn,
            ..Segment::default()
        }
        .with(&[0; 24])
    };
    let first = fpdu::frame(0, Some(0), true, &ulpdu(1));
    assert_eq!(first.len(), 0x34);
    assert_eq!(first[..8], [0, 0, 0, 0, 0, 0x2a, 0x41, 0x43]);
    assert_eq!(first[0x30..], [0x52, 0x23, 0x99, 0x83]);
    let second = fpdu::frame(0x1ec, Some(0), true, &ulpdu(2));
    assert_eq!(second.len(), 0x34);
    assert_eq!(second[0x14..0x18], [0, 0, 0, 0x14]);
    assert_eq!(second[0x30..], [0x84, 0x92, 0x58, 0x98]);
    for (seq, octets, msn) in [(0, first, 1), (0x1ec, second, 2)] {
        let found = fpdu::deframe(&octets, seq, Some(0)).expect("whole");
        assert_eq!(found.ulpdu, ulpdu(msn));
        assert!(found.markers_exact && found.crc_good && found.pad_good);
        for bit in 0..octets.len() * 8 {
            let mut bad = octets.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            let found = fpdu::deframe(&bad, seq, Some(0));
            assert!(found.is_none_or(|fpdu| !fpdu.crc_good), "bit {bit}");
        }
    }
}
