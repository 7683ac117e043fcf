//! A port ten times slower than the card, with a short queue that marks (RFC 3168) and then drops: what a stream makes of it
//! with marks and without. Link, card and engine count for themselves; the counts have to agree.

use weft_hostdrv::cm::ConnParam;
use weft_hostdrv::verbs::SendWr;
use weft_hostdrv::{Congestion, Ecn, EngineStats};
use weft_sim::fabric::{Fabric, FabricConfig};
use weft_sim::link::{LinkConfig, Queue, Waits};
use weft_sim::pair::Pair;
use weft_sim::transport::lock;
use weft_tests::ends::pattern;
use weft_tests::{cards, left_out_on_card, rungs};

/// Bytes of the stream, in Writes of so many.
const BYTES: usize = 1 << 20;
const EACH: usize = 1 << 16;

struct Streamed {
    port: Waits,
    sender: EngineStats,
    receiver: EngineStats,
}

/// Streams the bytes, and compares all of them.
fn stream(congestion: Congestion, ecn: Ecn) -> Streamed {
    let config = FabricConfig {
        cards: cards(),
        link: LinkConfig {
            gbps: 10,
            delay_ns: 20_000,
            queue: Queue {
                mark_ns: Some(10_000),
                drop_ns: Some(100_000),
            },
            ..LinkConfig::default()
        },
        congestion,
        ecn,
        rungs: rungs().to_vec(),
        ..FabricConfig::default()
    };
    let fabric = Fabric::new(&config).expect("two cards come up");
    let (way, source) = (ConnParam::default(), pattern(BYTES, 7));
    let mut pair = Pair::connect(&fabric, 4000, &way, &way, &source, BYTES).expect("connects");
    pair.established().expect("established");
    let [a, b] = &pair.ends;
    for at in (0..BYTES).step_by(EACH) {
        let to = b.target.remote().offset(at as u64);
        let write = SendWr::write(at as u64, to).sge(a.source.sge(at as u64, EACH as u32));
        a.qp.post_send(write.signaled()).expect("room");
    }
    for _ in 0..BYTES / EACH {
        let next = || a.cq.poll_one().transpose();
        let done = fabric.run_until("a completion", 10_000_000_000, next);
        done.expect("in time").expect("a completion");
    }
    let mut came = vec![0; BYTES];
    b.target.read(0, &mut came).expect("inside");
    assert!(came == source, "other bytes arrived");
    let port = lock(fabric.world()).link(0).take_waits(0);
    Streamed {
        port,
        sender: fabric.device(0).engine_stats(),
        receiver: fabric.device(1).engine_stats(),
    }
}

#[test]
fn who_does_not_ask_is_not_marked_and_fills_the_queue() {
    if left_out_on_card(
        "who_does_not_ask_is_not_marked_and_fills_the_queue",
        "the engine there is slower than the port",
    ) {
        return;
    }
    for congestion in [Congestion::Cubic, Congestion::Dctcp] {
        let Streamed {
            port,
            sender,
            receiver,
        } = stream(congestion, Ecn::Never);
        assert_eq!(
            (port.marked, receiver.marked, sender.ecn_reductions),
            (0, 0, 0)
        );
        assert!(
            port.dropped > 0 && sender.retransmits >= port.dropped,
            "{port:?} {sender:?}"
        );
    }
}

#[test]
fn who_asks_is_marked_and_loses_nothing() {
    if left_out_on_card(
        "who_asks_is_marked_and_loses_nothing",
        "the engine there is slower than the port",
    ) {
        return;
    }
    // DCTCP asks by itself (RFC 8257 §3).
    for (congestion, ecn) in [
        (Congestion::Reno, Ecn::Ask),
        (Congestion::Cubic, Ecn::Ask),
        (Congestion::Dctcp, Ecn::WhenAsked),
    ] {
        let Streamed {
            port,
            sender,
            receiver,
        } = stream(congestion, ecn);
        assert!(port.marked > 0 && port.dropped == 0, "{port:?}");
        assert_eq!(receiver.marked, port.marked, "each mark is seen");
        assert!(sender.ecn_reductions > 0, "{sender:?}");
        assert_eq!(sender.retransmits, 0, "{sender:?}");
    }
}
