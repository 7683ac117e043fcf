//! Nothing that comes from the wire or the card makes the engine panic or work without end.
#![allow(missing_docs)]

use crate::bench;

use bench::script::*;
use bench::*;
use weft_engine::*;
use weft_layout::{FpduReport, JobReport, SegmentReport};
use weft_wire::tcp::{flag, Options};

struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as u32
    }
}

fn standing(seed: u64) -> (Script, QpId, u32) {
    let mut s = Script::new(seed % 2 == 0);
    let qp = s.qp();
    let access =
        Access::LOCAL_WRITE | Access::REMOTE_WRITE | Access::REMOTE_READ | Access::READ_SINK;
    let (pd, now) = (s.pd, s.now);
    let stag = s
        .engine
        .register(pd, 0, card::MEMORY, 10_000, access, &mut s.card)
        .unwrap();
    let sges = [Sge {
        stag,
        to: 0,
        length: 1000,
    }];
    for id in 0..4 {
        let wr = RecvWr { id, sges: &sges };
        s.engine.post_recv(now, qp, &wr, &mut s.card).unwrap();
    }
    s.accepted(qp, RtrKinds::READ, &AcceptParams::default());
    (s, qp, stag)
}

#[test]
fn any_report_at_all() {
    for seed in 0..400 {
        let mut random = Random(seed);
        let (mut s, qp, stag) = standing(seed);
        let sges = [Sge {
            stag,
            to: 0,
            length: 5000,
        }];
        let _ = s.engine.post_send(s.now, qp, &send(1, &sges), &mut s.card);
        let _ = s
            .engine
            .post_send(s.now, qp, &read(2, stag, 0, &sges), &mut s.card);
        for _ in 0..60 {
            let mut report = [0u8; 64];
            for byte in &mut report {
                *byte = random.next() as u8;
            }
            let near = |random: &mut Random, base: u32| {
                base.wrapping_add(random.next() % 3000).wrapping_sub(500)
            };
            match random.next() % 8 {
                0..=3 => {
                    let mut r = SegmentReport::from_bytes(&report);
                    r.kind = 1;
                    r.flow = qp.flow();
                    r.seq = near(&mut random, s.seq);
                    r.ack = near(&mut random, s.ack);
                    r.tcp_flags =
                        [flag::ACK, flag::ACK | flag::FIN, report[20]][report[21] as usize % 3];
                    report = r.to_bytes();
                }
                4 | 5 => {
                    let mut r = FpduReport::from_bytes(&report);
                    r.kind = 2;
                    r.flow = qp.flow();
                    r.verdict &= 1;
                    r.seq = near(&mut random, s.seq);
                    report = r.to_bytes();
                }
                6 => {
                    let mut r = JobReport::from_bytes(&report);
                    r.kind = 4;
                    r.flow = qp.flow();
                    r.job = random.next() % 40;
                    report = r.to_bytes();
                }
                _ => {}
            }
            let octets: Vec<u8> = (0..random.next() % 200)
                .map(|_| random.next() as u8)
                .collect();
            let frame = match random.next() % 3 {
                0 => octets,
                _ => s.frame(
                    report[30],
                    near(&mut random, s.seq),
                    Options::default(),
                    &octets,
                ),
            };
            let raw = (random.next() % 2 == 0).then_some(&frame[..]);
            s.engine.on_report(s.now, &report, raw, &mut s.card);
            s.work();
            if random.next() % 8 == 0 {
                s.wait(u64::from(random.next() % 1000) * MS);
            }
        }
        s.wait(1_000_000 * MS);
    }
}

#[test]
fn any_octets_behind_correct_checksums() {
    for seed in 0..600 {
        let mut random = Random(seed + 77);
        let (mut s, qp, stag) = standing(seed);
        let mut octets = Vec::new();
        for msn in 1..4 {
            use weft_wire::ddp::DdpHeader;
            octets.extend(message(
                &DdpHeader::untagged(true, 0x43, 0, 0, msn, 0),
                &[1; 50],
            ));
            octets.extend(message(&DdpHeader::tagged(true, 0x40, stag, 100), &[2; 70]));
            let mut request = [0; 28];
            request[12..16].copy_from_slice(&100u32.to_be_bytes());
            request[16..20].copy_from_slice(&stag.to_be_bytes());
            octets.extend(message(
                &DdpHeader::untagged(true, 0x41, 0, 1, msn, 0),
                &request,
            ));
        }
        for _ in 0..random.next() % 4 {
            let at = random.next() as usize % octets.len();
            octets[at] = random.next() as u8;
        }
        while !octets.is_empty() {
            let count = (1 + random.next() as usize % 400).min(octets.len());
            let piece: Vec<u8> = octets.drain(..count).collect();
            s.data(&piece);
        }
        s.wait(MS);
        let fatal = s
            .events
            .iter()
            .filter(|e| matches!(e, Event::QpFatal { .. }))
            .count();
        assert!(fatal <= 1, "seed {seed}");
        assert!(s.engine.stats().terminates_sent <= 1);
        assert_eq!(s.terminate().is_some(), fatal == 1, "seed {seed}");
        s.engine.destroy_qp(s.now, qp, &mut s.card).unwrap();
        s.wait(1_000_000 * MS);
        assert_eq!(s.engine.next_deadline(), None);
    }
}

#[test]
fn start_up_octets_of_any_kind() {
    for seed in 0..600 {
        let mut random = Random(seed + 99);
        let mut s = Script::new(false);
        s.open(Options::default());
        let mut octets = Script::request(RtrKinds::ALL, b"some private data");
        for _ in 0..1 + random.next() % 3 {
            let at = random.next() as usize % octets.len();
            octets[at] = random.next() as u8;
        }
        s.data(&octets);
        if let Some(Event::ConnectRequest { conn, .. }) = s.events.pop() {
            let qp = s.qp();
            s.engine
                .accept(s.now, conn, qp, &AcceptParams::default(), &mut s.card)
                .unwrap();
        }
        s.wait(1_000_000 * MS);
        s.work();
        s.send(flag::RST | flag::ACK, s.seq, Options::default(), &[]);
        s.wait(1_000_000 * MS);
        assert_eq!(s.engine.next_deadline(), None, "seed {seed}");
    }
}

#[test]
fn frames_of_any_kind() {
    let mut random = Random(5);
    let mut s = Script::new(false);
    s.engine.listen(s.port, 4).unwrap();
    for n in 0..20_000u32 {
        let mut frame: Vec<u8> = (0..random.next() % 120)
            .map(|_| random.next() as u8)
            .collect();
        if n % 2 == 0 {
            let flags = random.next() as u8;
            s.peer_port = 5000 + (random.next() % 20) as u16;
            frame = s.frame(flags, random.next(), Options::default(), &frame);
        } else if frame.len() > 14 {
            frame[12..14].copy_from_slice(&[8, [0, 6][n as usize / 2 % 2]]);
        }
        let mut report = [0; 64];
        report[0] = 3;
        s.engine
            .on_report(s.now, &report, Some(&frame), &mut s.card);
        s.card.run_jobs();
        s.card.out.clear();
        s.now += 10 * MS;
        s.engine.on_timer(s.now, &mut s.card);
    }
}

/// Peers that go through the handshake and vanish, while the application does not look: the events do not grow.
#[test]
fn requests_nobody_takes_do_not_pile_up() {
    let mut s = Script::new(false);
    s.engine.listen(s.port, 4).unwrap();
    let request = Script::request(RtrKinds::READ, b"");
    for n in 0..1000u32 {
        s.peer_port = 2000 + n as u16;
        s.seq = n * 77_777;
        s.auto_ack = false;
        let syn = s.frame(flag::SYN, s.seq, Options::default(), &[]);
        s.card.receive(&syn);
        s.quiet();
        let answer = s.sent.pop().unwrap();
        assert_eq!(answer.flags, flag::SYN | flag::ACK);
        s.ack = answer.seq.wrapping_add(1);
        s.seq = s.seq.wrapping_add(1);
        let data = s.frame(flag::ACK, s.seq, Options::default(), &request);
        s.card.receive(&data);
        s.quiet();
        s.seq = s.seq.wrapping_add(request.len() as u32);
        let reset = s.frame(flag::RST, s.seq, Options::default(), &[]);
        s.card.receive(&reset);
        s.quiet();
    }
    assert!(s.engine.poll_event().is_none());
}

/// No more than so many RSTs a second, whoever asks for them.
#[test]
fn resets_are_limited() {
    let mut s = Script::new(false);
    for n in 0..1000 {
        s.send(flag::ACK, n, Options::default(), &[]);
    }
    let limit = u64::from(s.engine.config().resets);
    assert_eq!(s.engine.stats().resets_sent, limit);
    assert_eq!(s.engine.stats().resets_withheld, 1000 - limit);
    s.wait(1_000 * MS);
    s.sent.clear();
    s.send(flag::ACK, 1, Options::default(), &[]);
    assert_eq!(s.sent.len(), 1);
}
