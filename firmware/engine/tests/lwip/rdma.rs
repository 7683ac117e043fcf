//! The engine connects to lwIP, on which there is an MPA, DDP and RDMAP written by hand: RDMA over a TCP that has neither SACK nor timestamps.
//! Skipped where lwIP is not installed.
#![allow(missing_docs)]

use crate::bench;
use crate::peer;

use bench::card::MEMORY;
use bench::oracle;
use bench::path::To;
use bench::site::pattern;
use bench::{send, write};
use peer::options::{MSS, SACK_PERMITTED, TIMESTAMPS, WINDOW_SCALE};
use peer::{Meeting, PEER_IP};
use weft_engine::*;
use weft_lwip::Socket;

const PORT: u16 = 4791;
/// Behind the rings of the site.
const AT: u64 = MEMORY + (1 << 20);
const SIZE: u64 = 1 << 20;
/// Where the messages from lwIP go.
const SINK: u64 = SIZE / 2;

/// What the application on lwIP has taken.
struct Peer {
    socket: Socket,
    octets: Vec<u8>,
}

impl Peer {
    /// Takes what is there.
    fn take(&mut self) {
        self.octets.extend(self.socket.read(usize::MAX));
    }
}

/// A connection of revision 1 (RFC 5044 §7.1), the reply being the peer's.
fn connect(meeting: &mut Meeting, qp: QpId) -> (ConnId, Peer) {
    let listener = meeting.listen(PORT);
    let params = ConnectParams {
        remote: Endpoint {
            ip: PEER_IP,
            port: PORT,
        },
        peer_to_peer: false,
        revision: Revision::Rev1,
        ..Default::default()
    };
    let conn = meeting
        .call(|engine, now, card| engine.connect(now, qp, &params, card))
        .unwrap();
    let mut socket = None;
    meeting.until("a connection", |_| {
        socket = socket.take().or_else(|| listener.accept());
        socket.is_some()
    });
    let mut peer = Peer {
        socket: socket.unwrap(),
        octets: Vec::new(),
    };
    meeting.until("the request", |_| {
        peer.take();
        peer.octets.len() >= 20
    });
    // Its CRC bit, revision 1, no private data.
    assert_eq!(peer.octets, b"MPA ID Req Frame\x40\x01\0\0");
    let reply = b"MPA ID Rep Frame\x40\x01\0\0";
    assert_eq!(peer.socket.write(reply), reply.len());
    meeting.until("the connection", |meeting| {
        let stands = |event: &Event| matches!(event, Event::Established { .. });
        meeting.ours.events.iter().any(stands)
    });
    (conn, peer)
}

fn number(octets: &[u8]) -> u32 {
    u32::from_be_bytes(octets.try_into().unwrap())
}

/// A message by its segments (RFC 5041 §4, RFC 5040 §4).
#[derive(Debug, PartialEq)]
enum Message {
    Send(Vec<u8>),
    Write { stag: u32, to: u64, data: Vec<u8> },
}

/// Puts messages together, and looks at each number in each header.
fn messages(ulpdus: &[Vec<u8>]) -> Vec<Message> {
    let mut messages = Vec::new();
    let mut open: Option<Message> = None;
    let mut msn = 1;
    for ulpdu in ulpdus {
        let last = ulpdu[0] & 0x40 != 0;
        match (ulpdu[0] & 0xbf, ulpdu[1]) {
            // Untagged, DDP 1; RDMAP 1, Send.
            (0x01, 0x43) => {
                let Message::Send(mut data) = open.take().unwrap_or(Message::Send(Vec::new()))
                else {
                    panic!("a Send in the middle of a Write");
                };
                let header = [2, 6, 10, 14].map(|at| number(&ulpdu[at..at + 4]));
                assert_eq!(header, [0, 0, msn, data.len() as u32]);
                data.extend(&ulpdu[18..]);
                msn += u32::from(last);
                open = Some(Message::Send(data));
            }
            // Tagged; Write.
            (0x81, 0x40) => {
                let tag = number(&ulpdu[2..6]);
                let place = u64::from_be_bytes(ulpdu[6..14].try_into().unwrap());
                let begin = Message::Write {
                    stag: tag,
                    to: place,
                    data: Vec::new(),
                };
                let Message::Write { stag, to, mut data } = open.take().unwrap_or(begin) else {
                    panic!("a Write in the middle of a Send");
                };
                assert_eq!((tag, place), (stag, to + data.len() as u64));
                data.extend(&ulpdu[14..]);
                open = Some(Message::Write { stag, to, data });
            }
            other => panic!("{other:x?}"),
        }
        if last {
            messages.extend(open.take());
        }
    }
    assert_eq!(open, None);
    messages
}

/// Sends and Writes one way, Sends the other, at the same time; then the engine closes.
fn exchange(seed: u64, faults: u64, timestamps: bool) -> Option<Meeting> {
    let mut meeting = Meeting::new(seed, faults, |config| config.timestamps = timestamps)?;
    let data = pattern(SIZE as usize / 2);
    let (qp, stag) = meeting.call(|engine, _, card| {
        let pd = engine.alloc_pd();
        let config = QpConfig {
            pd,
            send_depth: 64,
            recv_depth: 64,
            max_sge: 1,
            rung: None,
        };
        let stag = engine.register(pd, 0, AT, SIZE, Access::LOCAL_WRITE, card);
        (engine.create_qp(&config, card).unwrap(), stag.unwrap())
    });
    let memory = meeting.ours.card.bytes(AT, data.len()).unwrap();
    memory.copy_from_slice(&data);
    let (conn, mut peer) = connect(&mut meeting, qp);

    let lengths = [1, 1441, 5000, 40_000, 0, 63, 1440, 12_345];
    let (mut wanted, mut id) = (Vec::new(), 0);
    for round in 0..5 {
        for (n, length) in (0..).zip(lengths) {
            let from = round * 1000 + n * 7;
            let sges = [Sge {
                stag,
                to: from,
                length,
            }];
            let octets = data[from as usize..][..length as usize].to_vec();
            let (place, to) = (0x1234_5600 + n as u32, 0xffff_ffff_ff00 + from);
            let (wr, message) = match n % 2 {
                0 => (send(id, &sges), Message::Send(octets)),
                _ => {
                    let message = Message::Write {
                        stag: place,
                        to,
                        data: octets,
                    };
                    (write(id, place, to, &sges), message)
                }
            };
            meeting
                .call(|engine, now, card| engine.post_send(now, qp, &wr, card))
                .unwrap();
            wanted.push(message);
            id += 1;
        }
    }
    // What lwIP sends: each message an FPDU, of all lengths, so that they fit no segment.
    let sizes: Vec<usize> = (0..40).map(|n| n * 977 % 1400).collect();
    let mut stream = Vec::new();
    for (n, size) in (0..).zip(&sizes) {
        let sges = [Sge {
            stag,
            to: SINK + n * 1400,
            length: 1400,
        }];
        let wr = RecvWr { id: n, sges: &sges };
        meeting
            .call(|engine, now, card| engine.post_recv(now, qp, &wr, card))
            .unwrap();
        let mut ulpdu = vec![0x41, 0x43, 0, 0, 0, 0, 0, 0, 0, 0];
        ulpdu.extend((n as u32 + 1).to_be_bytes());
        ulpdu.extend([0; 4]);
        ulpdu.extend(&data[n as usize..][..*size]);
        stream.extend(oracle::fpdu::frame(0, None, true, &ulpdu));
    }
    let (mut written, mut sent, mut received) = (0, 0, Vec::new());
    meeting.until("all messages", |meeting| {
        peer.take();
        assert_eq!(peer.socket.failure(), None, "seed {seed}");
        // In pieces, so that segments begin anywhere.
        let piece = stream.len().min(written + 1009);
        written += peer.socket.write(&stream[written..piece]);
        while let Some(done) = meeting.ours.engine.poll_completion() {
            assert_eq!(done.status, Status::Success, "seed {seed}: {done:?}");
            match done.opcode {
                Opcode::Recv => received.push((done.wr_id, done.byte_len as usize)),
                _ => sent += 1,
            }
        }
        sent == wanted.len() && received.len() == sizes.len()
    });
    let expected: Vec<_> = (0..).zip(sizes.iter().copied()).collect();
    assert_eq!(received, expected, "seed {seed}");
    for (n, size) in expected {
        let octets = meeting.ours.card.bytes(AT + SINK + n * 1400, size).unwrap();
        assert!(*octets == data[n as usize..][..size], "seed {seed}: {n}");
    }
    meeting
        .call(|engine, now, card| engine.disconnect(now, conn, card))
        .unwrap();
    meeting.until("our FIN", |_| {
        peer.take();
        peer.socket.at_end()
    });
    assert!(peer.socket.close());
    meeting.until("the end", |meeting| {
        let ended = |event: &Event| {
            let local = DisconnectReason::Local;
            matches!(event, Event::Disconnected { reason, .. } if *reason == local)
        };
        meeting.ours.events.iter().any(ended) && meeting.stack.is_idle()
    });
    let got = messages(&oracle::ulpdus(&peer.octets, false));
    assert!(got == wanted, "seed {seed}: {} messages", got.len());
    Some(meeting)
}

/// The engine offers all that it has, and uses of it what lwIP takes.
#[test]
fn what_is_offered_and_not_taken_is_not_used() {
    for timestamps in [false, true] {
        let Some(meeting) = exchange(1, 0, timestamps) else {
            return;
        };
        let seen = &meeting.seen;
        let mut offer = vec![MSS, WINDOW_SCALE, SACK_PERMITTED];
        if timestamps {
            offer.push(TIMESTAMPS);
        }
        assert!(seen.syn(To::Peer).keys().eq(&offer), "{:?}", seen.syns);
        assert!(seen.syn(To::Ours).keys().eq(&[MSS, WINDOW_SCALE]));
        assert!(seen.segments > 100);
        assert!(seen.later.is_empty(), "{:?}", seen.later);
        let stats = meeting.ours.engine.stats();
        assert_eq!(stats.retransmits + stats.resets_sent, 0, "{stats:?}");
    }
}

#[test]
fn messages_over_a_path_that_loses_reorders_and_duplicates() {
    for seed in 1..=20 {
        let Some(meeting) = exchange(seed, 20, false) else {
            return;
        };
        let stats = meeting.ours.engine.stats();
        assert!(stats.retransmits > 0, "seed {seed}: {stats:?}");
        assert_eq!(stats.terminates_sent, 0, "seed {seed}: {stats:?}");
        assert!(meeting.seen.later.is_empty(), "{:?}", meeting.seen.later);
    }
}
