//! Each rule a peer can break gets its exact Terminate, once, then the connection closes; by the card's
//! path and by the engine's. And what breaks no rule, however odd, is taken.
#![allow(missing_docs)]

use crate::bench;

use bench::script::*;
use bench::*;
use weft_engine::*;
use weft_wire::ddp::DdpHeader;
use weft_wire::rdmap::{control, opcode, ReadRequest};
use weft_wire::tcp::{flag, Options};

struct Setup {
    s: Script,
    qp: QpId,
    stag: u32,
    other_pd: u32,
    read_only: u32,
    iova: u64,
}

/// A connection that stands, with one receive of 100 bytes and regions of every kind.
fn standing(way: Way) -> Setup {
    standing_by(Script::by(way))
}

/// The same with this engine and card.
fn standing_by(mut s: Script) -> Setup {
    let qp = s.qp();
    let access = Access::LOCAL_WRITE | Access::REMOTE_WRITE;
    let (pd, card) = (s.pd, &mut s.card);
    let iova = card::MEMORY + 0x1000;
    let stag = s
        .engine
        .register(pd, 0x1000, iova, 1000, access, card)
        .unwrap();
    let other = s.engine.alloc_pd();
    let all = access | Access::REMOTE_READ | Access::READ_SINK;
    let other_pd = s
        .engine
        .register(other, 0x1000, iova, 1000, all, card)
        .unwrap();
    let read_only = s
        .engine
        .register(pd, 0x1000, iova, 1000, Access::REMOTE_READ, card)
        .unwrap();
    let sges = [
        Sge {
            stag,
            to: 0x1000,
            length: 60,
        },
        Sge {
            stag,
            to: 0x1100,
            length: 40,
        },
    ];
    s.engine
        .post_recv(s.now, qp, &RecvWr { id: 1, sges: &sges }, &mut s.card)
        .unwrap();
    s.accepted(
        qp,
        RtrKinds::READ,
        &AcceptParams {
            ird: 2,
            ..Default::default()
        },
    );
    assert!(s.events.is_empty());
    s.data(&read_request(1, 1, 0, 1, 0, 0));
    assert!(matches!(s.events.pop(), Some(Event::Established { .. })));
    Setup {
        s,
        qp,
        stag,
        other_pd,
        read_only,
        iova,
    }
}

fn read_request(
    msn: u32,
    sink_stag: u32,
    sink_to: u64,
    source_stag: u32,
    source_to: u64,
    size: u32,
) -> Vec<u8> {
    let request = ReadRequest {
        sink_stag,
        sink_to,
        size,
        source_stag,
        source_to,
    };
    let header = DdpHeader::untagged(true, control(opcode::READ_REQUEST), 0, 1, msn, 0);
    message(&header, &request.to_bytes())
}

fn send_of(msn: u32, mo: u32, last: bool, payload: &[u8]) -> Vec<u8> {
    message(
        &DdpHeader::untagged(last, control(opcode::SEND), 0, 0, msn, mo),
        payload,
    )
}

fn write_of(stag: u32, to: u64, payload: &[u8]) -> Vec<u8> {
    message(
        &DdpHeader::tagged(true, control(opcode::WRITE), stag, to),
        payload,
    )
}

/// Sends the octets and expects a Terminate with the code and so many bytes.
fn expect(name: &str, code: u16, length: usize, make: &dyn Fn(&Setup) -> Vec<u8>) {
    for way in Way::ALL {
        let mut t = standing(way);
        let before = t.s.card.bytes(t.iova, 1000).unwrap().to_vec();
        let octets = make(&t);
        t.s.stream.clear();
        t.s.data(&octets);
        t.s.wait(MS);
        let note = format!("{name}, {way:?}");
        let (found, payload) =
            t.s.terminate()
                .unwrap_or_else(|| panic!("{note}: no Terminate"));
        assert_eq!(found, code, "{note}: {found:#06x}");
        assert_eq!(payload.len(), length, "{note}");
        assert_eq!(
            t.s.card.bytes(t.iova, 1000).unwrap(),
            &before[..],
            "{note}: memory was written"
        );
        assert!(matches!(
            t.s.events.first(),
            Some(Event::QpFatal { received: false, terminate: Some(c), .. }) if c.0 == code
        ));
        assert!(matches!(
            t.s.events.get(1),
            Some(Event::Disconnected {
                reason: DisconnectReason::Terminated,
                ..
            })
        ));
        assert_eq!(t.s.completions.len(), 1, "{note}");
        assert_eq!(t.s.completions[0].status, Status::Flushed);
        assert!(
            t.s.sent.iter().any(|s| s.flags & flag::FIN != 0),
            "{note}: no FIN"
        );
        // More of the same makes no second Terminate.
        let octets = make(&t);
        t.s.data(&octets);
        t.s.wait(MS);
        assert!(t.s.terminate().is_some());
        assert_eq!(t.s.engine.qp_state(t.qp), Ok(QpState::Error));
        t.s.wait(60_000 * MS);
        assert_eq!(t.s.engine.next_deadline(), None, "{note}");
    }
}

#[test]
fn mpa_errors() {
    expect("CRC", 0x2002, 4, &|t| {
        let mut octets = write_of(t.stag, 0x1000, b"payload");
        octets[20] ^= 1;
        octets
    });
    expect("CRC field", 0x2002, 4, &|t| {
        let mut octets = send_of(1, 0, true, b"payload");
        *octets.last_mut().unwrap() ^= 0x80;
        let _ = t;
        octets
    });
}

#[test]
fn ddp_errors() {
    let untagged = 4 + 2 + 18;
    let tagged = 4 + 2 + 14;
    expect("short tagged", 0x1000, 4, &|_| {
        fpdu_of(&[&[0xc1, 0x40, 0, 0, 0, 1, 2, 3]])
    });
    expect("short untagged", 0x1000, 4, &|_| {
        fpdu_of(&[&[0x41, 0x43, 0, 0, 0, 1, 2, 3]])
    });
    expect("empty", 0x1000, 4, &|_| fpdu_of(&[]));
    expect("tagged version", 0x1104, tagged, &|t| {
        let mut header = DdpHeader::tagged(true, 0x40, t.stag, 0x1000);
        header.control = 0xc0;
        message(&header, b"x")
    });
    expect("untagged version", 0x1206, untagged, &|_| {
        let mut header = DdpHeader::untagged(true, 0x43, 0, 0, 1, 0);
        header.control = 0x42;
        message(&header, b"x")
    });
    expect("queue", 0x1201, untagged, &|_| {
        message(&DdpHeader::untagged(true, 0x43, 0, 4, 1, 0), b"x")
    });
    expect("MSN behind", 0x1203, untagged, &|_| {
        send_of(0, 0, true, b"x")
    });
    expect("MSN ahead", 0x1203, untagged, &|_| {
        send_of(2, 0, true, b"x")
    });
    expect("MO", 0x1204, untagged, &|_| send_of(1, 4, true, b"x"));
    expect("too long", 0x1205, untagged, &|_| {
        send_of(1, 0, true, &[7; 101])
    });
    expect("STag", 0x1100, tagged, &|t| {
        write_of(t.stag ^ 1, 0x1000, b"x")
    });
    expect("STag index", 0x1100, tagged, &|_| {
        write_of(0xffff_ff00, 0x1000, b"x")
    });
    expect("STag 0", 0x1100, tagged, &|_| write_of(0, 0x1000, b"x"));
    expect("wrap", 0x1103, tagged, &|t| {
        write_of(t.stag, u64::MAX, b"xx")
    });
    expect("domain", 0x1102, tagged, &|t| {
        write_of(t.other_pd, 0x1000, b"x")
    });
    expect("access", 0x0102, tagged, &|t| {
        write_of(t.read_only, 0x1000, b"x")
    });
    expect("below", 0x1101, tagged, &|t| write_of(t.stag, 0xfff, b"xx"));
    expect("above", 0x1101, tagged, &|t| {
        write_of(t.stag, 0x1000 + 999, b"xx")
    });
    expect("Terminate queue", 0x0206, untagged, &|_| {
        message(&DdpHeader::untagged(true, 0x43, 0, 2, 1, 0), b"x")
    });
}

#[test]
fn no_receive_posted() {
    for way in Way::ALL {
        let mut t = standing(way);
        t.s.data(&send_of(1, 0, true, b"first"));
        assert_eq!(t.s.completions.pop().unwrap().byte_len, 5);
        t.s.stream.clear();
        t.s.data(&send_of(2, 0, true, b"second"));
        t.s.wait(MS);
        assert_eq!(t.s.terminate().unwrap().0, 0x1202);
    }
}

#[test]
fn rdmap_errors() {
    let untagged = 4 + 2 + 18;
    let tagged = 4 + 2 + 14;
    let read = untagged + 28;
    expect("version", 0x0205, tagged, &|t| {
        message(&DdpHeader::tagged(true, 0x80, t.stag, 0x1000), b"x")
    });
    expect("opcode", 0x0206, tagged, &|t| {
        message(&DdpHeader::tagged(true, 0x43, t.stag, 0x1000), b"x")
    });
    expect("unasked Read Response", 0x0206, tagged, &|t| {
        message(&DdpHeader::tagged(true, 0x42, t.stag, 0x1000), b"")
    });
    expect("Read STag", 0x0100, read, &|t| {
        read_request(2, 1, 0, t.stag ^ 1, 0x1000, 1)
    });
    expect("Read domain", 0x0103, read, &|t| {
        read_request(2, 1, 0, t.other_pd, 0x1000, 1)
    });
    expect("Read access", 0x0102, read, &|t| {
        read_request(2, 1, 0, t.stag, 0x1000, 1)
    });
    expect("Read bounds", 0x0101, read, &|t| {
        read_request(2, 1, 0, t.read_only, 0x1000, 1001)
    });
    expect("Read wrap", 0x0104, read, &|t| {
        read_request(2, 1, 0, t.read_only, u64::MAX, 2)
    });
    expect("Read MSN", 0x1203, untagged, &|t| {
        read_request(3, 1, 0, t.read_only, 0x1000, 2)
    });
    expect("Read too long", 0x1205, untagged, &|_| {
        message(&DdpHeader::untagged(true, 0x41, 0, 1, 2, 0), &[0; 29])
    });
    expect("Read too short", 0x02ff, untagged, &|_| {
        message(&DdpHeader::untagged(true, 0x41, 0, 1, 2, 0), &[0; 27])
    });
    expect("Atomic to nothing", 0x0100, untagged, &|_| {
        message(&DdpHeader::untagged(true, 0x4a, 0, 1, 2, 0), &[0; 52])
    });
    expect("unasked Atomic Response", 0x0206, untagged, &|_| {
        message(&DdpHeader::untagged(true, 0x4b, 0, 3, 1, 0), &[0; 12])
    });
}

#[test]
fn more_reads_than_agreed() {
    let mut t = standing(Way::Card);
    // The engine may not send, so the Reads pile up: IRD is 2.
    t.s.window = 0;
    t.s.acknowledge();
    for msn in 2..4 {
        t.s.data(&read_request(msn, 1, 0, t.read_only, 0x1000, 100));
    }
    assert!(t.s.events.is_empty());
    t.s.data(&read_request(4, 1, 0, t.read_only, 0x1000, 100));
    assert!(matches!(
        t.s.events.pop(),
        Some(Event::QpFatal {
            terminate: Some(TerminateCode::DDP_NO_BUFFER),
            ..
        })
    ));
}

#[test]
fn a_terminate_from_the_peer_in_both_layouts() {
    for (bytes, code, siw) in [
        ([0x11, 0x00, 0x00, 0x00], 0x1100, 0),
        ([0x01, 0x02, 0x00, 0x00], 0x0102, 0),
        ([0x02, 0x07, 0x00, 0x00], 0x2007, 1),
        ([0x20, 0x02, 0x00, 0x00], 0x2002, 0),
    ] {
        let mut t = standing(Way::Card);
        t.s.stream.clear();
        t.s.data(&message(
            &DdpHeader::untagged(true, 0x47, 0, 2, 1, 0),
            &bytes,
        ));
        t.s.wait(MS);
        assert!(
            matches!(t.s.events.first(), Some(Event::QpFatal { received: true, terminate: Some(c), .. }) if c.0 == code),
            "{bytes:02x?}: {:?}",
            t.s.events
        );
        assert!(t.s.terminate().is_none());
        assert!(t.s.sent.iter().any(|s| s.flags & flag::FIN != 0));
        assert_eq!(t.s.engine.stats().terminates_siw_layout, siw);
    }
}

#[test]
fn several_fpdus_in_a_segment_and_one_over_several() {
    for way in Way::ALL {
        let mut t = standing(way);
        let mut octets = write_of(t.stag, 0x1000 + 500, b"written");
        octets.extend(read_request(2, 77, 5, t.read_only, 0x1000 + 500, 7));
        octets.extend(send_of(1, 0, true, b"sent"));
        octets.extend(read_request(3, 78, 6, t.read_only, 0x1000, 4));
        t.s.stream.clear();
        // Whole, then octet by octet, would be the same; here: in pieces of 9, overlapping.
        let start = t.s.seq;
        for (n, piece) in octets.chunks(9).enumerate() {
            let at = start.wrapping_add(9 * n as u32);
            t.s.send(flag::ACK, at, Options::default(), piece);
            let again = at.wrapping_sub(5 * u32::from(n > 0));
            let from = 9 * n - 5 * usize::from(n > 0);
            let to = (from + 12).min(octets.len());
            t.s.send(flag::ACK, again, Options::default(), &octets[from..to]);
        }
        t.s.seq = start.wrapping_add(octets.len() as u32);
        t.s.wait(MS);
        assert_eq!(t.s.completions.len(), 1);
        assert_eq!(t.s.card.bytes(t.iova, 4).unwrap(), b"sent");
        assert_eq!(t.s.card.bytes(t.iova + 500, 7).unwrap(), b"written");
        let mut expected = message(&DdpHeader::tagged(true, 0x42, 77, 5), b"written");
        expected.extend(message(&DdpHeader::tagged(true, 0x42, 78, 6), b"sent"));
        assert_eq!(t.s.stream, expected);
        // And once more in one segment, by the card.
        let octets = write_of(t.stag, 0x1000 + 500, b"WRITTEN");
        t.s.data(&octets);
        let mut octets = write_of(t.stag, 0x1000 + 600, b"again");
        octets.extend(read_request(4, 79, 7, t.read_only, 0x1000 + 500, 7));
        t.s.data(&octets);
        t.s.wait(MS);
        assert_eq!(t.s.card.bytes(t.iova + 600, 5).unwrap(), b"again");
        expected.extend(message(&DdpHeader::tagged(true, 0x42, 79, 7), b"WRITTEN"));
        assert_eq!(t.s.stream, expected);
        assert_eq!(t.s.card.placed == 0, way != Way::Card);
    }
}

#[test]
fn bad_start_up_frames_close_the_connection_and_ask_nobody() {
    let good = Script::request(RtrKinds::READ, b"data");
    for (at, value) in [(0, b'X'), (15, 0), (17, 3), (18, 9)] {
        let mut s = Script::new(false);
        s.open(Options::default());
        let mut bad = good.clone();
        bad[at] = value;
        s.data(&bad);
        s.wait(MS);
        assert!(s.events.is_empty());
        assert!(
            s.sent
                .iter()
                .any(|s| s.flags & (flag::FIN | flag::RST) != 0),
            "byte {at}"
        );
    }
    // A reply where a request belongs.
    let mut s = Script::new(false);
    s.open(Options::default());
    let mut bad = good.clone();
    bad[..16].copy_from_slice(b"MPA ID Rep Frame");
    s.data(&bad);
    assert!(s.events.is_empty());
    assert!(s.sent.iter().any(|s| s.flags & flag::FIN != 0));
    // A request in single octets is fine.
    let mut s = Script::new(false);
    s.open(Options::default());
    for octet in &good {
        s.data(&[*octet]);
    }
    assert!(
        matches!(&s.events[..], [Event::ConnectRequest { private_data, .. }] if &private_data[..] == b"data")
    );
}

#[test]
fn a_reset_must_be_exact() {
    let mut t = standing(Way::Card);
    t.s.send(flag::RST, t.s.seq.wrapping_add(10), Options::default(), &[]);
    assert!(t.s.events.is_empty());
    // RFC 5961: a challenge acknowledgment.
    assert!(t.s.sent.last().unwrap().flags == flag::ACK);
    t.s.send(flag::SYN, t.s.seq.wrapping_add(10), Options::default(), &[]);
    assert!(t.s.events.is_empty());
    t.s.send(flag::RST, t.s.seq, Options::default(), &[]);
    t.s.wait(MS);
    assert!(matches!(
        t.s.events[..],
        [Event::Disconnected {
            reason: DisconnectReason::Reset,
            ..
        }]
    ));
    assert_eq!(t.s.completions.len(), 1);
}

#[test]
fn a_closed_window_is_probed_and_a_small_one_used() {
    let mut t = standing(Way::Card);
    let source = t.read_only;
    t.s.window = 0;
    t.s.acknowledge();
    let sges = [Sge {
        stag: source,
        to: 0x1000,
        length: 900,
    }];
    let wr = send(5, &sges);
    t.s.engine
        .post_send(t.s.now, t.qp, &wr, &mut t.s.card)
        .unwrap();
    t.s.stream.clear();
    t.s.sent.clear();
    t.s.wait(3_000 * MS);
    assert!(t.s.sent.len() >= 2, "no probes");
    assert!(t.s.sent.iter().all(|s| s.payload.is_empty()));
    // 300 bytes at a time: the message still gets through, in smaller FPDUs.
    t.s.window = 300;
    t.s.acknowledge();
    t.s.wait(60_000 * MS);
    assert_eq!(t.s.completions.len(), 1, "{:?}", t.s.engine.stats());
    assert!(t.s.stream.len() > 900);
}

#[test]
fn sack_retransmits_only_the_hole() {
    let mut t = standing(Way::Card);
    let source = t.read_only;
    t.s.auto_ack = false;
    t.s.sent.clear();
    for n in 0..6 {
        let sges = [Sge {
            stag: source,
            to: 0x1000,
            length: 1000,
        }];
        let wr = send(n, &sges);
        t.s.engine
            .post_send(t.s.now, t.qp, &wr, &mut t.s.card)
            .unwrap();
    }
    t.s.work();
    let sent = std::mem::take(&mut t.s.sent);
    assert_eq!(sent.len(), 6);
    let edge = |n: usize| sent[n].seq;
    let end = edge(5).wrapping_add(sent[5].payload.len() as u32);
    // The second is lost.
    t.s.ack = edge(1);
    t.s.acknowledge();
    t.s.sack = vec![(edge(2), end)];
    t.s.acknowledge();
    t.s.work();
    let again = std::mem::take(&mut t.s.sent);
    assert_eq!(again.len(), 1);
    assert_eq!(
        (again[0].seq, &again[0].payload),
        (edge(1), &sent[1].payload)
    );
    t.s.sack.clear();
    t.s.ack = end;
    t.s.acknowledge();
    assert_eq!(t.s.completions.len(), 6);
    t.s.wait(10_000 * MS);
    assert!(t.s.sent.iter().all(|s| s.payload.is_empty()));
}

/// RFC 9293 §3.1, RFC 7323 §3.2. Behind an option of impossible length the card has read none: no such segment stays in its slot for it to read again,
/// and its timestamps, which the connection has to have, are found in the frame.
#[test]
fn options_that_the_card_has_not_read_are_read_in_the_frame() {
    // Beyond a gap, where others are held, and without one.
    for (replay, gap) in [(0, false), (0, true), (9000, false), (9000, true)] {
        let mut s = Script::with(false, &|config| {
            config.replay = replay;
            config.timestamps = true;
        });
        s.card.raw_slots(64);
        s.card.most_replayed = replay.into();
        s.ts_val = Some(100);
        let mut t = standing_by(s);
        assert!(t.s.sent.iter().all(|s| s.options.timestamps.is_some()));
        let fpdus = [send_of(1, 0, false, b"pay"), send_of(1, 3, true, b"load")];
        let seqs = [t.s.seq, t.s.seq.wrapping_add(fpdus[0].len() as u32)];
        let mut frames = [0, 1].map(|n| {
            let flags = flag::ACK | flag::PSH;
            t.s.frame(flags, seqs[n], Options::default(), &fpdus[n])
        });
        frames[1] = with_tcp_options(&frames[1], &[253, 1, 1, 1]);
        if gap {
            frames.reverse();
        }
        for frame in &frames {
            t.s.card.receive(frame);
            // As a driver does, which leaves a frame in its slot where the engine holds it.
            while let Some(report) = t.s.card.next_report() {
                t.s.card.hand(t.s.now, &mut t.s.engine, report);
            }
            t.s.wait(MS);
        }
        assert_eq!(t.s.completions.len(), 1, "replay {replay}, gap {gap}");
        assert_eq!(t.s.completions[0].status, Status::Success);
        assert_eq!(t.s.completions[0].byte_len, 7);
    }
}
