//! Two engines share a card, each by a port of its own (`docs/card.md`, Ports): nothing of one is the other's.
#![allow(missing_docs)]

use crate::bench;

use std::collections::BTreeSet;

use bench::card::MEMORY;
use bench::script::*;
use weft_engine::*;
use weft_layout::FlowRxRow;
use weft_wire::tcp::{flag, Options};

const FLOWS: u16 = 64;
const STAGS: u32 = 256;

fn engine(split: ResourceSplit) -> Script {
    Script::with(false, &|c| {
        c.split = split;
        c.num_flows = FLOWS;
        c.num_stags = STAGS;
        c.max_connections = None;
    })
}

/// Registers as much as goes: the indices.
fn regions(s: &mut Script) -> BTreeSet<u32> {
    let mut had = BTreeSet::new();
    let more = |s: &mut Script| {
        let (access, card) = (Access::REMOTE_READ, &mut s.card);
        s.engine.register(s.pd, 0, MEMORY, 64, access, card)
    };
    loop {
        match more(s) {
            Ok(stag) => assert!(had.insert(stag >> 8), "{stag:#x} twice"),
            Err(why) => {
                assert_eq!(why, Error::NoStags);
                return had;
            }
        }
    }
}

#[test]
fn regions_and_domains_are_each_one_s_own() {
    let [mut first, mut second] = [ResourceSplit::First, ResourceSplit::Second].map(engine);
    let (one, other) = (regions(&mut first), regions(&mut second));
    assert!(one.is_disjoint(&other));
    assert_eq!(one.len() + other.len(), STAGS as usize - 1);
    assert_eq!(other.len(), STAGS as usize / 4);
    // The rows of one's regions name a domain that no stream of the other one is in.
    let domain = |s: &Script, index: u32| s.card.stag_row(index << 8).pd;
    let domains = |s: &Script, of: &BTreeSet<u32>| -> BTreeSet<u32> {
        of.iter().map(|index| domain(s, *index)).collect()
    };
    assert!(domains(&first, &one).is_disjoint(&domains(&second, &other)));
    // A domain that is freed and taken again keeps to them.
    for s in [&mut first, &mut second] {
        let pd = s.engine.alloc_pd();
        s.engine.dealloc_pd(pd).unwrap();
        assert_eq!(s.engine.alloc_pd(), pd);
    }
}

#[test]
fn ports_that_nobody_chose_are_each_one_s_own() {
    for share in [ResourceSplit::First, ResourceSplit::Second] {
        let mut s = engine(share);
        let chosen = s.engine.listen(0, 1).unwrap();
        assert!(share.ports().contains(&chosen), "{share:?}: {chosen}");
        s.hello(PEER_MAC);
        for _ in 0..20 {
            s.peer_port += 1;
            let qp = s.qp();
            let remote = Endpoint {
                ip: PEER_IP,
                port: s.peer_port,
            };
            let params = ConnectParams {
                remote,
                ..Default::default()
            };
            s.engine.connect(s.now, qp, &params, &mut s.card).unwrap();
            s.card.run_jobs();
            let frame = s.card.out.pop().unwrap();
            let port = u16::from_be_bytes([frame[34], frame[35]]);
            assert!(share.ports().contains(&port), "{share:?}: {port}");
        }
    }
}

/// The card is told of the port whenever it is told of a flow, also when it is to do nothing for it.
#[test]
fn each_row_of_a_flow_says_whose_it_is() {
    for (share, port) in [
        (ResourceSplit::Whole, 0),
        (ResourceSplit::First, 0),
        (ResourceSplit::Second, FlowRxRow::PORT),
    ] {
        let mut s = engine(share);
        let qp = s.qp();
        let flow = qp.flow();
        assert!(share.flows(FLOWS).contains(&flow), "{share:?}: flow {flow}");
        let accept = AcceptParams::default();
        let conn = s.accepted(qp, RtrKinds::READ, &accept);
        assert_eq!(s.card.rx_row(flow).flags & FlowRxRow::PORT, port);
        // It is taken away when the connection ends.
        s.engine.abort(s.now, conn, &mut s.card).unwrap();
        s.work();
        assert_eq!(s.card.rx_row(flow).flags, port, "{share:?}");
    }
}

/// A SYN that the first port's owner gave is answered as one that came by the card.
#[test]
fn a_frame_that_was_given_is_taken() {
    let mut s = engine(ResourceSplit::Second);
    s.engine.listen(s.port, 4).unwrap();
    s.auto_ack = false;
    let syn = s.frame(flag::SYN, s.seq, Options::default(), &[]);
    s.engine.on_given_frame(s.now, &syn, &mut s.card);
    s.work();
    let answers = s.sent.iter().map(|sent| sent.flags);
    assert_eq!(answers.collect::<Vec<_>>(), [flag::SYN | flag::ACK]);
}
