//! What each way of beginning costs, counted on the wire and at both ends: `docs/peer2peer.md` quotes the table (`UPDATE_PEER_TO_PEER=1` renews
//! the page). And that none of them takes a place which the program was promised.

use weft_hostdrv::cm::*;
use weft_hostdrv::verbs::*;
use weft_hostdrv::Rung;
use weft_sim::fabric::{Fabric, FabricConfig};
use weft_sim::transport::lock;
use weft_tests::bench::Bench;
use weft_tests::ends::{completion, next_event, End};
use weft_tests::{left_out_on_card, rungs};
use weft_watchdog::Watchdog;

const SECOND: u64 = 1_000_000_000;
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/peer2peer.md");
const MARKS: [&str; 2] = ["<!-- ways -->\n", "<!-- end of ways -->"];

/// The RTR, or `None`: without peer-to-peer, so that the client's program has to send something first.
const WAYS: [(&str, Option<RtrKinds>); 5] = [
    ("none: the client sends first", None),
    ("Send", Some(RtrKinds::SEND)),
    ("Write", Some(RtrKinds::WRITE)),
    ("Read", Some(RtrKinds::READ)),
    ("frame of 2007", Some(RtrKinds::FRAME)),
];

/// What was counted.
#[derive(Debug, Default, PartialEq, Eq)]
struct Cost {
    /// Frames with payload, and bytes of TCP payload in them, of client and server, behind the MPA reply and before the server's first message.
    client: (usize, usize),
    server: (usize, usize),
    /// Acknowledgments alone, of both.
    acknowledgments: usize,
    /// Work requests, receives, completions that the programs spent on it.
    sends: usize,
    receives: usize,
    completions: usize,
    /// As agreed at the client and at the server: IRD and ORD.
    agreed: [(u16, u16); 2],
    /// From `connect` to the client's receive of the server's first message, in nanoseconds.
    first_byte: u64,
}

/// TCP payload of a frame; `None`: it has no TCP.
fn payload(frame: &[u8]) -> Option<&[u8]> {
    if frame[12..14] != [8, 0] || frame[23] != 6 {
        return None;
    }
    let total = usize::from(u16::from_be_bytes([frame[16], frame[17]]));
    frame.get(14 + 20 + usize::from(frame[46] >> 4) * 4..14 + total)
}

fn cost(rtr: Option<RtrKinds>, reads: u16) -> Cost {
    let fabric = Fabric::new(&FabricConfig {
        seed: 7,
        rungs: rungs().to_vec(),
        ..FabricConfig::default()
    });
    let fabric = fabric.expect("two cards");
    lock(fabric.world()).link(0).watch();
    let bench = Bench::from(fabric);
    let (a, b) = (End::new(bench.device(0)), End::new(bench.device(1)));
    let _listener = b.listen(&bench);
    let param = ConnParam {
        peer_to_peer: Some(rtr.is_some()),
        rtr,
        responder_resources: reads,
        initiator_depth: reads,
        ..ConnParam::default()
    };
    let start = bench.device(0).now();
    let client = a.client(&bench, &param);
    let qp = client.qp().expect("has one");
    qp.post_recv(RecvWr::new(1).sge(a.mr.sge(0, 64)))
        .expect("room");
    let request = next_event(&bench, &b.channel, CmEventType::ConnectRequest);
    let init = QpInit::new(&b.cq);
    let server = request.id.create_qp(&b.pd, &init).expect("a queue pair");
    if rtr.is_none() {
        server
            .post_recv(RecvWr::new(3).sge(b.mr.sge(0, 1)))
            .expect("room");
    }
    let accept = ConnParam {
        peer_to_peer: None,
        ..param
    };
    request.id.accept(&accept).expect("possible");
    // At once: it goes when the client's first message has arrived.
    server
        .post_send(SendWr::send(2).sge(b.mr.sge(0, 64)).signaled())
        .expect("room");
    let up = next_event(&bench, &a.channel, CmEventType::Established);
    let mut cost = Cost::default();
    if rtr.is_none() {
        qp.post_send(SendWr::send(4).signaled()).expect("room");
        (cost.sends, cost.receives) = (1, 1);
    }
    let mut first_byte = None;
    let mut counted = [0; 2];
    let both = bench.run_until("the first message", SECOND, || {
        for (end, count) in [&a, &b].iter().zip(&mut counted) {
            while let Some(wc) = end.cq.poll_one().expect("works") {
                assert_eq!(wc.status, WcStatus::Success);
                *count += 1;
                if wc.wr_id == 1 {
                    first_byte = Some(bench.device(0).now());
                }
            }
        }
        let wanted = [1 + cost.sends, 1 + cost.receives];
        (counted == wanted).then_some(())
    });
    both.expect("it arrives");
    // Nothing comes behind.
    let fabric = bench.fabric().expect("it is one");
    fabric.run_for(SECOND / 10).expect("works");
    for end in [&a, &b] {
        assert_eq!(end.cq.poll_one(), Ok(None));
    }
    cost.completions = counted[0] + counted[1] - 2;
    cost.first_byte = first_byte.expect("it came") - start;
    let agreed = |event: CmEvent| {
        let agreed = event.agreed.expect("agreed");
        (agreed.ird, agreed.ord)
    };
    let accepted = next_event(&bench, &b.channel, CmEventType::Established);
    cost.agreed = [agreed(up), agreed(accepted)];
    let seen = lock(fabric.world()).link(0).take_seen();
    let replied = |frame: &[u8]| {
        let payload = payload(frame).unwrap_or_default();
        payload.starts_with(b"MPA ID Rep Frame")
    };
    let mut behind = seen.iter().skip_while(|seen| !replied(&seen.frame));
    behind.next().expect("a reply");
    for seen in behind {
        let Some(payload) = payload(&seen.frame) else {
            continue;
        };
        // The server's first message: what went before is the cost.
        let is_message = seen.from == 1 && payload.len() > 64;
        if is_message {
            break;
        }
        match (payload.len(), seen.from) {
            (0, _) => cost.acknowledgments += 1,
            (bytes, from) => {
                let sum = match from {
                    0 => &mut cost.client,
                    _ => &mut cost.server,
                };
                *sum = (sum.0 + 1, sum.1 + bytes);
            }
        }
    }
    cost
}

fn table() -> String {
    let mut table = String::from(
        "| the client's first message | client's frames, bytes | server's | ACKs alone | work requests, receives | completions | IRD/ORD at the client, at the server | with 0/0 asked for | to the server's first byte, µs |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    for (name, rtr) in WAYS {
        let (usual, none) = (cost(rtr, 4), cost(rtr, 0));
        let pair = |[a, b]: [(u16, u16); 2]| format!("{}/{}, {}/{}", a.0, a.1, b.0, b.1);
        table += &format!(
            "| {name} | {}, {} | {}, {} | {} | {}, {} | {} | {} | {} | {:.2} |\n",
            usual.client.0,
            usual.client.1,
            usual.server.0,
            usual.server.1,
            usual.acknowledgments,
            usual.sends,
            usual.receives,
            usual.completions,
            pair(usual.agreed),
            pair(none.agreed),
            usual.first_byte as f64 / 1000.0
        );
    }
    table
}

#[test]
fn the_page_says_what_each_way_costs() {
    if left_out_on_card(
        "the_page_says_what_each_way_costs",
        "the page is of models at placement",
    ) {
        return;
    }
    let _limit = Watchdog::usual("seed 7");
    let table = table();
    if rungs() != [Rung::default(); 2] {
        // The page is of the usual rung. At others it goes as well, in other times.
        return;
    }
    let page = std::fs::read_to_string(PAGE).expect("the page");
    let from = page.find(MARKS[0]).expect("the mark") + MARKS[0].len();
    let to = page.find(MARKS[1]).expect("the other mark");
    // Environment (tests): `UPDATE_PEER_TO_PEER`: `peer_to_peer_page`: `1` writes its table into docs/peer2peer.md. Without it: the page is
    // compared.
    if std::env::var_os("UPDATE_PEER_TO_PEER").is_some() {
        let page = format!("{}{table}{}", &page[..from], &page[to..]);
        std::fs::write(PAGE, page).expect("writable");
        return;
    }
    assert!(
        page[from..to] == table,
        "docs/peer2peer.md is stale: UPDATE_PEER_TO_PEER=1 cargo test -p weft-tests --test stack peer_to_peer_page\n{table}"
    );
}

/// A send queue that is full before the connection stands, and completion queues with exactly the places that the queues need: all work is
/// done, and each place is the program's.
#[test]
fn no_place_is_lost_to_the_rtr() {
    if left_out_on_card(
        "no_place_is_lost_to_the_rtr",
        "the page is of models at placement",
    ) {
        return;
    }
    const DEPTH: u32 = 4;
    let _limit = Watchdog::usual("seeds 50 to 52");
    for (seed, kind) in (50..).zip([RtrKinds::READ, RtrKinds::WRITE, RtrKinds::SEND]) {
        let fabric = Fabric::new(&FabricConfig {
            seed,
            rungs: rungs().to_vec(),
            ..FabricConfig::default()
        });
        let bench = Bench::from(fabric.expect("two cards"));
        let (a, b) = (End::new(bench.device(0)), End::new(bench.device(1)));
        let _listener = b.listen(&bench);
        // Sends and receives of one queue pair, and not one place more.
        let exact = |end: &End| {
            let cq = end.pd.device().create_cq(2 * DEPTH as usize, None);
            let cq = cq.expect("a queue");
            let mut init = QpInit::new(&cq);
            init.cap.max_send_wr = DEPTH;
            init.cap.max_recv_wr = DEPTH;
            (cq, init)
        };
        let ((a_cq, a_init), (b_cq, b_init)) = (exact(&a), exact(&b));
        let param = ConnParam {
            peer_to_peer: Some(true),
            rtr: Some(kind),
            ..ConnParam::default()
        };
        let client = a.client_with(&bench, &a_init, &param);
        let from = client.qp().expect("has one");
        let fill = |qp: &Qp, end: &End| {
            for n in 0..u64::from(DEPTH) {
                qp.post_recv(RecvWr::new(100 + n).sge(end.mr.sge(1000, 64)))
                    .expect("room");
                qp.post_send(SendWr::send(n).sge(end.mr.sge(0, 64)).signaled())
                    .expect("room");
            }
            let more = qp.post_send(SendWr::send(9).sge(end.mr.sge(0, 64)).signaled());
            assert_eq!(more, Err(VerbsError::SendQueueFull { depth: DEPTH }));
            let more = qp.post_recv(RecvWr::new(9).sge(end.mr.sge(0, 64)));
            assert_eq!(more, Err(VerbsError::RecvQueueFull { depth: DEPTH }));
        };
        // Before the request is even on the wire.
        fill(&from, &a);
        let request = next_event(&bench, &b.channel, CmEventType::ConnectRequest);
        let to = request.id.create_qp(&b.pd, &b_init).expect("a queue pair");
        request.id.accept(&param).expect("possible");
        fill(&to, &b);
        let up = next_event(&bench, &a.channel, CmEventType::Established);
        assert_eq!(up.agreed.and_then(|agreed| agreed.rtr), Some(kind));
        next_event(&bench, &b.channel, CmEventType::Established);
        for cq in [&a_cq, &b_cq] {
            let mut done: Vec<_> = (0..2 * DEPTH)
                .map(|_| {
                    let wc = completion(&bench, cq);
                    (wc.wr_id, wc.status)
                })
                .collect();
            done.sort_by_key(|(id, _)| *id);
            let all = (0..u64::from(DEPTH)).chain(100..100 + u64::from(DEPTH));
            let all: Vec<_> = all.map(|id| (id, WcStatus::Success)).collect();
            assert_eq!(done, all, "{kind:?}");
            assert_eq!(cq.poll_one(), Ok(None), "{kind:?}");
        }
    }
}
