//! Chains of work on a queue that is behind: random lists of all that a send queue does, against an oracle that does one after the other.
//! `WEFT_CHAINS` says how many seeds; 300 without.
#![allow(missing_docs)]

use crate::bench;

use std::cell::Cell;
use std::ops::Range;
use std::rc::Rc;

use bench::*;
use weft_engine::*;

const SIZE: usize = 4096;
/// Room of each receive.
const ROOM: usize = 256;
const BASE: u64 = 0x1000;

/// What an STag that gets its memory by work names.
#[derive(Clone, Copy)]
struct Named {
    at: usize,
    length: usize,
}

/// What the oracle knows of a host 0's STag.
struct Stag {
    index: u32,
    key: u32,
    kind: StagKind,
    named: Option<Named>,
}

impl Stag {
    fn stag(&self) -> u32 {
        self.index | self.key & 0xff
    }
}

struct Expected {
    opcode: Opcode,
    status: Status,
}

/// Both memories, as they are when all so far is done one after the other.
struct Oracle {
    memory: [Vec<u8>; 2],
    /// Messages that arrive.
    messages: Vec<Vec<u8>>,
    stags: Vec<Stag>,
    /// What Reads and atomics behind the last fence touch: of this side, of the peer.
    sinks: Vec<Range<usize>>,
    sources: Vec<Range<usize>>,
    expected: Vec<Expected>,
    received: usize,
    invalidated: Vec<Option<u32>>,
    failed: bool,
}

fn overlap(ranges: &[Range<usize>], with: &Range<usize>) -> bool {
    let mut ranges = ranges.iter();
    ranges.any(|range| range.start < with.end && with.start < range.end)
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        let next = self.0.wrapping_mul(6364136223846793005);
        self.0 = next.wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % end.max(1)
    }
}

struct Chain {
    b: Bench,
    random: Random,
    pair: Pair,
    region: u32,
    peer: u32,
    iovas: [u64; 2],
    /// Regions of the peer that Sends invalidate, each once.
    victims: Vec<u32>,
    inbox: u64,
    oracle: Oracle,
    lost: Rc<Cell<bool>>,
}

/// A piece of host 0's memory by some name of it.
struct Local {
    sge: Sge,
    at: Range<usize>,
}

impl Chain {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed ^ 0x1234_5678);
        random.below(2);
        let mut b = Bench::by(Way::ALL[seed as usize % 4], seed);
        let params = ConnectParams {
            ord: 1 + (seed % 3) as u16,
            ..ConnectParams::default()
        };
        let pair = b.connect(&params, &AcceptParams::default());
        let own = Access::LOCAL_WRITE | Access::BIND | Access::READ_SINK;
        let (region, iova) = b.hosts[0].region(SIZE as u64, own);
        let others = Access::REMOTE_READ | Access::REMOTE_WRITE | Access::REMOTE_ATOMIC;
        let (peer, peer_iova) = b.hosts[1].region(SIZE as u64, others);
        let (inbox_stag, inbox) = b.hosts[1].region(64 * ROOM as u64, Access::LOCAL_WRITE);
        for slot in 0..64 {
            let room = [sge(inbox_stag, slot * ROOM as u64, ROOM as u32)];
            b.post_recv(1, pair.qps[1], slot, &room).unwrap();
        }
        let right = Access::REMOTE_INVALIDATE | Access::REMOTE_WRITE;
        let victims = (0..8).map(|_| b.hosts[1].region(8, right).0).collect();
        let mut memory = [vec![0; SIZE], vec![0; SIZE]];
        for (n, iova) in [iova, peer_iova].into_iter().enumerate() {
            for (at, byte) in memory[n].iter_mut().enumerate() {
                *byte = (at * 7 + at / 253 + 91 * n) as u8;
            }
            b.memory(n, iova, SIZE).copy_from_slice(&memory[n]);
        }
        let pd = b.hosts[0].pd;
        let kinds = [
            StagKind::FastRegion,
            StagKind::FastRegion,
            StagKind::Window1,
            StagKind::Window2,
        ];
        let stags = kinds.map(|kind| Stag {
            index: b.hosts[0].engine.alloc_stag(pd, kind).unwrap() & !0xff,
            key: 0,
            kind,
            named: None,
        });
        let lost = Rc::new(Cell::new(false));
        let filter = lost.clone();
        b.tamper = Some(Box::new(move |from, _| from == 1 || !filter.get()));
        if seed % 3 == 0 {
            b.faults.loss = 1500;
        }
        Chain {
            b,
            random,
            pair,
            region,
            peer,
            iovas: [iova, peer_iova],
            victims,
            inbox,
            oracle: Oracle {
                memory,
                messages: Vec::new(),
                stags: stags.into(),
                sinks: Vec::new(),
                sources: Vec::new(),
                expected: Vec::new(),
                received: 0,
                invalidated: Vec::new(),
                failed: false,
            },
            lost,
        }
    }

    /// Up to so many bytes of this side, by the region's STag or another one; 8 aligned ones if asked for.
    fn local(&mut self, most: usize, aligned: bool) -> Local {
        let fast = self.random.below(2);
        let stag = &self.oracle.stags[fast];
        let (named, stag) = match stag.named {
            Some(named) if self.random.below(3) > 0 => (named, stag.stag()),
            _ => {
                let (at, length) = (0, SIZE);
                (Named { at, length }, self.region)
            }
        };
        let length = match aligned {
            true => 8,
            false => 1 + self.random.below(most.min(named.length)),
        };
        let at = self.random.below(named.length - length + 1);
        let from = named.at + at;
        Local {
            sge: Sge {
                stag,
                to: BASE + at as u64,
                length: length as u32,
            },
            at: from..from + length,
        }
    }

    fn remote(&mut self, length: usize) -> Range<usize> {
        let at = self.random.below(SIZE - length + 1);
        at..at + length
    }

    #[track_caller]
    fn post(&mut self, op: SendOp, list: &[Sge], fence: bool, opcode: Opcode) {
        let wr = SendWr {
            op,
            fence: fence || self.random.below(8) == 0,
            ..send(self.oracle.expected.len() as u64, list)
        };
        if wr.fence {
            self.oracle.sinks.clear();
            self.oracle.sources.clear();
        }
        let status = match self.oracle.failed {
            true => Status::Flushed,
            false => Status::Success,
        };
        self.oracle.expected.push(Expected { opcode, status });
        self.b.post_send(0, self.pair.qps[0], &wr).unwrap();
    }

    /// One more entry of the list.
    fn step(&mut self) {
        let op = self.random.below(9);
        match op {
            0..=2 => self.binding(),
            3 => {
                let local = self.local(700, false);
                let to = self.remote(local.at.len());
                let fence =
                    overlap(&self.oracle.sinks, &local.at) || overlap(&self.oracle.sources, &to);
                let op = SendOp::Write {
                    stag: self.peer,
                    to: BASE + to.start as u64,
                };
                self.post(op, &[local.sge], fence, Opcode::Write);
                if !self.oracle.failed {
                    let bytes = self.oracle.memory[0][local.at].to_vec();
                    self.oracle.memory[1][to].copy_from_slice(&bytes);
                }
            }
            4 | 5 => {
                let local = self.local(700, false);
                let from = self.remote(local.at.len());
                let op = SendOp::Read {
                    stag: self.peer,
                    to: BASE + from.start as u64,
                };
                // Placement has no order (RFC 5040 §5.5): the card places a Response before the engine does an atomic's answer.
                let fence = overlap(&self.oracle.sinks, &local.at);
                self.post(op, &[local.sge], fence, Opcode::Read);
                if !self.oracle.failed {
                    let bytes = self.oracle.memory[1][from.clone()].to_vec();
                    self.oracle.memory[0][local.at.clone()].copy_from_slice(&bytes);
                }
                self.oracle.sinks.push(local.at);
                self.oracle.sources.push(from);
            }
            6 => {
                let local = self.local(8, true);
                let at = self.remote(SIZE / 8);
                let at = at.start / 8 * 8;
                let atomic = Atomic::FetchAdd { add: 3, mask: 0 };
                let op = SendOp::Atomic {
                    stag: self.peer,
                    to: BASE + at as u64,
                    atomic,
                };
                let fence = overlap(&self.oracle.sinks, &local.at);
                self.post(op, &[local.sge], fence, Opcode::FetchAdd);
                if !self.oracle.failed {
                    let mut bytes = [0; 8];
                    let place = &mut self.oracle.memory[1][at..at + 8];
                    bytes.copy_from_slice(place);
                    let after = u64::from_le_bytes(bytes).wrapping_add(3);
                    place.copy_from_slice(&after.to_le_bytes());
                    self.oracle.memory[0][local.at.clone()].copy_from_slice(&bytes);
                }
                self.oracle.sinks.push(local.at);
                self.oracle.sources.push(at..at + 8);
            }
            _ => {
                let (one, two) = (self.local(100, false), self.local(100, false));
                let invalidate = match self.random.below(2) {
                    0 => self.victims.pop(),
                    _ => None,
                };
                let fence =
                    overlap(&self.oracle.sinks, &one.at) || overlap(&self.oracle.sinks, &two.at);
                let op = SendOp::Send {
                    solicited: false,
                    invalidate,
                };
                self.post(op, &[one.sge, two.sge], fence, Opcode::Send);
                if !self.oracle.failed {
                    self.oracle.invalidated.push(invalidate);
                    self.oracle.received += 1;
                    let memory = &self.oracle.memory[0];
                    let message = [&memory[one.at], &memory[two.at]].concat();
                    self.oracle.messages.push(message);
                }
            }
        }
    }

    /// An STag gets memory, or loses it.
    fn binding(&mut self) {
        let which = self.random.below(self.oracle.stags.len());
        let (at, length) = (self.random.below(2000), 16 + self.random.below(2000));
        let stag = &mut self.oracle.stags[which];
        let is_fast = stag.kind == StagKind::FastRegion;
        if stag.named.is_some() && stag.kind != StagKind::Window1 {
            stag.named = None;
            let stag = stag.stag();
            let op = SendOp::LocalInvalidate { stag };
            return self.post(op, &[], false, Opcode::LocalInvalidate);
        }
        // The same key as before, or another one.
        stag.key += (at % 2) as u32;
        stag.named = Some(Named { at, length });
        let access = match is_fast {
            true => Access::READ_SINK | Access::LOCAL_WRITE | Access::REMOTE_WRITE,
            false => Access::REMOTE_WRITE,
        };
        let binding = Binding {
            stag: stag.stag(),
            base_to: BASE,
            region: self.region,
            region_to: BASE + at as u64,
            length: length as u64,
            access,
        };
        match is_fast {
            true => self.post(
                SendOp::FastRegister(binding),
                &[],
                false,
                Opcode::FastRegister,
            ),
            false => self.post(SendOp::Bind(binding), &[], false, Opcode::Bind),
        }
    }

    /// An entry whose memory nobody has registered when it is issued.
    fn fail(&mut self) {
        let stag = self.oracle.stags[0].index | (self.oracle.stags[0].key + 77) & 0xff;
        let op = SendOp::Write {
            stag: self.peer,
            to: BASE,
        };
        let list = [sge(stag, 0, 1)];
        // What ends the stream ends the Reads in flight, too.
        self.post(op, &list, true, Opcode::Write);
        if let Some(last) = self.oracle.expected.last_mut() {
            last.status = Status::LocalProtection;
        }
        self.oracle.failed = true;
    }

    #[track_caller]
    fn finish(&mut self, note: &str) {
        let count = self.oracle.expected.len();
        let got = self.b.completions_of(0, count, 600_000 * MS);
        for (n, (got, expected)) in got.iter().zip(&self.oracle.expected).enumerate() {
            let told = (got.wr_id, got.opcode, got.status);
            let expected = (n as u64, expected.opcode, expected.status);
            assert_eq!(told, expected, "{note}");
        }
        let received = self.oracle.received;
        let got = self.b.completions_of(1, received, 600_000 * MS);
        for (n, got) in got.iter().enumerate() {
            assert_eq!(got.invalidated, self.oracle.invalidated[n], "{note}: {n}");
            let message = self.oracle.messages[n].clone();
            let at = self.inbox + (n * ROOM) as u64;
            let found = self.b.memory(1, at, message.len()).to_vec();
            assert!(found == message, "{note}: message {n}");
        }
        for n in 0..2 {
            let iova = self.iovas[n];
            let found = self.b.memory(n, iova, SIZE);
            let expected = &self.oracle.memory[n];
            let wrong = (0..SIZE).find(|at| found[*at] != expected[*at]);
            assert_eq!(wrong, None, "{note}: memory of host {n}");
        }
    }

    /// What is bound is reached by the peer.
    fn reach(&mut self, note: &str) {
        let (source, iova) = self.b.hosts[1].region(16, Access::NONE);
        self.b.memory(1, iova, 16).fill(0xa5);
        for which in 0..self.oracle.stags.len() {
            let stag = &self.oracle.stags[which];
            let Some(named) = stag.named else {
                continue;
            };
            let list = [sge(source, 0, 16)];
            let to = BASE + named.length as u64 - 16;
            let wr = write(500, stag.stag(), to, &list);
            self.b.post_send(1, self.pair.qps[1], &wr).unwrap();
            let got = self.b.completions_of(1, 1, 600_000 * MS);
            assert_eq!(got[0].status, Status::Success, "{note}");
            let end = named.at + named.length;
            let at = self.iovas[0] + end as u64 - 16;
            assert_eq!(self.b.memory(0, at, 16), [0xa5; 16], "{note}");
        }
    }

    /// Nothing refers to anything any more.
    fn leave(&mut self, note: &str) {
        let qp = self.pair.qps[0];
        self.b
            .call(0, |e, now, card| e.destroy_qp(now, qp, card))
            .unwrap();
        let mut stags: Vec<_> = self.oracle.stags.iter().map(Stag::stag).collect();
        stags.push(self.region);
        for stag in stags {
            let gone = self.b.call(0, |e, now, card| e.deregister(now, stag, card));
            assert_eq!(gone, Ok(()), "{note}");
        }
    }
}

fn run(seed: u64) {
    let mut chain = Chain::new(seed);
    let note = format!("seed {seed}");
    let count = 4 + chain.random.below(50);
    let fails = (seed % 5 == 0).then(|| chain.random.below(count));
    for n in 0..count {
        if chain.random.below(6) == 0 {
            let lost = chain.lost.get();
            chain.lost.set(!lost);
        }
        if chain.random.below(4) == 0 {
            let time = chain.random.below(60) as u64 * US;
            chain.b.run(time);
        }
        match fails == Some(n) {
            true => chain.fail(),
            false if chain.oracle.failed => {
                // Only what needs nothing of what was to be done before.
                chain.post(send(0, &[]).op, &[], false, Opcode::Send);
            }
            false => chain.step(),
        }
    }
    chain.lost.set(false);
    chain.finish(&note);
    if !chain.oracle.failed {
        chain.reach(&note);
    }
    chain.leave(&note);
}

#[test]
fn a_queue_that_is_behind_does_one_after_the_other() {
    // Environment (tests): `WEFT_CHAINS`: chains of work on a queue that is behind (`chains`): how many seeds. Without it: 300.
    let seeds = std::env::var("WEFT_CHAINS").ok();
    let seeds = seeds.and_then(|seeds| seeds.parse().ok()).unwrap_or(300);
    for seed in 0..seeds {
        run(seed);
    }
}
