//! XRC: initiators of one card, targets and shared receive queues of another one.

use weft_hostdrv::cm::*;
use weft_hostdrv::verbs::*;
use weft_tests::bench::{Bench, Way};
use weft_tests::ends::{completion, next_event, no_faults, pattern, End, LEN};

/// A receiver: its protection domain, its shared queue, where that completes, and memory.
struct Receiver {
    srq: Srq,
    cq: Cq,
    mr: Mr,
}

impl Receiver {
    fn new(end: &End, pd: &Pd, xrcd: &Xrcd) -> Self {
        let device = end.pd.device();
        let cq = device.create_cq(64, None).expect("a queue");
        let init = SrqInit::default();
        Self {
            srq: pd.create_xrc_srq(xrcd, &cq, &init).expect("a queue"),
            mr: pd.alloc_mr(LEN, Access::LOCAL_WRITE).expect("a region"),
            cq,
        }
    }

    fn post(&self, wr_id: u64, at: usize, length: u32) {
        let sge = self.mr.sge(at as u64, length);
        self.srq
            .post_recv(RecvWr::new(wr_id).sge(sge))
            .expect("room");
    }
}

/// Connects an initiator of `a` to a target of `b`.
fn connect(bench: &Bench, a: &End, b: &End, xrcd: &Xrcd) -> (CmId, CmId) {
    let init = QpInit::new(&a.cq).initiator();
    let client = a.client_with(bench, &init, &ConnParam::default());
    let request = next_event(bench, &b.channel, CmEventType::ConnectRequest);
    assert!(request.xrc);
    let server = request.id;
    server.create_qp(&b.pd, &xrcd.target()).expect("a target");
    server.accept(&ConnParam::default()).expect("possible");
    for end in [a, b] {
        next_event(bench, &end.channel, CmEventType::Established);
    }
    (client, server)
}

fn qp(id: &CmId) -> Qp {
    id.qp().expect("has one")
}

/// Three processes' worth of senders and two of receivers, one of them in a protection domain of its own: every Send finds its queue, small and large ones at the same
/// time; Writes and Reads go on beside them.
#[test]
fn any_sender_reaches_any_receiver_of_the_domain() {
    let bench = Bench::new(&Way::Sim, 41).expect("two cards come up");
    let (a, b) = (End::new(bench.device(0)), End::new(bench.device(1)));
    let _listener = b.listen(&bench);
    let xrcd = bench.device(1).alloc_xrcd().expect("a domain");
    let other = bench.device(1).alloc_pd().expect("a domain");
    let receivers = [&b.pd, &other].map(|pd| Receiver::new(&b, pd, &xrcd));
    let connections: Vec<_> = (0..3).map(|_| connect(&bench, &a, &b, &xrcd)).collect();
    let sizes = [0usize, 1, 100, 1460, 9000, 30_000];
    let sent = pattern(LEN, 3);
    a.mr.write(0, &sent).expect("inside");
    // All that goes to one receiver comes in some order: each message has its size to tell it by, and the beginning of the pattern.
    for round in 0..3 {
        for receiver in &receivers {
            for (at, _) in sizes.iter().enumerate() {
                receiver.post(at as u64, at * 40_000, 40_000);
            }
        }
        for (n, size) in sizes.iter().enumerate() {
            for (at, receiver) in receivers.iter().enumerate() {
                let sender = &connections[(n + at + round) % 3].0;
                let wr = SendWr::send(7).sge(a.mr.sge(0, *size as u32));
                let wr = wr.to_srq(receiver.srq.srq_num()).signaled();
                qp(sender).post_send(wr).expect("room");
            }
            let write = SendWr::write(8, b.mr.remote().offset(n as u64 * 1000));
            let write = write.sge(a.mr.sge(0, 1000)).signaled();
            qp(&connections[n % 3].0).post_send(write).expect("room");
        }
        for receiver in &receivers {
            let mut came = Vec::new();
            for _ in sizes {
                let wc = completion(&bench, &receiver.cq);
                assert_eq!(wc.status, WcStatus::Success);
                let target = connections.iter().map(|(_, server)| qp(server).qp_num());
                assert!(target.clone().any(|number| number == wc.qp_num));
                let length = wc.byte_len as usize;
                let there = receiver.mr.to_vec(wc.wr_id as usize * 40_000, length);
                assert_eq!(there.as_deref(), Ok(&sent[..length]));
                came.push(length);
            }
            came.sort_unstable();
            assert_eq!(came, sizes);
        }
        for _ in 0..3 * sizes.len() {
            assert_eq!(completion(&bench, &a.cq).status, WcStatus::Success);
        }
        assert_eq!(b.mr.to_vec(5000, 1000).as_deref(), Ok(&sent[..1000]));
    }
    let read = SendWr::read(9, b.mr.remote().offset(0)).sge(a.mr.sge(100_000, 1000));
    qp(&connections[0].0)
        .post_send(read.signaled())
        .expect("room");
    assert_eq!(completion(&bench, &a.cq).status, WcStatus::Success);
    assert_eq!(a.mr.to_vec(100_000, 1000).as_deref(), Ok(&sent[..1000]));
    no_faults(&bench);
}

/// A number that names no queue of the domain: that connection ends, with its Terminate, and the others go on.
#[test]
fn a_wrong_number_ends_one_connection() {
    let bench = Bench::new(&Way::Sim, 42).expect("two cards come up");
    let (a, b) = (End::new(bench.device(0)), End::new(bench.device(1)));
    let _listener = b.listen(&bench);
    let xrcd = bench.device(1).alloc_xrcd().expect("a domain");
    let receiver = Receiver::new(&b, &b.pd, &xrcd);
    let (bad, _bad_server) = connect(&bench, &a, &b, &xrcd);
    let (good, _server) = connect(&bench, &a, &b, &xrcd);
    let wrong = SendWr::send(1)
        .inline(b"x")
        .to_srq(receiver.srq.srq_num() ^ 0x4000);
    qp(&bad).post_send(wrong.signaled()).expect("room");
    next_event(&bench, &a.channel, CmEventType::Disconnected);
    let expected = AsyncEvent::QpFatal {
        qp_num: qp(&bad).qp_num(),
        terminate: Some(TerminateCode::DDP_QN),
        received: true,
    };
    assert_eq!(bench.device(0).get_async_event(), Some(expected));
    // The peer's TCP had it before its RDMAP has looked at it.
    completion(&bench, &a.cq);
    receiver.post(3, 0, 10);
    let right = SendWr::send(2)
        .inline(b"right")
        .to_srq(receiver.srq.srq_num());
    qp(&good).post_send(right.signaled()).expect("room");
    assert_eq!(completion(&bench, &receiver.cq).wr_id, 3);
}

/// A domain that a file names, targets opened by number, kinds that do not fit: what is refused says why.
#[test]
fn domains_have_names_and_queue_pairs_their_kind() {
    let bench = Bench::new(&Way::Sim, 43).expect("two cards come up");
    let (a, b) = (End::new(bench.device(0)), End::new(bench.device(1)));
    let device = bench.device(1);
    let file = tempfile::tempfile().expect("a file");
    let none = device.open_xrcd(&file, XrcdOpen::Existing).err();
    assert_eq!(none, Some(VerbsError::NoSuchXrcd));
    let xrcd = device.open_xrcd(&file, XrcdOpen::New).expect("a domain");
    let again = device.open_xrcd(&file, XrcdOpen::New).err();
    assert_eq!(again, Some(VerbsError::XrcdExists));
    let same = device.open_xrcd(&file, XrcdOpen::OrNew).expect("the same");
    assert!(same.is(&xrcd));
    let elsewhere = bench.device(0).open_xrcd(&file, XrcdOpen::OrNew);
    let elsewhere = elsewhere.expect("another card's");
    assert!(!elsewhere.is(&xrcd));
    let cq = device.create_cq(8, None).expect("a queue");
    let init = SrqInit::default();
    let too_small = b.pd.create_xrc_srq(&xrcd, &cq, &init).err();
    assert_eq!(too_small, Some(VerbsError::CqFull { cqe: 8 }));
    let strange = b.pd.create_xrc_srq(&elsewhere, &b.cq, &init).err();
    assert!(matches!(strange, Some(VerbsError::WrongDevice { .. })));

    let _listener = b.listen(&bench);
    let receiver = Receiver::new(&b, &b.pd, &xrcd);
    let (client, server) = connect(&bench, &a, &b, &same);
    let (initiator, target) = (qp(&client), qp(&server));
    let number = receiver.srq.srq_num();
    let refused = |posted: Result<(), VerbsError>| {
        assert!(
            matches!(posted, Err(VerbsError::WrongQpKind { .. })),
            "{posted:?}"
        );
    };
    refused(initiator.post_send(SendWr::send(1)));
    refused(initiator.post_send(SendWr::send(1).sge(a.mr.sge(0, 8))));
    refused(initiator.post_send(SendWr::immediate(1, 2)));
    refused(initiator.post_recv(RecvWr::new(1)));
    refused(target.post_send(SendWr::send(1).to_srq(number)));
    refused(target.post_send(SendWr::write(1, a.mr.remote()).sge(b.mr.sge(0, 8))));
    refused(target.post_recv(RecvWr::new(1).sge(b.mr.sge(0, 8))));
    let usual = b.pd.create_qp(&QpInit::new(&b.cq)).expect("a queue pair");
    refused(usual.post_send(SendWr::send(1).to_srq(number)));
    let flags = initiator.post_send(SendWr::send(1).invalidate(3).to_srq(number));
    assert!(matches!(flags, Err(VerbsError::MeaninglessFlag { .. })));
    let both = b.pd.create_qp(&xrcd.target().srq(&receiver.srq)).err();
    assert!(matches!(both, Some(VerbsError::HasSrq { .. })));

    // A target by its number, as long as somebody has it.
    let opened = same.open_target(target.qp_num()).expect("it is there");
    assert_eq!(opened.qp_num(), target.qp_num());
    let nobody = VerbsError::NoSuchTarget { qp_num: 99 };
    assert_eq!(same.open_target(99).err(), Some(nobody));
    receiver.post(5, 0, 8);
    let send = SendWr::send(1).inline(b"12345678").to_srq(number);
    initiator.post_send(send.signaled()).expect("room");
    assert_eq!(completion(&bench, &receiver.cq).wr_id, 5);
    let (number, kept) = (target.qp_num(), xrcd.clone());
    drop((target, opened, server, same));
    assert!(xrcd.open_target(number).is_err());
    drop((xrcd, receiver, kept));
    let gone = device.open_xrcd(&file, XrcdOpen::Existing).err();
    assert_eq!(gone, Some(VerbsError::NoSuchXrcd));
}

/// What a queue has received before it goes can still be polled; its completion queue has its places again then.
#[test]
fn a_queue_goes_before_its_completions() {
    let bench = Bench::new(&Way::Sim, 44).expect("two cards come up");
    let (a, b) = (End::new(bench.device(0)), End::new(bench.device(1)));
    let _listener = b.listen(&bench);
    let xrcd = bench.device(1).alloc_xrcd().expect("a domain");
    let (client, _server) = connect(&bench, &a, &b, &xrcd);
    let cq = bench.device(1).create_cq(64, None).expect("a queue");
    for round in 0..20 {
        let init = SrqInit::default();
        let srq = b.pd.create_xrc_srq(&xrcd, &cq, &init);
        let srq = srq.expect("the places of the one before are free");
        for n in 0..3 {
            srq.post_recv(RecvWr::new(round * 3 + n)).expect("room");
            let send = SendWr::send(1).to_srq(srq.srq_num());
            qp(&client).post_send(send.signaled()).expect("room");
            completion(&bench, &a.cq);
        }
        if round % 2 == 0 {
            assert_eq!(completion(&bench, &cq).wr_id, round * 3);
        } else {
            // All of them have come when the last one's sender knows it.
            let fabric = bench.fabric().expect("simulated");
            fabric.run_for(1_000_000).expect("it works");
        }
        srq.destroy().expect("nobody has it");
        let first = round * 3 + u64::from(round % 2 == 0);
        for wr_id in first..round * 3 + 3 {
            assert_eq!(completion(&bench, &cq).wr_id, wr_id);
        }
    }
}
