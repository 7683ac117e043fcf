//! Ends of connections that something impossible stands in the way of, or that the peer's Terminate brings.
#![allow(missing_docs)]

use crate::bench;

use bench::script::*;
use bench::*;
use weft_engine::*;
use weft_wire::ddp::DdpHeader;
use weft_wire::mpa::RtrKinds;
use weft_wire::terminate::{Terminate, TerminateCode};

/// A Read that was posted before it was known that the peer takes none is refused when it is issued, also behind `disconnect`.
#[test]
fn a_read_that_cannot_be_sent_does_not_hold_up_the_close() {
    for closes in [false, true] {
        let mut b = Bench::new(11);
        let qps = [b.hosts[0].qp(), b.hosts[1].qp()];
        let (s0, _) = b.hosts[0].region(300_000, Access::LOCAL_WRITE | Access::READ_SINK);
        let (s1, _) = b.hosts[1].region(300_000, Access::LOCAL_WRITE | Access::REMOTE_WRITE);
        let long = [sge(s0, 0, 250_000)];
        b.post_send(0, qps[0], &write(1, s1, 0x1000, &long))
            .unwrap();
        let short = [sge(s0, 0, 10)];
        b.post_send(0, qps[0], &read(2, s1, 0x1000, &short))
            .unwrap();
        let params = ConnectParams {
            ord: 0,
            ..Default::default()
        };
        let pair = b.connect_qps(qps, &params, &AcceptParams::default());
        if closes {
            b.call(0, |e, now, c| e.disconnect(now, pair.conns[0], c))
                .unwrap();
        }
        let since = b.now;
        let done = b.completions_of(0, 2, 60_000 * MS);
        let seen: Vec<_> = done.iter().map(|c| (c.wr_id, c.status)).collect();
        let wanted = [(1, Status::Success), (2, Status::RemoteOperation)];
        assert_eq!(seen, wanted, "closes: {closes}");
        assert!(b.now - since < 1_000 * MS, "it waited");
        for n in 0..2 {
            let fatal = b.event_of(n, 1_000 * MS);
            assert!(matches!(fatal, Event::QpFatal { .. }), "{fatal:?}");
            let Event::Disconnected { reason, .. } = b.event_of(n, 1_000 * MS) else {
                panic!();
            };
            assert_eq!(reason, DisconnectReason::Terminated);
        }
    }
}

/// The initiator ends the start-up by a Terminate: the responder's program hears why, and not that the RTR has not come.
#[test]
fn a_terminate_instead_of_the_first_message() {
    for (code, reason) in [
        (
            TerminateCode::MPA_NO_MATCHING_RTR,
            ConnectFailure::NoMatchingRtr,
        ),
        (
            TerminateCode::MPA_INSUFFICIENT_IRD,
            ConnectFailure::InsufficientReads,
        ),
        (TerminateCode::MPA_INVALID_FRAME, ConnectFailure::Closed),
        (TerminateCode::RDMAP_LOCAL, ConnectFailure::Closed),
    ] {
        let mut s = Script::new(false);
        let qp = s.qp();
        let conn = s.accepted(qp, RtrKinds::READ, &AcceptParams::default());
        let mut bytes = [0; 64];
        let terminate = Terminate {
            code,
            ddp: None,
            read_request: None,
            siw_layout: false,
        };
        let length = terminate.write(&mut bytes).unwrap();
        let header = DdpHeader::untagged(true, 0x47, 0, 2, 1, 0);
        s.data(&message(&header, &bytes[..length]));
        s.wait(MS);
        let fatal = Event::QpFatal {
            qp,
            terminate: Some(code),
            received: true,
        };
        let error = Event::ConnectError { conn, reason };
        assert_eq!(s.events, [fatal, error], "{code:?}");
    }
}
