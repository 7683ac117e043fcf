//! XRC by the loop: what an initiator sends goes to the shared receive queue that it names, of whatever protection domain, and to no other domain's.

use weft_hostdrv::cm::*;
use weft_hostdrv::verbs::*;

use super::loopback_host::{members, End, PORT};

const BYTES: usize = 10_000;

/// A shared receive queue of a domain, where it completes, and memory for its receives.
struct Receiver {
    srq: Srq,
    cq: Cq,
    mr: Mr,
}

impl Receiver {
    fn new(pd: &Pd, xrcd: &Xrcd) -> Self {
        let cq = pd.device().create_cq(64, None).expect("a queue");
        let init = SrqInit::default();
        Self {
            srq: pd.create_xrc_srq(xrcd, &cq, &init).expect("a queue"),
            mr: pd.alloc_mr(BYTES, Access::LOCAL_WRITE).expect("a region"),
            cq,
        }
    }

    fn post(&self, wr_id: u64) {
        let sge = self.mr.sge(0, BYTES as u32);
        self.srq
            .post_recv(RecvWr::new(wr_id).sge(sge))
            .expect("room");
    }

    fn got(&self) -> Wc {
        self.cq.wait_one(None).expect("works").expect("no limit")
    }
}

/// An initiator of `a`, connected to a target of `b`.
fn connected(a: &End, b: &End, to: u8, xrcd: &Xrcd) -> (CmId, CmId) {
    let _listener = b.channel.listen(PORT, 8).expect("a port");
    let client = a.asks(to, &QpInit::new(&a.cq).initiator());
    client.connect(&ConnParam::default()).expect("possible");
    let request = b.next(CmEventType::ConnectRequest);
    assert!(request.xrc);
    let made = request.id.create_qp(&b.pd, &xrcd.target());
    made.expect("a target");
    request.id.accept(&ConnParam::default()).expect("possible");
    a.next(CmEventType::Established);
    b.next(CmEventType::Established);
    (client, request.id)
}

fn send(number: u32) -> SendWr<'static> {
    SendWr::send(7).inline(b"by the loop").to_srq(number)
}

#[test]
fn each_send_goes_to_the_queue_that_it_names() {
    let (_host, [one, two]) = members();
    let (a, b) = (End::new(&one), End::new(&two));
    let xrcd = two.alloc_xrcd().expect("a domain");
    let other = two.alloc_pd().expect("a domain");
    // The target's protection domain reaches nothing of the second one's.
    let receivers = [&b.pd, &other].map(|pd| Receiver::new(pd, &xrcd));
    let (client, server) = connected(&a, &b, 2, &xrcd);
    let qp = client.qp().expect("has one");
    let target = server.qp().expect("has one");
    for round in 0..4 {
        let receiver = &receivers[round % 2];
        receiver.post(round as u64);
        let sge = a.mr.sge(0, BYTES as u32);
        a.mr.fill(0, BYTES, round as u8 + 1).expect("inside");
        let wr = SendWr::send(9).sge(sge).to_srq(receiver.srq.srq_num());
        qp.post_send(wr.signaled()).expect("room");
        assert_eq!(a.completion(), (9, WcStatus::Success));
        let wc = receiver.got();
        assert_eq!((wc.wr_id, wc.status), (round as u64, WcStatus::Success));
        assert_eq!((wc.byte_len, wc.qp_num), (BYTES as u32, target.qp_num()));
        let there = receiver.mr.to_vec(0, BYTES).expect("inside");
        assert_eq!(there, vec![round as u8 + 1; BYTES]);
    }
    // Writes are as ever: by the target's protection domain.
    let write = SendWr::write(8, b.mr.remote()).sge(a.mr.sge(0, 100));
    qp.post_send(write.signaled()).expect("room");
    assert_eq!(a.completion(), (8, WcStatus::Success));
    let foreign = receivers[1].mr.remote();
    let write = SendWr::write(8, foreign).sge(a.mr.sge(0, 100));
    qp.post_send(write.signaled()).expect("room");
    assert_eq!(a.completion(), (8, WcStatus::RemoteAccessError));
}

/// What names no queue of the target's domain, or one that is empty, ends the connection with its Terminate.
#[test]
fn a_wrong_number_ends_the_connection() {
    let (_host, [one, two]) = members();
    let (a, b) = (End::new(&one), End::new(&two));
    let [xrcd, foreign] = [(); 2].map(|()| two.alloc_xrcd().expect("a domain"));
    let own = Receiver::new(&b.pd, &xrcd);
    let others = Receiver::new(&b.pd, &foreign);
    others.post(1);
    let usual = b.pd.create_srq(&SrqInit::default()).expect("a queue");
    let numbers = [0, others.srq.srq_num(), usual.srq_num(), own.srq.srq_num()];
    for number in numbers {
        let (client, server) = connected(&a, &b, 2, &xrcd);
        let qp = client.qp().expect("has one");
        qp.post_send(send(number).signaled()).expect("room");
        assert_eq!(a.completion().0, 7);
        for end in [&a, &b] {
            let reason = end.next(CmEventType::Disconnected).reason;
            assert_eq!(reason, Some(DisconnectReason::Terminated), "{number:#x}");
        }
        drop((client, server));
    }
    assert_eq!(others.srq.query().expect("asked").waiting, 1);
}

/// A target calls nobody; an initiator is accepted by a target, and by nothing else, and a target accepts no other.
#[test]
fn each_kind_has_its_peer() {
    let (_host, [one, two]) = members();
    let (a, b) = (End::new(&one), End::new(&two));
    let xrcd = two.alloc_xrcd().expect("a domain");
    let _listener = b.channel.listen(PORT, 8).expect("a port");
    let target = b.asks(1, &xrcd.target());
    assert!(target.connect(&ConnParam::default()).is_err());
    let kinds = |end: &End| [QpInit::new(&end.cq), QpInit::new(&end.cq).initiator()];
    for (xrc, asks) in kinds(&a).iter().enumerate() {
        let wrong = kinds(&b).into_iter().chain([xrcd.target()]);
        let wrong = wrong.enumerate().filter(|(kind, _)| *kind != 2 * xrc);
        for (_, wrong) in wrong {
            let id = a.asks(2, asks);
            id.connect(&ConnParam::default()).expect("possible");
            let request = b.next(CmEventType::ConnectRequest);
            assert_eq!(request.xrc, xrc == 1);
            request.id.create_qp(&b.pd, &wrong).expect("a queue pair");
            assert!(request.id.accept(&ConnParam::default()).is_err());
            drop((request, id));
        }
    }
}
