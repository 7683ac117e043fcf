//! Who may speak first (RFC 6581): with peer-to-peer either side, because the initiator's RTR comes before everything;
//! without it the client has to.

use weft_hostdrv::cm::ConnParam;
use weft_hostdrv::verbs::{RecvWr, SendWr, WcOpcode, WcStatus};
use weft_sim::fabric::{Fabric, FabricConfig};
use weft_sim::pair::Pair;
use weft_sim::transport::lock;
use weft_tests::{cards, rungs};
use weft_wire::mpa::RtrKinds;

const PORT: u16 = 7471;

fn fabric(seed: u64) -> Fabric {
    let fabric = Fabric::new(&FabricConfig {
        seed,
        cards: cards(),
        rungs: rungs().to_vec(),
        ..FabricConfig::default()
    })
    .expect("two cards");
    lock(fabric.world()).link(0).watch();
    fabric
}

/// The FPDUs on the wire so far, one per segment: who sent it, RDMAP opcode, TCP payload length.
fn fpdus(fabric: &Fabric) -> Vec<(usize, u8, usize)> {
    let seen = lock(fabric.world()).link(0).take_seen();
    let mut list = Vec::new();
    for frame in &seen {
        let f = &frame.frame;
        if f[12..14] != [8, 0] || f[23] != 6 {
            continue;
        }
        let total = usize::from(u16::from_be_bytes([f[16], f[17]]));
        let payload = &f[14 + 20 + usize::from(f[46] >> 4) * 4..14 + total];
        if !payload.is_empty() && !payload.starts_with(b"MPA ID") {
            list.push((frame.from, payload[3] & 15, payload.len()));
        }
    }
    list
}

fn param(peer_to_peer: bool, rtr: RtrKinds) -> ConnParam {
    ConnParam {
        peer_to_peer: Some(peer_to_peer),
        rtr: Some(rtr),
        ..ConnParam::default()
    }
}

#[test]
fn the_server_sends_first() {
    let kinds = [
        (RtrKinds::READ, 1),
        (RtrKinds::WRITE, 0),
        (RtrKinds::SEND, 3),
    ];
    for (seed, (kind, opcode)) in (20..).zip(kinds) {
        let fabric = fabric(seed);
        let accept = ConnParam {
            peer_to_peer: None,
            ..param(true, kind)
        };
        let mut pair = Pair::connect(
            &fabric,
            PORT,
            &param(true, kind),
            &accept,
            b"hello from the server",
            64,
        )
        .expect("connect");
        let [client, server] = &pair.ends;
        client
            .qp
            .post_recv(RecvWr::new(1).sge(client.target.sge(0, 64)))
            .expect("receive");
        // Posted at once: it must wait for the RTR, not for the application of the client.
        server
            .qp
            .post_send(SendWr::send(2).sge(server.source.sge(0, 21)).signaled())
            .expect("send");
        let received = pair
            .completion(0, "the client's receive")
            .expect("completion");
        assert_eq!(
            (received.wr_id, received.status, received.byte_len),
            (1, WcStatus::Success, 21),
            "{kind:?}"
        );
        pair.established().expect("the server is established");
        assert_eq!(
            pair.ends[0].target.to_vec(0, 21).expect("read"),
            b"hello from the server"
        );
        let sent = pair.completion(1, "the server's send").expect("completion");
        assert_eq!(sent.opcode, WcOpcode::Send);

        let wire = fpdus(&fabric);
        assert_eq!(
            (wire[0].0, wire[0].1),
            (0, opcode),
            "{kind:?}: the RTR is the first FPDU: {wire:?}"
        );
        assert!(
            wire[1..].iter().all(|f| f.0 == 1),
            "{kind:?}: the client said nothing else: {wire:?}"
        );
        fabric.run_for(100_000_000).expect("run");
        let silent = pair.ends[0].cq.poll_one().expect("poll");
        assert_eq!(silent, None, "{kind:?}: the RTR makes no completion");
    }
}

#[test]
fn the_rtr_takes_no_slot_of_the_send_queue() {
    for (seed, kind) in (30..).zip([RtrKinds::READ, RtrKinds::WRITE, RtrKinds::SEND]) {
        let fabric = fabric(seed);
        let connect = param(true, kind);
        let mut pair =
            Pair::connect(&fabric, PORT, &connect, &connect, &[7; 64], 64).expect("connect");
        let client = &pair.ends[0];
        // As many as the queue holds, at once, while the RTR is on its way.
        let depth = u64::from(client.qp.cap().max_send_wr);
        for n in 0..depth {
            let write =
                SendWr::write(n, pair.ends[1].target.remote()).sge(client.source.sge(0, 64));
            client
                .qp
                .post_send(write.signaled())
                .expect("a slot is free");
        }
        for n in 0..depth {
            let wc = pair.completion(0, "a Write").expect("completion");
            assert_eq!((wc.wr_id, wc.status), (n, WcStatus::Success), "{kind:?}");
        }
        pair.established().expect("established");
    }
}

#[test]
fn without_peer_to_peer_the_server_waits_for_the_client() {
    let fabric = fabric(40);
    let connect = param(false, RtrKinds::READ);
    let mut pair = Pair::connect(&fabric, PORT, &connect, &ConnParam::default(), &[9; 64], 64)
        .expect("connect");
    let [client, server] = &pair.ends;
    client
        .qp
        .post_recv(RecvWr::new(1).sge(client.target.sge(0, 64)))
        .expect("receive");
    server
        .qp
        .post_send(SendWr::send(2).sge(server.source.sge(0, 10)).signaled())
        .expect("send");
    fabric.run_for(50_000_000).expect("run");
    assert_eq!(fpdus(&fabric), [], "nobody has spoken");
    lock(fabric.world()).link(0).watch();
    let first = SendWr::write(3, server.target.remote()).sge(client.source.sge(0, 8));
    client.qp.post_send(first).expect("write");
    let received = pair
        .completion(0, "the client's receive")
        .expect("completion");
    assert_eq!((received.wr_id, received.byte_len), (1, 10));
    pair.established().expect("established");
    let wire = fpdus(&fabric);
    assert_eq!(
        (wire[0].0, wire[0].1),
        (0, 0),
        "the client's Write comes first: {wire:?}"
    );
    assert_eq!(
        (wire[1].0, wire[1].1),
        (1, 3),
        "then the server's Send: {wire:?}"
    );
}
