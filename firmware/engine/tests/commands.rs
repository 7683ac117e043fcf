//! Connections by records alone: commands, answers and events as they lie in rings; and what no honest commander writes.
#![allow(missing_docs)]

use crate::bench;

use std::sync::atomic::{AtomicU64, Ordering};

use bench::script::{Script, PEER_IP};
use bench::*;
use weft_engine::commands::{self, Answer, Command, Refusal};
use weft_engine::*;
use weft_layout::{CommandOpcode, CommandStatus};
use weft_queues::{CommandRing, EventRing};

fn memory(bytes: usize) -> Vec<AtomicU64> {
    (0..bytes.div_ceil(8)).map(|_| AtomicU64::new(0)).collect()
}

/// One commander: a ring, and how far it is on both sides.
struct Commander {
    ring: CommandRing,
    memory: Vec<AtomicU64>,
    number: u32,
}

impl Commander {
    fn new() -> Self {
        let ring = CommandRing::new(4).unwrap();
        Self {
            ring,
            memory: memory(ring.bytes()),
            number: 0,
        }
    }

    fn command(
        &mut self,
        bench: &mut Bench,
        n: usize,
        command: Command,
        data: &[u8],
    ) -> Result<Answer, Refusal> {
        let (ring, memory, number) = (self.ring, self.memory.as_slice(), self.number);
        ring.put(memory, number, &command, data);
        ring.ring(memory, number + 1);
        self.number += 1;
        bench.call(n, |engine, now, card| {
            let taken = ring.take(memory, number).unwrap().unwrap();
            let answer = engine.execute(now, &taken.command, taken.private_data(), card);
            ring.put_answer(memory, number, answer);
        });
        let answer = ring.answer(memory, number).unwrap();
        assert_eq!(answer.command, number);
        commands::outcome(&answer).map(|()| answer)
    }
}

/// What comes out of an event ring is what went into it.
fn through_a_ring(event: Event) -> Event {
    let ring = EventRing::new(1).unwrap();
    let memory = memory(ring.bytes());
    let (entry, data) = commands::entry_of(&event);
    ring.put(memory.as_slice(), 0, entry, data);
    let taken = ring.get(memory.as_slice(), 0).unwrap();
    let found = commands::event_of(&taken.entry, taken.private_data()).unwrap();
    assert_eq!(found, event);
    found
}

#[test]
fn a_connection_by_records_alone() {
    let mut b = Bench::new(1);
    let mut rings = [Commander::new(), Commander::new()];
    let mut qps = Vec::new();
    for (n, ring) in rings.iter_mut().enumerate() {
        let answer = ring.command(&mut b, n, commands::alloc_pd(), &[]).unwrap();
        let pd = PdId::from_number(answer.pd);
        let access = Access::LOCAL_WRITE | Access::REMOTE_WRITE;
        let register = commands::register(pd, 0x1000, card::MEMORY, 4096, access);
        let stag = ring.command(&mut b, n, register, &[]).unwrap().stag;
        assert_eq!(b.hosts[n].card.stag_row(stag).base, 0x1000);
        let config = QpConfig {
            pd,
            send_depth: 8,
            recv_depth: 8,
            max_sge: 2,
            rung: None,
        };
        let answer = ring.command(&mut b, n, commands::create_qp(&config), &[]);
        qps.push(QpId::from_number(answer.unwrap().qp));
        let gone = ring.command(&mut b, n, commands::dealloc_pd(pd), &[]);
        assert_eq!(gone, Err(Refusal::Engine(Error::InUse)));
    }
    let listening = rings[1].command(&mut b, 1, commands::listen(4791, 8), &[]);
    assert_eq!(listening.unwrap().port, 4791);
    let twice = rings[1].command(&mut b, 1, commands::listen(4791, 8), &[]);
    assert_eq!(twice, Err(Refusal::Engine(Error::PortInUse(4791))));

    let asked: Vec<u8> = (0..=255).cycle().take(508).collect();
    let params = ConnectParams {
        remote: Endpoint {
            ip: [10, 0, 0, 2],
            port: 4791,
        },
        ird: 3,
        ord: 5,
        crc: false,
        markers: true,
        ..ConnectParams::default()
    };
    let connect = commands::connect(qps[0], &params);
    let first = rings[0].command(&mut b, 0, connect, &asked).unwrap().conn;
    let request = through_a_ring(b.event_of(1, 1000 * MS));
    let Event::ConnectRequest {
        conn,
        private_data,
        ird,
        ord,
        rtr,
        ..
    } = request
    else {
        panic!("{request:?}");
    };
    assert_eq!(
        (&*private_data, ird, ord, rtr),
        (&asked[..], Some(3), Some(5), Some(params.rtr))
    );
    let accept = AcceptParams {
        ird: 7,
        ord: 2,
        ..AcceptParams::default()
    };
    let accept = commands::accept(conn, qps[1], &accept);
    rings[1].command(&mut b, 1, accept, b"yes").unwrap();
    for (n, said) in [(0, &b"yes"[..]), (1, b"")] {
        match through_a_ring(b.event_of(n, 1000 * MS)) {
            Event::Established {
                conn: stands,
                qp,
                private_data,
                agreed,
                ird,
                ord,
            } => {
                // What the reply said, and what the request said.
                let theirs = [(7, 2), (3, 5)][n];
                assert_eq!((ird, ord), (Some(theirs.0), Some(theirs.1)));
                let wanted = [first, conn.number()][n];
                assert_eq!((stands.number(), qp), (wanted, qps[n]));
                assert_eq!((&*private_data, agreed.crc), (said, true));
                assert_eq!(agreed.markers_received, n == 0);
            }
            other => panic!("{other:?}"),
        }
        let answer = rings[n].command(&mut b, n, commands::query_qp(qps[n]), &[]);
        let answer = answer.unwrap();
        assert_eq!(commands::state_of(&answer), Ok(QpState::Rts));
        let told = commands::connection_of(&answer).unwrap();
        assert_eq!(told, b.hosts[n].engine.conn_info(qps[n]).unwrap());
        assert!(told.unwrap().agreed.is_some());
    }

    let back = rings[0].command(&mut b, 0, commands::modify_qp(qps[0], QpState::Idle), &[]);
    let from = QpState::Rts;
    assert_eq!(back, Err(Refusal::NoTransition { from }));
    let close = commands::modify_qp(qps[0], QpState::Closing);
    rings[0].command(&mut b, 0, close, &[]).unwrap();
    for (n, reason) in [(1, DisconnectReason::Peer), (0, DisconnectReason::Local)] {
        let end = through_a_ring(b.event_of(n, 1000 * MS));
        assert!(matches!(end, Event::Disconnected { reason: why, .. } if why == reason));
    }
    for (n, ring) in rings.iter_mut().enumerate() {
        let destroy = commands::destroy_qp(qps[n]);
        ring.command(&mut b, n, destroy, &[]).unwrap();
        let again = ring.command(&mut b, n, destroy, &[]);
        assert_eq!(again, Err(Refusal::Engine(Error::UnknownQp)));
    }
    let stop = rings[1].command(&mut b, 1, commands::unlisten(4791), &[]);
    stop.unwrap();
}

/// Each segment begins with an FPDU: asked for, granted and told by records.
#[test]
fn aligned_by_records() {
    for (asked, granted) in [(true, true), (true, false), (false, true)] {
        let mut b = Bench::new(4);
        let mut rings = [Commander::new(), Commander::new()];
        let qps = [b.hosts[0].qp(), b.hosts[1].qp()];
        b.call(1, |e, _, _| e.listen(4791, 8)).unwrap();
        let params = ConnectParams {
            remote: Endpoint {
                ip: [10, 0, 0, 2],
                port: 4791,
            },
            aligned: asked,
            ..ConnectParams::default()
        };
        let connect = commands::connect(qps[0], &params);
        rings[0].command(&mut b, 0, connect, &[]).unwrap();
        let Event::ConnectRequest { conn, .. } = through_a_ring(b.event_of(1, 1000 * MS)) else {
            panic!("no request");
        };
        let params = AcceptParams {
            aligned: granted,
            ..AcceptParams::default()
        };
        let accept = commands::accept(conn, qps[1], &params);
        rings[1].command(&mut b, 1, accept, &[]).unwrap();
        for (n, ring) in rings.iter_mut().enumerate() {
            let Event::Established { agreed, .. } = through_a_ring(b.event_of(n, 1000 * MS)) else {
                panic!("host {n}");
            };
            assert_eq!(agreed.aligned, asked && granted);
            let answer = ring.command(&mut b, n, commands::query_qp(qps[n]), &[]);
            let told = commands::connection_of(&answer.unwrap()).unwrap().unwrap();
            assert_eq!(told.agreed, Some(agreed));
        }
    }
}

#[test]
fn refusals_come_back_by_records() {
    let mut b = Bench::new(2);
    let mut ring = Commander::new();
    let _ = b.call(1, |e, _, _| e.listen(4791, 8));
    let params = ConnectParams {
        remote: Endpoint {
            ip: [10, 0, 0, 2],
            port: 4791,
        },
        ..ConnectParams::default()
    };
    let qp = b.hosts[0].qp();
    let connect = commands::connect(qp, &params);
    // More than a slot holds is counted, and refused as it is by the call.
    for given in [509, 512, 513, 70_000] {
        let refused = ring.command(&mut b, 0, connect, &vec![1; given]);
        let limit = 508;
        let error = Error::PrivateDataTooLong { given, limit };
        assert_eq!(refused, Err(Refusal::Engine(error)));
    }
    // With revision 1 all that a slot holds would go.
    let revision_1 = ConnectParams {
        revision: Revision::Rev1,
        peer_to_peer: false,
        ..params
    };
    let (given, limit) = (513, 512);
    let old = commands::connect(qp, &revision_1);
    let refused = ring.command(&mut b, 0, old, &vec![1; given]);
    let error = Error::PrivateDataTooLong { given, limit };
    assert_eq!(refused, Err(Refusal::Engine(error)));
    let reads = ConnectParams {
        ird: 20_000,
        ..params
    };
    let refused = ring.command(&mut b, 0, commands::connect(qp, &reads), &[]);
    let error = Error::InvalidReadDepth(20_000);
    assert_eq!(refused, Err(Refusal::Engine(error)));

    ring.command(&mut b, 0, connect, &[]).unwrap();
    let Event::ConnectRequest { conn, .. } = b.event_of(1, 1000 * MS) else {
        panic!("no request");
    };
    ring.command(&mut b, 1, commands::reject(conn), &[9; 508])
        .unwrap();
    let rejected = through_a_ring(b.event_of(0, 1000 * MS));
    assert!(
        matches!(&rejected, Event::Rejected { private_data, .. } if **private_data == [9; 508])
    );
    let over = ring.command(&mut b, 1, commands::disconnect(conn), &[]);
    assert_eq!(over, Err(Refusal::Engine(Error::UnknownConnection)));
}

#[test]
fn the_other_events_as_records() {
    let mut b = Bench::new(3);
    let pair = b.connect(&ConnectParams::default(), &AcceptParams::default());
    let error = b.call(0, |e, now, card| {
        e.execute(
            now,
            &commands::modify_qp(pair.qps[0], QpState::Error),
            &[],
            card,
        )
    });
    assert_eq!(commands::outcome(&error), Ok(()));
    b.run(10 * MS);
    let terminate = Some(TerminateCode::DDP_STAG);
    let made = [true, false].map(|received| Event::QpFatal {
        qp: pair.qps[1],
        terminate: terminate.filter(|_| received),
        received,
    });
    let seen = b.hosts.iter_mut().flat_map(|host| host.events.drain(..));
    let failures = [ConnectFailure::NoRtr, ConnectFailure::SegmentTooSmall];
    let failed = failures.map(|reason| Event::ConnectError {
        conn: pair.conns[0],
        reason,
    });
    let mut count = 0;
    for event in seen.chain(made).chain(failed) {
        through_a_ring(event);
        count += 1;
    }
    assert!(count > 5, "both ends heard of it: {count}");
}

/// Random words all over a command ring, among them commands that nearly make sense: each is answered or the ring ends, nobody
/// panics, and whoever comes afterwards finds a card that works.
#[test]
fn random_commands_harm_nobody() {
    let mut done = 0;
    for seed in 0..300u64 {
        let mut random = Random(seed);
        let mut s = Script::new(false);
        let mine = s.qp();
        let ring = CommandRing::new(8).unwrap();
        let words = memory(ring.bytes());
        let words = words.as_slice();
        let mut number = 0;
        for _ in 0..40 {
            for word in words {
                word.store(
                    u64::from(random.next()) << 32 | u64::from(random.next()),
                    Ordering::Relaxed,
                );
            }
            let posted = 1 + random.next() % 4;
            for ahead in 0..posted {
                if random.next() % 8 > 0 {
                    ring.put(words, number + ahead, &nearly(&mut random, mine), &[3; 20]);
                }
            }
            ring.ring(words, number + posted);
            for _ in 0..posted {
                let taken = ring.take(words, number).unwrap().unwrap();
                let answer =
                    s.engine
                        .execute(s.now, &taken.command, taken.private_data(), &mut s.card);
                ring.put_answer(words, number, answer);
                let status = ring.answer(words, number).unwrap().status();
                let opcode = taken.command.opcode();
                let malformed = status == Ok(CommandStatus::Malformed);
                assert!(status.is_ok());
                assert!(malformed || opcode.is_ok(), "{:?}", taken.command);
                done += u32::from(status == Ok(CommandStatus::Done));
                number += 1;
            }
            s.work();
        }
        ring.ring(words, number + 9);
        assert!(ring.take(words, number).unwrap().is_err());
        // The card and the engine still work for others.
        let pd = s.engine.alloc_pd();
        let stag = s
            .engine
            .register(pd, 0, card::MEMORY, 64, Access::NONE, &mut s.card);
        assert!(matches!(stag, Ok(_) | Err(Error::NoStags)));
        s.wait(2000 * MS);
    }
    assert!(done > 3000, "enough of them made sense: {done}");
}

/// A command of any kind whose numbers may be somebody's.
fn nearly(random: &mut Random, qp: QpId) -> Command {
    let opcodes = CommandOpcode::ALL;
    let opcode = opcodes[random.next() as usize % opcodes.len()] as u8;
    let small = |random: &mut Random| random.next() % 6;
    Command {
        opcode,
        flags: random.next() as u8,
        access: random.next() as u8 & 31,
        rtr: small(random) as u8,
        conn: u64::from(small(random)) | u64::from(small(random)) << 16,
        qp: match small(random) {
            0 => random.next(),
            1..=3 => qp.number(),
            n => n | small(random) << 16,
        },
        pd: small(random),
        stag: small(random) << 8 | random.next() & 0xff,
        backlog: random.next(),
        base_to: u64::from(random.next()) << 32,
        iova: card::MEMORY,
        region_length: random.next().into(),
        send_depth: small(random) * 10,
        recv_depth: small(random) * 10,
        remote_ip: [PEER_IP, [0; 4], [255; 4]][random.next() as usize % 3],
        remote_port: small(random) as u16,
        port: small(random) as u16,
        ird: random.next() as u16 & 0x4fff,
        ord: small(random) as u16,
        max_sge: small(random) as u8,
        revision: small(random) as u8 % 3,
        state: small(random) as u8,
        next_hop: [[2, 0, 0, 0, 0, 9], [0; 6], [255; 6]][random.next() as usize % 3],
        mtu: random.next() as u16,
        ..Command::default()
    }
}

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
