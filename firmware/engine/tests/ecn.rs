//! Marks of congestion, from the switch that makes them to the sender that heeds them (RFC 3168; RFC 8257).
#![allow(missing_docs)]

use crate::bench;

use bench::*;
use weft_engine::*;
use weft_wire::ethernet::EthernetHeader;
use weft_wire::ipv4::Ipv4Packet;
use weft_wire::tcp::{flag, TcpSegment};

/// A frame as ECN sees it.
#[derive(Debug)]
struct Sight {
    from: usize,
    ecn: u8,
    flags: u8,
    seq: u32,
    length: u32,
    ack: u32,
}

fn sights(b: &Bench) -> Vec<Sight> {
    let see = |(_, from, frame): &(u64, usize, Vec<u8>)| {
        let (_, packet) = EthernetHeader::parse(frame)?;
        let packet = Ipv4Packet::parse(packet).ok()?;
        let segment = TcpSegment::parse(packet.source, packet.destination, packet.payload).ok()?;
        Some(Sight {
            from: *from,
            ecn: packet.tos & 3,
            flags: segment.flags,
            seq: segment.seq,
            length: segment.payload.len() as u32,
            ack: segment.ack,
        })
    };
    b.capture.iter().filter_map(see).collect()
}

fn bench(seed: u64, ecn: [Ecn; 2], congestion: [Congestion; 2]) -> Bench {
    Bench::with(seed, &|config| {
        let n = usize::from(config.ip[3] != 1);
        config.ecn = ecn[n];
        config.congestion = congestion[n];
    })
}

/// Writes `length` bytes from the first host to the second one, and checks them there.
fn write_once(b: &mut Bench, pair: &Pair, length: u32) {
    let access = Access::LOCAL_WRITE | Access::REMOTE_WRITE;
    let regions = [0, 1].map(|n: usize| b.hosts[n].region(length.into(), access));
    let data: Vec<u8> = (0..length).map(|n| (n * 7 + n / 251) as u8).collect();
    b.memory(0, regions[0].1, data.len()).copy_from_slice(&data);
    let sges = [sge(regions[0].0, 0, length)];
    b.post_send(0, pair.qps[0], &write(1, regions[1].0, 0x1000, &sges))
        .unwrap();
    let done = b.completions_of(0, 1, 600_000 * MS);
    assert!(done.iter().all(|c| c.status == Status::Success), "{done:?}");
    assert!(b.memory(1, regions[1].1, data.len()) == data);
}

/// RFC 3168 §6.1.1: the one asks, the other agrees, and neither does what it was told not to do.
#[test]
fn both_sides_have_to_want_it() {
    let choices = [Ecn::Never, Ecn::WhenAsked, Ecn::Ask];
    for client in choices {
        for server in choices {
            for dctcp in [false, true] {
                let congestion = if dctcp {
                    Congestion::Dctcp
                } else {
                    Congestion::Cubic
                };
                let note = format!("{client:?} {server:?} {congestion:?}");
                let mut b = bench(1, [client, server], [congestion; 2]);
                let pair = b.connect(&ConnectParams::default(), &AcceptParams::default());
                let asks = client == Ecn::Ask || dctcp && client == Ecn::WhenAsked;
                let agreed = asks && server != Ecn::Never;
                for n in 0..2 {
                    let info = b.hosts[n].engine.conn_info(pair.qps[n]).unwrap();
                    assert_eq!(info.unwrap().ecn, agreed, "{note}, host {n}");
                }
                write_once(&mut b, &pair, 20_000);
                let both = flag::ECE | flag::CWR;
                for sight in sights(&b) {
                    let wanted = match sight.flags & (flag::SYN | flag::ACK) {
                        flag::SYN if asks => both,
                        flag::ACK | flag::SYN => 0,
                        _ if agreed => flag::ECE,
                        _ => 0,
                    };
                    let wanted = if sight.flags & flag::SYN == 0 {
                        0
                    } else {
                        wanted
                    };
                    assert_eq!(sight.flags & both, wanted, "{note}: {sight:?}");
                    if !agreed {
                        assert_eq!(sight.ecn, 0, "{note}: {sight:?}");
                    }
                }
            }
        }
    }
}

/// RFC 3168 §6.1.1.1: a SYN that is not answered goes again without asking, and the connection comes about.
#[test]
fn a_syn_that_asks_in_vain_goes_again_without() {
    let mut b = bench(2, [Ecn::Ask; 2], [Congestion::Cubic; 2]);
    b.tamper = Some(Box::new(|_, frame| {
        let asks = flag::SYN | flag::ECE | flag::CWR;
        !(frame.len() >= 54 && frame[12..14] == [8, 0] && frame[23] == 6 && frame[47] == asks)
    }));
    let pair = b.connect(&ConnectParams::default(), &AcceptParams::default());
    let info = b.hosts[0].engine.conn_info(pair.qps[0]).unwrap();
    assert!(!info.unwrap().ecn);
    write_once(&mut b, &pair, 5_000);
}

/// RFC 3168 §6.1.4, §6.1.5: what may be marked is new data, and nothing else.
#[test]
fn only_new_data_may_be_marked() {
    let mut b = bench(3, [Ecn::Ask; 2], [Congestion::Cubic; 2]);
    let pair = b.connect(&ConnectParams::default(), &AcceptParams::default());
    let since = b.capture.len();
    b.faults.loss = 1000;
    write_once(&mut b, &pair, 400_000);
    b.run(20_000 * MS);
    let mut highest = [None::<u32>; 2];
    let (mut again, mut new) = (0, 0);
    for sight in &sights(&b)[since..] {
        let end = sight.seq.wrapping_add(sight.length);
        let highest = &mut highest[sight.from];
        let beyond = highest.is_none_or(|highest| (end.wrapping_sub(highest) as i32) > 0);
        let is_new = sight.length > 0 && beyond;
        assert_eq!(sight.ecn, if is_new { ECT } else { 0 }, "{sight:?}");
        new += u32::from(is_new);
        again += u32::from(sight.length > 0 && !is_new);
        if is_new {
            *highest = Some(end);
        }
    }
    assert!(new > 200 && again > 0, "{new} {again}");
}

/// Marks one data frame of the first host after another, as `which` says of its number.
fn marking(b: &mut Bench, which: impl Fn(u32) -> bool + 'static) {
    let mut number = 0;
    b.tamper = Some(Box::new(move |from, frame| {
        if from == 0 && ecn(frame) == ECT {
            if which(number) {
                set_ecn(frame, CE);
            }
            number += 1;
        }
        true
    }));
}

/// RFC 3168 §6.1.2, §6.1.3: one mark is told until it was heeded, and heeded once: the window is less, one segment says so.
#[test]
fn a_mark_is_told_until_the_sender_has_heeded_it() {
    let mut b = bench(4, [Ecn::Ask; 2], [Congestion::Reno; 2]);
    let pair = b.connect(&ConnectParams::default(), &AcceptParams::default());
    let since = sights(&b).len();
    marking(&mut b, |number| number == 40);
    write_once(&mut b, &pair, 400_000);
    b.run(1_000 * MS);
    let all = sights(&b);
    let all = &all[since..];
    let marked = all.iter().position(|s| s.ecn == CE).expect("one");
    let cwr: Vec<_> = (0..all.len())
        .filter(|n| all[*n].from == 0 && all[*n].flags & flag::CWR != 0)
        .collect();
    assert_eq!(cwr.len(), 1, "{cwr:?}");
    let echoes: Vec<_> = (0..all.len())
        .filter(|n| all[*n].from == 1 && all[*n].flags & flag::ECE != 0)
        .collect();
    let (first, last) = (echoes[0], *echoes.last().unwrap());
    assert!(
        marked < first && first < cwr[0] && cwr[0] < last,
        "{marked} {echoes:?} {cwr:?}"
    );
    // All of them between the first and the last, and none acknowledges what came with CWR.
    for sight in all[first..=last].iter().filter(|s| s.from == 1) {
        assert!(sight.flags & flag::ECE != 0, "{sight:?}");
        assert!(
            (sight.ack.wrapping_sub(all[cwr[0]].seq) as i32) <= 0,
            "{sight:?}"
        );
    }
    let stats = [0, 1].map(|n: usize| *b.hosts[n].engine.stats());
    assert_eq!((stats[1].marked, stats[0].ecn_reductions), (1, 1));
    assert_eq!((stats[0].retransmits, stats[0].fast_recoveries), (0, 0));
}

/// RFC 8257 §3.2: what an acknowledgment with ECE covers was marked, and what one without it covers was not.
#[test]
fn dctcp_is_told_exactly_what_was_marked() {
    for fast_path in [true, false] {
        let mut b = Bench::with(5, &|config| {
            config.congestion = Congestion::Dctcp;
            config.fast_path = fast_path;
        });
        let pair = b.connect(&ConnectParams::default(), &AcceptParams::default());
        let since = sights(&b).len();
        marking(&mut b, |number| number % 7 > 3 || number % 5 == 0);
        write_once(&mut b, &pair, 300_000);
        b.run(1_000 * MS);
        let all = sights(&b);
        let data: Vec<_> = all[since..]
            .iter()
            .filter(|s| s.from == 0 && s.ecn != 0)
            .collect();
        let mut covered = data[0].seq;
        for ack in all[since..].iter().filter(|s| s.from == 1) {
            let told = ack.flags & flag::ECE != 0;
            let reach = ack.ack.wrapping_sub(covered) as i32;
            for segment in &data {
                let at = segment.seq.wrapping_sub(covered) as i32;
                if (0..reach).contains(&at) {
                    assert_eq!(segment.ecn == CE, told, "{segment:?} {ack:?}");
                }
            }
            if reach > 0 {
                covered = ack.ack;
            }
        }
        let marks = data.iter().filter(|s| s.ecn == CE).count() as u64;
        assert!(data.len() > 200 && marks > 80, "{} {marks}", data.len());
        assert_eq!(b.hosts[1].engine.stats().marked, marks);
        assert!(b.hosts[0].engine.stats().ecn_reductions > 3);
    }
}
