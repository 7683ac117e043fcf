//! What is counted: completions that nobody takes for a while, and what a refusal must leave as it was.
#![allow(missing_docs)]

use crate::bench;

use bench::script::*;
use bench::*;
use weft_engine::*;
use weft_wire::ddp::DdpHeader;
use weft_wire::rdmap::{control, opcode};

/// The queues are used round and round, and nobody takes a completion in between.
#[test]
fn completions_wait_to_be_taken() {
    const DEPTH: u64 = 16;
    const ROUNDS: u64 = 5;
    let mut s = Script::new(false);
    let qp = s.qp();
    s.accepted(qp, RtrKinds::NONE, &AcceptParams::default());
    let mut recvs = 0;
    let mut sends = 0;
    let mut msn = 0;
    for round in 0..ROUNDS {
        for _ in 0..DEPTH {
            let wr = RecvWr {
                id: 1000 + recvs,
                sges: &[],
            };
            s.engine.post_recv(s.now, qp, &wr, &mut s.card).unwrap();
            recvs += 1;
        }
        let wr = RecvWr { id: 0, sges: &[] };
        let full = s.engine.post_recv(s.now, qp, &wr, &mut s.card);
        assert_eq!(full, Err(Error::QueueFull), "round {round}");
        for _ in 0..DEPTH {
            msn += 1;
            let header = DdpHeader::untagged(true, control(opcode::SEND), 0, 0, msn, 0);
            deliver(&mut s, &message(&header, &[]));
        }
        for _ in 0..DEPTH {
            let wr = SendWr {
                // Every third one is silent.
                signalled: sends % 3 != 0,
                ..send(sends, &[])
            };
            s.engine.post_send(s.now, qp, &wr, &mut s.card).unwrap();
            sends += 1;
        }
        let full = s.engine.post_send(s.now, qp, &send(0, &[]), &mut s.card);
        assert_eq!(full, Err(Error::QueueFull), "round {round}");
        // They go out and are acknowledged.
        s.now += MS;
        deliver(&mut s, &[]);
    }
    let mut found = [Vec::new(), Vec::new()];
    while let Some(completion) = s.engine.poll_completion() {
        assert_eq!(completion.status, Status::Success);
        found[usize::from(completion.opcode == Opcode::Recv)].push(completion.wr_id);
    }
    let signalled: Vec<u64> = (0..sends).filter(|id| id % 3 != 0).collect();
    assert_eq!(found[0], signalled);
    assert_eq!(found[1], (1000..1000 + recvs).collect::<Vec<_>>());
}

/// Data for the engine, and acknowledgments for what it sends, without a poll.
fn deliver(s: &mut Script, octets: &[u8]) {
    use weft_wire::ethernet::EthernetHeader;
    use weft_wire::ipv4::Ipv4Packet;
    use weft_wire::tcp::{flag, Options, TcpSegment};
    if !octets.is_empty() {
        let frame = s.frame(flag::ACK | flag::PSH, s.seq, Options::default(), octets);
        s.seq = s.seq.wrapping_add(octets.len() as u32);
        s.card.receive(&frame);
    }
    for _ in 0..4 {
        while let Some((report, raw)) = s.card.take_report() {
            s.engine
                .on_report(s.now, &report, raw.as_deref(), &mut s.card);
        }
        s.card.run_jobs();
        for frame in std::mem::take(&mut s.card.out) {
            let (_, packet) = EthernetHeader::parse(&frame).unwrap();
            let packet = Ipv4Packet::parse(packet).unwrap();
            let segment =
                TcpSegment::parse(packet.source, packet.destination, packet.payload).unwrap();
            if segment.seq == s.ack {
                s.ack = s.ack.wrapping_add(segment.payload.len() as u32);
            }
        }
        let frame = s.frame(flag::ACK, s.seq, Options::default(), &[]);
        s.card.receive(&frame);
    }
}

/// A call that is refused takes nothing: no place in a queue, no flow, no STag, no member of a domain, no
/// connection, no port.
#[test]
fn a_refusal_takes_nothing() {
    let mut s = Script::new(false);
    let (now, pd) = (s.now, s.pd);
    let (engine, card) = (&mut s.engine, &mut s.card);
    let stag = engine
        .register(pd, 0x1000, card::MEMORY, 100, Access::NONE, card)
        .unwrap();
    let config = QpConfig {
        pd,
        send_depth: 4,
        recv_depth: 4,
        max_sge: 4,
        rung: None,
    };
    // Domains: their members are counted after the checks.
    let other = engine.alloc_pd();
    for _ in 0..20 {
        let wraps = engine.register(other, u64::MAX, 0, 2, Access::NONE, card);
        assert_eq!(wraps, Err(Error::InvalidRegion));
        // The test's card has room for 256 elements.
        let large = QpConfig {
            pd: other,
            recv_depth: 512,
            ..config
        };
        assert_eq!(engine.create_qp(&large, card), Err(Error::NoMemory));
        let none = QpConfig {
            pd: other,
            max_sge: 0,
            rung: None,
            ..config
        };
        assert_eq!(engine.create_qp(&none, card), Err(Error::InvalidQpConfig));
    }
    engine.dealloc_pd(other).unwrap();
    assert_eq!(
        engine.register(other, 0, 0, 1, Access::NONE, card),
        Err(Error::UnknownPd)
    );
    let gone = QpConfig {
        pd: other,
        ..config
    };
    assert_eq!(engine.create_qp(&gone, card), Err(Error::UnknownPd));
    // All 4 flows are there, and no more.
    let qps: Vec<QpId> = (0..4)
        .map(|_| engine.create_qp(&config, card).unwrap())
        .collect();
    for _ in 0..3 {
        assert_eq!(engine.create_qp(&config, card), Err(Error::NoFlows));
    }
    // All 15 STags.
    let stags: Vec<u32> = (0..14)
        .map(|_| engine.register(pd, 0, 0, 1, Access::NONE, card).unwrap())
        .collect();
    for _ in 0..3 {
        let full = engine.register(pd, 0, 0, 1, Access::NONE, card);
        assert_eq!(full, Err(Error::NoStags));
    }
    // The queues' places, and the regions' users.
    let qp = qps[0];
    let bad = [sge(stag, 0, 1), sge(stag, 0, 101)];
    for _ in 0..20 {
        assert!(engine.post_send(now, qp, &send(0, &bad), card).is_err());
        let recv = RecvWr { id: 0, sges: &bad };
        assert!(engine.post_recv(now, qp, &recv, card).is_err());
    }
    for id in 0..4 {
        engine.post_send(now, qp, &send(id, &[]), card).unwrap();
        engine
            .post_recv(now, qp, &RecvWr { id, sges: &[] }, card)
            .unwrap();
    }
    assert_eq!(
        engine.post_send(now, qp, &send(4, &[]), card),
        Err(Error::QueueFull)
    );
    engine.deregister(now, stag, card).unwrap();
    // Connections and ports.
    let nowhere = ConnectParams::default();
    let remote = Endpoint {
        ip: PEER_IP,
        port: 9,
    };
    let good = ConnectParams {
        remote,
        local_port: Some(777),
        ..Default::default()
    };
    for _ in 0..20 {
        let refused = engine.connect(now, qp, &nowhere, card);
        assert_eq!(refused, Err(Error::InvalidAddress));
        let many = ConnectParams { ird: 16383, ..good };
        let refused = engine.connect(now, qp, &many, card);
        assert_eq!(refused, Err(Error::InvalidReadDepth(16383)));
    }
    engine.connect(now, qp, &good, card).unwrap();
    for _ in 0..20 {
        let taken = engine.connect(now, qps[1], &good, card);
        assert_eq!(taken, Err(Error::PortInUse(777)));
        let twice = engine.connect(now, qp, &good, card);
        assert_eq!(twice, Err(Error::WrongQpState));
    }
    assert_eq!(engine.connection_of(qps[1]), None);
    // And all of it comes back.
    for qp in qps {
        engine.destroy_qp(now, qp, card).unwrap();
    }
    for stag in stags {
        engine.deregister(now, stag, card).unwrap();
    }
    engine.dealloc_pd(pd).unwrap();
    engine.check_liveness().unwrap();
}
