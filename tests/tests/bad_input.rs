//! Each class of malformed input, sent by a peer that shares no code with Weft, to every kind of card: the exact
//! Terminate or the drop counter, nothing written to memory, and a second connection of the same card goes on.

use weft_hostdrv::Rung;
use weft_sim::kind::CardKind;
use weft_tests::peer::{flag, fpdu, internet_checksum, mpa_request, tagged, untagged};
use weft_tests::target::{Served, Target, FILL, RECEIVE};
use weft_tests::{cards, rungs};

/// An FPDU that is wrong, and what must come of it.
struct Case {
    name: &'static str,
    stream: fn(&Served) -> Vec<u8>,
    terminate: u16,
    /// A counter of the card that must have gone up by one; empty where the engine finds the error.
    counter: &'static str,
}

const WRITE: u8 = 0x40;
const SEND: u8 = 0x43;
const READ_REQUEST: u8 = 0x41;
const TAGGED_LAST: u8 = 0xc1;
const UNTAGGED_LAST: u8 = 0x41;
const BYTES: [u8; 40] = [0x77; 40];

fn write(stag: u32, to: u64) -> Vec<u8> {
    fpdu(&tagged(TAGGED_LAST, WRITE, stag, to, &BYTES))
}

fn send(msn: u32, mo: u32, payload: &[u8]) -> Vec<u8> {
    fpdu(&untagged(UNTAGGED_LAST, SEND, 0, msn, mo, payload))
}

fn read_request(stag: u32, to: u64, size: u32) -> Vec<u8> {
    let mut request = Vec::new();
    request.extend(1u32.to_be_bytes());
    request.extend(0u64.to_be_bytes());
    request.extend(size.to_be_bytes());
    request.extend(stag.to_be_bytes());
    request.extend(to.to_be_bytes());
    fpdu(&untagged(UNTAGGED_LAST, READ_REQUEST, 1, 1, 0, &request))
}

const CASES: &[Case] = &[
    Case {
        name: "CRC",
        stream: |s| {
            let mut bytes = write(s.open.rkey(), s.open.addr());
            bytes[20] ^= 0x10;
            bytes
        },
        terminate: 0x2002,
        counter: "rx_error_crc",
    },
    Case {
        name: "ULPDU shorter than a tagged header",
        stream: |_| fpdu(&[TAGGED_LAST, WRITE, 0, 0, 0]),
        terminate: 0x1000,
        counter: "rx_error_ulpdu",
    },
    Case {
        name: "ULPDU shorter than an untagged header",
        stream: |_| fpdu(&untagged(UNTAGGED_LAST, SEND, 0, 1, 0, &[])[..17]),
        terminate: 0x1000,
        counter: "rx_error_ulpdu",
    },
    Case {
        name: "DDP version, tagged",
        stream: |s| fpdu(&tagged(0xc2, WRITE, s.open.rkey(), s.open.addr(), &BYTES)),
        terminate: 0x1104,
        counter: "rx_error_ddp_version",
    },
    Case {
        name: "DDP version, untagged",
        stream: |_| fpdu(&untagged(0x40, SEND, 0, 1, 0, &BYTES)),
        terminate: 0x1206,
        counter: "rx_error_ddp_version",
    },
    Case {
        name: "RDMAP version",
        stream: |s| {
            fpdu(&tagged(
                TAGGED_LAST,
                0x80,
                s.open.rkey(),
                s.open.addr(),
                &BYTES,
            ))
        },
        terminate: 0x0205,
        counter: "rx_error_rdmap_version",
    },
    Case {
        name: "opcode: a Send that is tagged",
        stream: |s| {
            fpdu(&tagged(
                TAGGED_LAST,
                SEND,
                s.open.rkey(),
                s.open.addr(),
                &BYTES,
            ))
        },
        terminate: 0x0206,
        counter: "rx_error_opcode",
    },
    Case {
        name: "opcode: unknown",
        stream: |_| fpdu(&untagged(UNTAGGED_LAST, 0x4d, 0, 1, 0, &BYTES)),
        terminate: 0x0206,
        counter: "rx_error_opcode",
    },
    Case {
        name: "queue number",
        stream: |_| fpdu(&untagged(UNTAGGED_LAST, SEND, 4, 1, 0, &BYTES)),
        terminate: 0x1201,
        counter: "rx_error_qn",
    },
    Case {
        name: "MSN that was used",
        stream: |_| send(0, 0, &BYTES),
        terminate: 0x1203,
        counter: "rx_error_msn",
    },
    Case {
        name: "MSN that leaves one out",
        stream: |_| send(3, 0, &BYTES),
        terminate: 0x1203,
        counter: "rx_error_msn",
    },
    Case {
        name: "MO",
        stream: |_| send(1, 8, &BYTES),
        terminate: 0x1204,
        counter: "rx_error_mo",
    },
    Case {
        name: "message longer than the receive",
        stream: |_| send(1, 0, &[0x77; RECEIVE + 1]),
        terminate: 0x1205,
        counter: "rx_error_too_long",
    },
    Case {
        name: "STag that does not exist",
        stream: |s| write(0x3f00, s.open.addr()),
        terminate: 0x1100,
        counter: "rx_error_stag",
    },
    Case {
        name: "STag beyond the table",
        stream: |s| write(0xffff_ff00, s.open.addr()),
        terminate: 0x1100,
        counter: "rx_error_stag",
    },
    Case {
        name: "STag with another key",
        stream: |s| write(s.open.rkey() ^ 1, s.open.addr()),
        terminate: 0x1100,
        counter: "rx_error_stag",
    },
    Case {
        name: "STag of another protection domain",
        stream: |s| write(s.foreign.rkey(), s.foreign.addr()),
        terminate: 0x1102,
        counter: "rx_error_pd",
    },
    Case {
        name: "no right to write",
        stream: |s| write(s.closed.rkey(), s.closed.addr()),
        terminate: 0x0102,
        counter: "rx_error_access",
    },
    Case {
        name: "Read Response that nobody asked for",
        stream: |s| {
            fpdu(&tagged(
                TAGGED_LAST,
                0x42,
                s.open.rkey(),
                s.open.addr(),
                &BYTES,
            ))
        },
        terminate: 0x0102,
        counter: "rx_error_access",
    },
    Case {
        name: "one byte beyond the region",
        stream: |s| write(s.open.rkey(), s.open.addr() + s.open.len() as u64 - 39),
        terminate: 0x1101,
        counter: "rx_error_bounds",
    },
    Case {
        name: "TO wraps",
        stream: |s| write(s.open.rkey(), u64::MAX - 10),
        terminate: 0x1103,
        counter: "rx_error_wrap",
    },
    Case {
        name: "Read Request of an STag that does not exist",
        stream: |s| read_request(0x3f00, s.open.addr(), 16),
        terminate: 0x0100,
        counter: "",
    },
    Case {
        name: "Read Request beyond the region",
        stream: |s| read_request(s.closed.rkey(), s.closed.addr() + 4090, 16),
        terminate: 0x0101,
        counter: "",
    },
    Case {
        name: "Read Request without the right",
        stream: |s| read_request(s.open.rkey(), s.open.addr(), 16),
        terminate: 0x0102,
        counter: "",
    },
    Case {
        name: "Read Request of another protection domain",
        stream: |s| read_request(s.foreign.rkey(), s.foreign.addr(), 16),
        terminate: 0x0103,
        counter: "",
    },
];

/// A connection of its own is used correctly: a Write and a Send, both checked.
fn works(target: &mut Target, peer: usize, round: u32) {
    let (stag, to) = (
        target.served(peer).open.rkey(),
        target.served(peer).open.addr(),
    );
    let bytes: Vec<u8> = (0..100).map(|n| (n * 7 + round as usize) as u8).collect();
    target.send(
        peer,
        &fpdu(&tagged(TAGGED_LAST, WRITE, stag, to + 33, &bytes)),
    );
    let placed = target.served(peer).open.to_vec(33, 100).expect("read");
    assert_eq!(placed, bytes, "a Write on the other connection");
    let served = target.served(peer);
    served.open.fill(0, 4096, FILL).expect("fill");
    if round > 1 {
        let receive = weft_hostdrv::verbs::RecvWr::new(u64::from(round));
        let receive = receive.sge(served.receive.sge(16, RECEIVE as u32));
        served.qp.post_recv(receive).expect("post_recv");
    }
    target.send(peer, &send(round, 0, &bytes));
    let wc = target
        .completion(peer)
        .expect("a receive completes on the other connection");
    assert_eq!((wc.wr_id, wc.byte_len), (u64::from(round), 100));
    assert_eq!(
        target.served(peer).receive.to_vec(16, 100).expect("read"),
        bytes
    );
}

/// The kinds of card that can have the rung that is asked for.
fn kinds() -> Vec<CardKind> {
    match rungs()[0] {
        Rung::Firmware => cards()[..1].to_vec(),
        _ => CardKind::available(),
    }
}

fn every_case(kind: CardKind, rung: Rung) {
    let mut target = Target::at(kind, rung, 11);
    let bystander = target.connect();
    let mut round = 0;
    for case in CASES {
        let peer = target.connect();
        let before = (!case.counter.is_empty()).then(|| target.counter(case.counter));
        let stream = (case.stream)(target.served(peer));
        // A valid empty Write first: the connection is established, and the error is not in its first FPDU.
        let mut bytes = fpdu(&tagged(TAGGED_LAST, WRITE, 0, 0, &[]));
        bytes.extend(stream);
        target.send(peer, &bytes);
        assert_eq!(
            target.terminate(peer).map(|t| format!("{t:#06x}")),
            Some(format!("{:#06x}", case.terminate)),
            "{kind}, {}: Terminate",
            case.name
        );
        if let Some(before) = before {
            let after = target.counter(case.counter);
            // What the card does not look at it does not count; at `crc` it looks, and leaves regions and receives to software.
            let duties = rung.duties();
            let counted = u32::from(duties.places)..=u32::from(duties.checks_crc);
            assert!(
                counted.contains(&(after - before)),
                "{kind}, {rung}, {}: {}",
                case.name,
                case.counter
            );
        }
        assert!(
            target.untouched(peer),
            "{kind}, {}: memory was written",
            case.name
        );
        target.run(1_000_000);
        assert!(
            target.peers[peer].closed || target.peers[peer].reset,
            "{kind}, {}: the card closes the connection",
            case.name
        );
        round += 1;
        works(&mut target, bystander, round);
    }
    assert_eq!(target.faults(), 0, "{kind}: the IOMMU saw a wrong access");
}

#[test]
fn every_wrong_fpdu_gets_its_terminate() {
    for kind in kinds() {
        every_case(kind, rungs()[0]);
    }
}

#[test]
fn every_wrong_fpdu_gets_its_terminate_by_software() {
    for kind in [CardKind::widest(), CardKind::Model] {
        every_case(kind, Rung::Host);
    }
}

#[test]
fn a_send_without_a_posted_receive() {
    for kind in kinds() {
        let mut target = Target::new(kind, 12);
        let peer = target.connect();
        target.send(peer, &send(1, 0, &BYTES));
        assert!(target.completion(peer).is_some());
        target.send(peer, &send(2, 0, &BYTES));
        assert_eq!(target.terminate(peer), Some(0x1202), "{kind}");
        let counted = u32::from(rungs()[0].duties().places);
        assert_eq!(target.counter("rx_error_no_buffer"), counted, "{kind}");
    }
}

#[test]
fn malformed_start_up_frames_close_the_connection() {
    let mut oversized = mpa_request(0x50, 2, &[0; 4]);
    oversized[18..20].copy_from_slice(&513u16.to_be_bytes());
    let mut wrong_key = mpa_request(0x50, 2, &[0; 4]);
    wrong_key[3] ^= 0x20;
    let cases = [
        ("key", wrong_key),
        ("private data over 512 bytes", oversized),
        ("revision 9", mpa_request(0x50, 9, &[0; 4])),
        ("enhanced, but too short", mpa_request(0x50, 2, &[0; 2])),
        (
            "a reply instead of a request",
            b"MPA ID Rep Frame\x40\x01\0\0".to_vec(),
        ),
    ];
    for kind in kinds() {
        let mut target = Target::new(kind, 13);
        let bystander = target.connect();
        for (round, (name, bytes)) in cases.iter().enumerate() {
            let peer = target.new_peer();
            target.peers[peer].connect();
            target.run(50_000);
            target.send(peer, bytes);
            target.run(1_000_000);
            let state = &target.peers[peer];
            assert!(
                state.closed || state.reset,
                "{kind}, {name}: the card closes"
            );
            assert!(
                !target.is_served(peer),
                "{kind}, {name}: the application never hears of it"
            );
            works(&mut target, bystander, round as u32 + 1);
        }
    }
}

/// Changes a frame that would be good.
type Damage = fn(&mut Vec<u8>);

/// Puts the IPv4 header checksum right again.
fn fix_ip(frame: &mut [u8]) {
    frame[24..26].fill(0);
    let sum = internet_checksum(&frame[14..34]);
    frame[24..26].copy_from_slice(&sum.to_be_bytes());
}

const DROPS: &[(&str, &str, Damage)] = &[
    ("TCP checksum", "rx_drop_tcp_checksum", |f| f[60] ^= 1),
    ("IPv4 checksum", "rx_drop_ip_checksum", |f| f[22] ^= 1),
    (
        "IPv4 total length beyond the frame",
        "rx_drop_ip_header",
        |f| {
            f[16..18].copy_from_slice(&9000u16.to_be_bytes());
            fix_ip(f);
        },
    ),
    ("IPv4 header length 16", "rx_drop_ip_header", |f| {
        f[14] = 0x44
    }),
    ("TCP data offset 16", "rx_drop_tcp_header", |f| f[46] = 0x40),
    (
        "TCP data offset beyond the segment",
        "rx_drop_tcp_header",
        |f| f[46] = 0xf0,
    ),
    ("cut off", "rx_drop_ip_header", |f| f.truncate(70)),
    ("a runt", "rx_drop_runt", |f| f.truncate(9)),
    ("too long", "rx_drop_oversize", |f| f.resize(9600, 0)),
    ("another station's", "rx_drop_mac", |f| f[5] ^= 0x40),
];

#[test]
fn damaged_frames_are_dropped_and_counted() {
    for kind in kinds() {
        let mut target = Target::new(kind, 14);
        let peer = target.connect();
        let bystander = target.connect();
        for (round, (name, counter, damage)) in DROPS.iter().enumerate() {
            let before = target.counter(counter);
            let (stag, to) = (
                target.served(peer).open.rkey(),
                target.served(peer).open.addr(),
            );
            let good = &target.peers[peer];
            let bytes = fpdu(&tagged(
                TAGGED_LAST,
                WRITE,
                stag,
                to,
                &[round as u8 + 1; 16],
            ));
            let whole = good.segment(good.snd_nxt, flag::ACK | flag::PSH, &[], &bytes);
            let mut damaged = whole.clone();
            damage(&mut damaged);
            target.peers[peer].send_frame(damaged);
            target.run(20_000);
            assert_eq!(
                target.counter(counter),
                before + 1,
                "{kind}, {name}: {counter}"
            );
            let at_to = target.served(peer).open.to_vec(0, 16).expect("read");
            assert_ne!(
                at_to,
                [round as u8 + 1; 16],
                "{kind}, {name}: memory was written"
            );
            works(&mut target, bystander, round as u32 + 1);
            // The same bytes undamaged: the connection has lost nothing.
            target.send(peer, &bytes);
            let at_to = target.served(peer).open.to_vec(0, 16).expect("read");
            assert_eq!(at_to, [round as u8 + 1; 16], "{kind}, {name}: afterwards");
        }
    }
}
