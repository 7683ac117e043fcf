//! Plain bytes first, RDMA afterwards, on one connection: with a login before, taken over by command in between, over links that lose.
#![allow(missing_docs)]

use crate::bench;

use bench::*;
use weft_engine::commands::{self, Refusal};
use weft_engine::*;

const LIMIT: u64 = 600_000 * MS;

/// A stream between the two hosts, and its ends' queue pairs and rings.
struct Streams {
    conns: [ConnId; 2],
    qps: [QpId; 2],
    rings: [(Sge, u64); 2],
}

fn meet(b: &mut Bench) -> Streams {
    let qps = [b.hosts[0].qp(), b.hosts[1].qp()];
    let rings = [0, 1].map(|n| {
        let (stag, iova) = b.hosts[n].region(8192, Access::NONE);
        (sge(stag, 0, 8192), iova)
    });
    b.call(1, |e, _, _| e.listen_stream(3260, 4)).unwrap();
    let remote = Endpoint {
        ip: [10, 0, 0, 2],
        port: 3260,
    };
    let ring = rings[0].0;
    let first = b.call(0, |e, now, card| {
        e.connect_stream(now, qps[0], &ring, remote, card)
    });
    let Event::StreamRequest { conn, .. } = b.event_of(1, LIMIT) else {
        panic!("no stream");
    };
    let ring = rings[1].0;
    b.call(1, |e, now, card| {
        e.accept_stream(now, conn, qps[1], &ring, card)
    })
    .unwrap();
    for n in [0, 1] {
        let event = b.event_of(n, LIMIT);
        assert!(
            matches!(event, Event::StreamEstablished { .. }),
            "{event:?}"
        );
    }
    Streams {
        conns: [first.unwrap(), conn],
        qps,
        rings,
    }
}

fn say(b: &mut Bench, n: usize, conn: ConnId, what: &[u8]) {
    let said = b.call(n, |e, now, card| e.write_stream(now, conn, what, card));
    assert_eq!(said, Ok(what.len()));
}

fn hear(b: &mut Bench, n: usize, conn: ConnId, what: &[u8]) {
    b.until("bytes", LIMIT, |b| {
        let state = b.hosts[n].engine.stream_state(conn);
        state.is_ok_and(|state| state.readable >= what.len())
    });
    let mut found = vec![0; what.len()];
    let read = b.call(n, |e, now, card| e.read_stream(now, conn, &mut found, card));
    assert_eq!((read, &found[..]), (Ok(what.len()), what));
}

/// Out of the engine and into it again, the second time by command.
fn take_over(b: &mut Bench, n: usize, s: &mut Streams) {
    let (conn, qp, (ring, iova)) = (s.conns[n], s.qps[n], s.rings[n]);
    let state = b.call(n, |e, now, card| {
        let state = e.hand_over(now, conn, card).unwrap();
        let all = [&state.tcp.unacknowledged[..], &state.tcp.unread[..]].concat();
        card.bytes(iova, all.len()).unwrap().copy_from_slice(&all);
        let record = commands::stream_record(&state.tcp);
        let adopt = commands::adopt(qp, &ring, &state);
        let answer = e.execute(now, &adopt, &record, card);
        commands::outcome(&answer).unwrap();
        s.conns[n] = ConnId::from_number(answer.conn).unwrap();
        state
    });
    assert_eq!(state.remote.ip, [10, 0, 0, 2 - n as u8]);
    let event = b.event_of(n, LIMIT);
    assert!(matches!(event, Event::StreamEstablished { qp: q, .. } if q == qp));
}

fn start(b: &mut Bench, n: usize, conn: ConnId, how: &StartMpa<'_>) -> Result<(), Refusal> {
    let data = match how {
        StartMpa::Active(params) => params.private_data,
        _ => &[],
    };
    let answer = b.call(n, |e, now, card| {
        e.execute(now, &commands::start_mpa(conn, how), data, card)
    });
    commands::outcome(&answer)
}

/// A message each way, with its bytes.
fn messages(b: &mut Bench, s: &Streams) {
    for from in [0, 1] {
        let (out, at) = b.hosts[from].region(5000, Access::NONE);
        let (into, found) = b.hosts[1 - from].region(5000, Access::LOCAL_WRITE);
        let data: Vec<u8> = (0..5000u32).map(|i| (i * 7) as u8 ^ from as u8).collect();
        b.memory(from, at, 5000).copy_from_slice(&data);
        b.post_recv(1 - from, s.qps[1 - from], 5, &[sge(into, 0, 5000)])
            .unwrap();
        b.post_send(from, s.qps[from], &send(6, &[sge(out, 0, 5000)]))
            .unwrap();
        let done = b.completions_of(1 - from, 1, LIMIT)[0];
        assert_eq!((done.wr_id, done.status), (5, Status::Success));
        let done = b.completions_of(from, 1, LIMIT)[0];
        assert_eq!((done.wr_id, done.status), (6, Status::Success));
        assert!(b.memory(1 - from, found, 5000) == data);
    }
}

fn lossy(seed: u64) -> Bench {
    let mut b = Bench::new(seed);
    b.faults = Faults {
        loss: 3000,
        duplicate: 2000,
        reorder: 3000,
        split: 3000,
        ..Faults::default()
    };
    b
}

/// A login of bytes; the one who asks for RDMA says so with the last of them, and begins the start-up behind it.
#[test]
fn a_login_of_bytes_then_the_start_up_then_messages() {
    for seed in 1..=60 {
        let mut b = lossy(seed);
        let mut s = meet(&mut b);
        let c = s.conns;
        say(&mut b, 0, c[0], &[1; 3000]);
        hear(&mut b, 1, c[1], &[1; 3000]);
        // Of either side the bytes may be anywhere when it moves.
        say(&mut b, 1, c[1], &[2; 4000]);
        let taken = seed as usize % 2;
        take_over(&mut b, taken, &mut s);
        let c = s.conns;
        hear(&mut b, 0, c[0], &[2; 4000]);
        // The last streaming message.
        say(&mut b, 0, c[0], b"RDMA from here on");
        let params = ConnectParams {
            markers: seed % 3 == 0,
            aligned: seed % 2 == 0,
            private_data: b"behind the login",
            ..ConnectParams::default()
        };
        start(&mut b, 0, c[0], &StartMpa::Active(params)).unwrap();
        hear(&mut b, 1, c[1], b"RDMA from here on");
        start(&mut b, 1, c[1], &StartMpa::Passive).unwrap();
        let request = b.event_of(1, LIMIT);
        let Event::ConnectRequest {
            conn, private_data, ..
        } = request
        else {
            panic!("{request:?}");
        };
        assert_eq!((conn, &*private_data), (c[1], &b"behind the login"[..]));
        let other = b.hosts[1].qp();
        let accept = AcceptParams {
            aligned: seed % 4 == 0,
            ..AcceptParams::default()
        };
        let wrong = b.call(1, |e, now, card| e.accept(now, conn, other, &accept, card));
        assert_eq!(wrong, Err(Error::WrongQpState));
        let qp = s.qps[1];
        b.call(1, |e, now, card| e.accept(now, conn, qp, &accept, card))
            .unwrap();
        for n in [0, 1] {
            let event = b.event_of(n, LIMIT);
            assert!(
                matches!(event, Event::Established { qp, agreed, .. } if qp == s.qps[n] && agreed.aligned == accept.aligned),
                "seed {seed}: {event:?}"
            );
        }
        messages(&mut b, &s);
        let bytes = b.call(0, |e, now, card| e.write_stream(now, c[0], b"?", card));
        assert_eq!(bytes, Err(Error::WrongConnectionState));
        // The rings are the program's again.
        for n in [0, 1] {
            let ring = s.rings[n].0.stag;
            b.call(n, |e, now, card| e.deregister(now, ring, card))
                .unwrap();
        }
    }
}

/// The start-up went some other way: both sides say what it agreed on.
#[test]
fn past_the_start_up_fpdus_follow_the_last_byte() {
    for seed in 1..=60 {
        let mut b = lossy(seed);
        let mut s = meet(&mut b);
        let c = s.conns;
        say(&mut b, 1, c[1], &[3; 2000]);
        take_over(&mut b, 0, &mut s);
        let c = s.conns;
        hear(&mut b, 0, c[0], &[3; 2000]);
        let agreed = Agreed {
            revision: 1,
            crc: seed % 2 == 0,
            markers_sent: seed % 3 == 0,
            markers_received: seed % 5 == 0,
            ird: 4,
            ord: 4,
            rtr: None,
            aligned: seed % 4 == 0,
        };
        let theirs = Agreed {
            markers_sent: agreed.markers_received,
            markers_received: agreed.markers_sent,
            ..agreed
        };
        for (n, agreed) in [(0, agreed), (1, theirs)] {
            start(&mut b, n, c[n], &StartMpa::Past(agreed)).unwrap();
        }
        for (n, said) in [(0, agreed), (1, theirs)] {
            let event = b.event_of(n, LIMIT);
            assert!(
                matches!(event, Event::Established { agreed, .. } if agreed == said),
                "{event:?}"
            );
        }
        messages(&mut b, &s);
    }
}

#[test]
fn a_start_of_mpa_that_makes_no_sense_is_refused_and_the_bytes_go_on() {
    let mut b = Bench::new(1);
    let s = meet(&mut b);
    let c = s.conns;
    let state = Err(Refusal::Engine(Error::WrongConnectionState));
    say(&mut b, 1, c[1], b"hello");
    b.run(10 * MS);
    let params = ConnectParams::default();
    // Who begins has to have read what came: it would be taken for the reply.
    assert_eq!(start(&mut b, 0, c[0], &StartMpa::Active(params)), state);
    hear(&mut b, 0, c[0], b"hello");
    let reads = ConnectParams {
        ird: 20_000,
        ..params
    };
    let refused = start(&mut b, 0, c[0], &StartMpa::Active(reads));
    assert_eq!(
        refused,
        Err(Refusal::Engine(Error::InvalidReadDepth(20_000)))
    );
    let bare = Agreed {
        aligned: true,
        revision: 2,
        ..Agreed::default()
    };
    let refused = start(&mut b, 0, c[0], &StartMpa::Past(bare));
    assert_eq!(refused, Err(Refusal::Engine(Error::InvalidAligned)));
    let both = commands::start_mpa(c[0], &StartMpa::Passive).with_past_start_up(true);
    let answer = b.call(0, |e, now, card| e.execute(now, &both, &[], card));
    assert_eq!(commands::outcome(&answer), Err(Refusal::Malformed));
    say(&mut b, 0, c[0], b"still bytes");
    hear(&mut b, 1, c[1], b"still bytes");
    // Nobody begins: it ends by time, and as a connection that did not come about.
    start(&mut b, 1, c[1], &StartMpa::Passive).unwrap();
    assert_eq!(start(&mut b, 1, c[1], &StartMpa::Passive), state);
    let end = b.event_of(1, LIMIT);
    assert!(matches!(end, Event::ConnectError { .. }), "{end:?}");
    let end = b.event_of(0, LIMIT);
    assert!(matches!(end, Event::StreamClosed { .. }), "{end:?}");
}

#[test]
fn a_state_in_records_that_no_connection_can_have_is_refused() {
    let mut b = Bench::new(1);
    let qp = b.hosts[0].qp();
    let (stag, _) = b.hosts[0].region(4096, Access::NONE);
    let ring = sge(stag, 0, 4096);
    let state = StreamHandover {
        local: Endpoint {
            ip: [10, 0, 0, 1],
            port: 7,
        },
        remote: Endpoint {
            ip: [10, 0, 0, 2],
            port: 5,
        },
        tcp: Handover {
            mss: 1000,
            ..Handover::default()
        },
    };
    let mut adopt = |tcp: &Handover, length: usize| {
        let record = commands::stream_record(tcp);
        let command = commands::adopt(qp, &ring, &state);
        let answer = b.call(0, |e, now, card| {
            e.execute(now, &command, &record[..length], card)
        });
        commands::outcome(&answer)
    };
    let tcp = &state.tcp;
    assert_eq!(adopt(tcp, 63), Err(Refusal::Malformed));
    let sent = Handover {
        snd_nxt: 1,
        ..tcp.clone()
    };
    let why = Error::InvalidHandover(Impossible::Sent);
    assert_eq!(adopt(&sent, 64), Err(Refusal::Engine(why)));
    let long = Handover {
        unread: vec![0; 4097],
        ..tcp.clone()
    };
    assert_eq!(adopt(&long, 64), Err(Refusal::Engine(Error::NoMemory)));
    assert_eq!(adopt(tcp, 64), Ok(()));
    assert_eq!(adopt(tcp, 64), Err(Refusal::Engine(Error::WrongQpState)));
}

/// The frame of 2007 is asked for in four bytes of the private data, here as in `connect`; the one byte too many is refused, and not sent as nothing.
#[test]
fn private_data_leave_room_for_what_else_is_asked_for() {
    let mut b = Bench::new(5);
    let s = meet(&mut b);
    let (given, limit) = (505, 504);
    let data = vec![7; given];
    let params = ConnectParams {
        rtr: RtrKinds::FRAME,
        private_data: &data,
        ..ConnectParams::default()
    };
    let how = StartMpa::Active(params);
    let refused = b.call(0, |e, now, card| e.start_mpa(now, s.conns[0], &how, card));
    assert_eq!(refused, Err(Error::PrivateDataTooLong { given, limit }));
}
