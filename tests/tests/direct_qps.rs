//! Queue pairs that know each other's names from elsewhere: INIT, RTR, RTS, without connection management.

use weft_hostdrv::cm::*;
use weft_hostdrv::verbs::*;
use weft_sim::fabric::ip;
use weft_tests::bench::Bench;
use weft_tests::ends::{completion, no_faults, pattern, End, LIMIT};
use weft_tests::fewer_on_card;
use weft_tests::watched::watched;
use weft_watchdog::Watchdog;

/// Both devices' ends, and what makes direct queue pairs of them.
struct Sides {
    ends: [End; 2],
    direct: [Direct; 2],
    bench: Bench,
}

impl Sides {
    fn new(seed: u64) -> Self {
        let bench = watched(seed);
        Self {
            ends: [0, 1].map(|n| End::new(bench.device(n))),
            direct: [0, 1].map(|n| Direct::new(bench.device(n))),
            bench,
        }
    }

    fn qp(&self, n: usize) -> DirectQp {
        let end = &self.ends[n];
        let made = self.direct[n].create_qp(&end.pd, &QpInit::new(&end.cq));
        made.expect("a queue pair")
    }

    /// Lets both devices work until both stand.
    fn both_stand(&self, a: &DirectQp, b: &DirectQp) {
        let stand = || {
            let stands = [a, b].map(|end| end.try_rts().expect("it comes about"));
            (stands == [Some(()); 2]).then_some(())
        };
        let stands = self.bench.run_until("RTS", LIMIT, stand);
        stands.expect("in time");
    }

    /// A while, in the end of which both look, and what they do then goes its way.
    fn pass(&self, time: u64) {
        let fabric = self.bench.fabric().expect("simulated");
        for time in [time, SECOND / 1000, SECOND / 1000] {
            fabric.run_for(time).expect("time passes");
            for direct in &self.direct {
                direct.poll().expect("it works");
            }
        }
    }

    /// A Send each way, and a Write; the second speaks first.
    fn move_data(&self, a: &DirectQp, b: &DirectQp) {
        let [x, y] = &self.ends;
        let source = pattern(9000, 5);
        x.mr.write(0, &source).expect("inside");
        for (to, at) in [(a, x), (b, y)] {
            let recv = RecvWr::new(1).sge(at.mr.sge(100_000, 64));
            to.qp().post_recv(recv).expect("room");
        }
        for (from, from_end, to_end) in [(b, y, x), (a, x, y)] {
            let send = SendWr::send(2).sge(from_end.mr.sge(0, 64)).signaled();
            from.qp().post_send(send).expect("room");
            assert_eq!(completion(&self.bench, &to_end.cq).wr_id, 1);
            assert_eq!(completion(&self.bench, &from_end.cq).wr_id, 2);
        }
        let write = SendWr::write(3, y.mr.remote()).sge(x.mr.sge(0, 9000));
        a.qp().post_send(write.signaled()).expect("room");
        assert_eq!(completion(&self.bench, &x.cq).status, WcStatus::Success);
        assert_eq!(y.mr.to_vec(0, 9000).expect("inside"), source);
        no_faults(&self.bench);
    }
}

const SECOND: u64 = 1_000_000_000;

/// Whoever is in RTR first, and however long before the other: they find each other. Names go as bytes, as by mail.
#[test]
fn in_any_order() {
    let _limit = Watchdog::usual("seeds 1 to 4");
    for (seed, first, pause) in [(1, 0, 0), (2, 1, 0), (3, 0, 5 * SECOND), (4, 1, 5 * SECOND)] {
        let sides = Sides::new(seed);
        let ends = [0, 1].map(|n| sides.qp(n));
        let names = [0, 1].map(|n: usize| DirectName::from_bytes(&ends[n].name().to_bytes()));
        let param = ConnParam {
            responder_resources: 3,
            initiator_depth: 2,
            ..ConnParam::default()
        };
        for n in [first, 1 - first] {
            assert_eq!(ends[n].state(), DirectState::Init);
            ends[n]
                .modify_to_rtr(names[1 - n], &param)
                .expect("possible");
            assert_eq!(ends[n].state(), DirectState::Rtr);
            sides.pass(pause.max(1000));
        }
        sides.both_stand(&ends[0], &ends[1]);
        sides.move_data(&ends[0], &ends[1]);
        // The ports are the numbers'.
        for n in 0..2 {
            let query = ends[n].qp().query().expect("answers");
            let connection = query.connection.expect("has one");
            assert_eq!(connection.local.port, names[n].port());
            assert_eq!(connection.remote.port, names[1 - n].port());
            let agreed = connection.agreed.expect("agreed");
            assert_eq!((agreed.ird, agreed.ord), (3, 2));
        }
        ends[1].disconnect().expect("possible");
        let over = DirectState::Error(CmEventType::Disconnected, 0);
        let ended = sides.bench.run_until("the end", LIMIT, || {
            for direct in &sides.direct {
                direct.poll().expect("it works");
            }
            let all = ends
                .iter()
                .all(|end| matches!(end.state(), DirectState::Error(..)));
            all.then_some(())
        });
        ended.expect("it comes");
        assert_eq!(ends[1].state(), over);
    }
}

/// The end that connects gives up when the start-up takes longer than MPA's time, ten seconds.
#[test]
fn a_peer_that_comes_too_late() {
    let _limit = Watchdog::usual("seed 8");
    let sides = Sides::new(8);
    let (a, b) = (sides.qp(0), sides.qp(1));
    a.modify_to_rtr(b.name(), &ConnParam::default())
        .expect("possible");
    sides.pass(9 * SECOND);
    assert_eq!(a.state(), DirectState::Rtr);
    sides.pass(2 * SECOND);
    let reason = DirectState::Error(CmEventType::Unreachable, -110);
    assert_eq!(a.state(), reason);
    b.modify_to_rtr(a.name(), &ConnParam::default())
        .expect("possible");
    sides.pass(SECOND);
    assert_eq!(b.state(), DirectState::Rtr, "nobody comes");
    assert_eq!(b.try_rts(), Ok(None));
}

/// Many pairs at once, crosswise, made in the other order on the other side.
#[test]
fn many_pairs() {
    let _limit = Watchdog::usual("seed 5");
    let sides = Sides::new(5);
    // An engine on the card has memory for 1024 work requests.
    let count = fewer_on_card(40, 8);
    let a: Vec<_> = (0..count).map(|_| sides.qp(0)).collect();
    let b: Vec<_> = (0..count).map(|_| sides.qp(1)).collect();
    let pairs: Vec<_> = a.iter().zip(b.iter().rev()).collect();
    for (x, y) in &pairs {
        x.modify_to_rtr(y.name(), &ConnParam::default())
            .expect("possible");
    }
    for (x, y) in pairs.iter().rev() {
        y.modify_to_rtr(x.name(), &ConnParam::default())
            .expect("possible");
    }
    for (x, y) in &pairs {
        sides.both_stand(x, y);
    }
    sides.move_data(pairs[7].0, pairs[7].1);
    sides.move_data(pairs[count - 1].0, pairs[count - 1].1);
}

/// Who is not awaited is not let in; and who awaits somebody else goes on waiting.
#[test]
fn a_stranger_is_not_let_in() {
    let _limit = Watchdog::usual("seed 6");
    let sides = Sides::new(6);
    let (wanted, stranger, server) = (sides.qp(0), sides.qp(0), sides.qp(1));
    server
        .modify_to_rtr(wanted.name(), &ConnParam::default())
        .expect("possible");
    stranger
        .modify_to_rtr(server.name(), &ConnParam::default())
        .expect("possible");
    sides.pass(SECOND / 10);
    assert_eq!(server.state(), DirectState::Rtr);
    assert_eq!(stranger.state(), DirectState::Rtr, "it waits as well");
    wanted
        .modify_to_rtr(server.name(), &ConnParam::default())
        .expect("possible");
    sides.both_stand(&wanted, &server);
    sides.move_data(&wanted, &server);
    // A program that connects to the port, without a name.
    let x = &sides.ends[0];
    let id = x.channel.create_id();
    id.resolve_addr(std::net::SocketAddrV4::new(ip(1), server.name().port()))
        .expect("possible");
    id.resolve_route().expect("possible");
    id.create_qp(&x.pd, &QpInit::new(&x.cq)).expect("one");
    id.connect(&ConnParam::with_private_data(b"let me in"))
        .expect("possible");
    let rejected = sides.bench.run_until("a no", LIMIT, || {
        sides.direct[1].poll().expect("it works");
        let event = x.channel.try_get_event().expect("works")?;
        (event.event == CmEventType::Rejected).then_some(())
    });
    rejected.expect("it is rejected");
    // Its server goes: the stranger hears of it.
    drop(server);
    let end = sides.bench.run_until("the end", LIMIT, || {
        for direct in &sides.direct {
            direct.poll().expect("it works");
        }
        matches!(stranger.state(), DirectState::Error(..)).then_some(())
    });
    end.expect("it comes");
    assert!(matches!(
        stranger.try_rts(),
        Err(DirectError::WrongState { .. })
    ));
}

#[test]
fn steps_that_are_not_possible() {
    let sides = Sides::new(7);
    let (a, b, other) = (sides.qp(0), sides.qp(1), sides.qp(0));
    let param = ConnParam::default();
    let not_yet = a.try_rts().expect_err("it is in INIT");
    assert!(
        matches!(not_yet, DirectError::WrongState { .. }),
        "{not_yet}"
    );
    assert!(matches!(
        a.disconnect(),
        Err(DirectError::WrongState { .. })
    ));
    let own = a.modify_to_rtr(other.name(), &param);
    assert_eq!(own, Err(DirectError::SameDevice(other.name())));
    let gid = Gid::of_mac([2; 6]);
    let nobody = DirectName { gid, qp_num: 1 };
    let unmapped = a.modify_to_rtr(nobody, &param);
    let reason = CmError::Native(NativeError::Unmapped(gid));
    assert_eq!(unmapped, Err(DirectError::Cm(reason)));
    a.modify_to_rtr(b.name(), &param).expect("possible");
    let twice = a.modify_to_rtr(b.name(), &param);
    assert!(matches!(twice, Err(DirectError::WrongState { .. })));
    // A domain of the other device.
    let foreign = sides.direct[0].create_qp(&sides.ends[1].pd, &QpInit::new(&sides.ends[1].cq));
    assert!(matches!(
        foreign.map(|end| end.name()),
        Err(DirectError::Cm(CmError::WrongDevice { .. }))
    ));
}
