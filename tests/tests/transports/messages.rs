//! Messages, completions and completion events.

use weft_hostdrv::cm::*;
use weft_hostdrv::verbs::*;
use weft_tests::bench::{Bench, Way};
use weft_tests::ends::{completion, connected, next_event, no_faults, pattern, Pair, LIMIT};

fn bench(way: &Way, seed: u64) -> Bench {
    Bench::new(way, seed).expect("two devices come up")
}

pub fn send_write_and_read(way: &Way) {
    let param = |data: &[u8]| ConnParam {
        private_data: data.to_vec(),
        ..ConnParam::default()
    };
    let pair = connected(
        bench(way, 1),
        &param(b"from the client"),
        &param(b"from the server"),
    );
    let Pair { bench, a, b, .. } = &pair;
    let (cq, sq) = pair.qps();
    for (n, len) in [0usize, 1, 63, 64, 65, 1459, 1460, 5000, 65537]
        .into_iter()
        .enumerate()
    {
        let n = n as u64;
        let bytes = pattern(len, n as u8);
        a.mr.write(3, &bytes).expect("inside");
        // Send, from three SGEs into two.
        let third = (len / 3) as u32;
        let rest = len as u32 - 2 * third;
        let list = [b.mr.sge(1, 7), b.mr.sge(1000, 70_000)];
        sq.post_recv(RecvWr::new(n).sges(&list)).expect("room");
        let list = [
            a.mr.sge(3, third),
            a.mr.sge(3 + u64::from(third), third),
            a.mr.sge(3 + 2 * u64::from(third), rest),
        ];
        cq.post_send(SendWr::send(100 + n).sges(&list).signaled())
            .expect("room");
        let wc = completion(bench, &b.cq);
        assert_eq!(
            (wc.wr_id, wc.status, wc.opcode, wc.byte_len as usize),
            (n, WcStatus::Success, WcOpcode::Recv, len)
        );
        let first = len.min(7);
        assert_eq!(b.mr.to_vec(1, first).expect("inside"), bytes[..first]);
        assert_eq!(
            b.mr.to_vec(1000, len - first).expect("inside"),
            bytes[first..]
        );
        let wc = completion(bench, &a.cq);
        assert_eq!(
            (wc.wr_id, wc.status, wc.opcode),
            (100 + n, WcStatus::Success, WcOpcode::Send)
        );

        // Write, then a Send that says so.
        b.mr.fill(100_000, len + 10, 0xee).expect("inside");
        sq.post_recv(RecvWr::new(n)).expect("room");
        let to = b.mr.remote().offset(100_001);
        cq.post_send(
            SendWr::write(200 + n, to)
                .sge(a.mr.sge(3, len as u32))
                .signaled(),
        )
        .expect("room");
        cq.post_send(SendWr::send(300 + n).signaled())
            .expect("room");
        assert_eq!(completion(bench, &b.cq).byte_len, 0);
        assert_eq!(b.mr.to_vec(100_001, len).expect("inside"), bytes);
        assert_eq!(b.mr.to_vec(100_001 + len, 1).expect("inside"), [0xee]);
        assert_eq!(completion(bench, &a.cq).opcode, WcOpcode::RdmaWrite);
        assert_eq!(completion(bench, &a.cq).wr_id, 300 + n);

        // Read it back, by the client and by the server.
        a.mr.fill(200_000, len + 10, 0xdd).expect("inside");
        cq.post_send(
            SendWr::read(400 + n, to)
                .sge(a.mr.sge(200_001, len as u32))
                .signaled(),
        )
        .expect("room");
        let wc = completion(bench, &a.cq);
        assert_eq!(
            (wc.wr_id, wc.status, wc.opcode),
            (400 + n, WcStatus::Success, WcOpcode::RdmaRead)
        );
        assert_eq!(a.mr.to_vec(200_001, len).expect("inside"), bytes);
        let from = a.mr.remote().offset(3);
        sq.post_send(
            SendWr::read(500 + n, from)
                .sge(b.mr.sge(200_003, len as u32))
                .signaled(),
        )
        .expect("room");
        assert_eq!(completion(bench, &b.cq).wr_id, 500 + n);
        assert_eq!(b.mr.to_vec(200_003, len).expect("inside"), bytes);
    }
    no_faults(bench);
    pair.client.disconnect().expect("possible");
    let gone = next_event(bench, &b.channel, CmEventType::Disconnected);
    assert_eq!(gone.status, 0, "{gone:?}");
    // An application closes its side too.
    pair.server.disconnect().ok();
    next_event(bench, &a.channel, CmEventType::Disconnected);
    no_faults(bench);
}

pub fn immediate_data(way: &Way) {
    let pair = connected(bench(way, 6), &ConnParam::default(), &ConnParam::default());
    let Pair { bench, a, b, .. } = &pair;
    let (cq, sq) = pair.qps();
    let bytes = pattern(3000, 6);
    a.mr.write(0, &bytes).expect("inside");
    let data = 0x0123_4567_89ab_cdef;
    sq.post_recv(RecvWr::new(1).sge(b.mr.sge(9000, 8)))
        .expect("room");
    sq.post_recv(RecvWr::new(2).sge(b.mr.sge(9100, 100)))
        .expect("room");
    let to = b.mr.remote().offset(5);
    cq.post_send(SendWr::write(10, to).sge(a.mr.sge(0, 3000)))
        .expect("room");
    cq.post_send(SendWr::immediate(11, data).signaled())
        .expect("room");
    cq.post_send(SendWr::immediate(12, !data).solicited().signaled())
        .expect("room");
    for (wr_id, data, solicited, at) in [(1, data, false, 9000), (2, !data, true, 9100)] {
        let wc = completion(bench, &b.cq);
        assert_eq!(
            (wc.wr_id, wc.status, wc.opcode, wc.byte_len),
            (wr_id, WcStatus::Success, WcOpcode::Recv, 8)
        );
        assert_eq!((wc.imm_data, wc.solicited), (Some(data), solicited));
        assert_eq!(b.mr.to_vec(at, 8).expect("inside"), data.to_be_bytes());
    }
    // What was written before it is there.
    assert_eq!(b.mr.to_vec(5, 3000).expect("inside"), bytes);
    for wr_id in [11, 12] {
        let wc = completion(bench, &a.cq);
        assert_eq!((wc.wr_id, wc.status), (wr_id, WcStatus::Success));
        assert_eq!((wc.opcode, wc.imm_data), (WcOpcode::Send, None));
    }
    assert!(cq
        .post_send(SendWr::immediate(13, data).inline(b"more"))
        .is_err());
    no_faults(bench);
}

pub fn completion_channel(way: &Way) {
    let pair = connected(bench(way, 5), &ConnParam::default(), &ConnParam::default());
    let Pair { bench, a, b, .. } = &pair;
    let (cq, sq) = pair.qps();
    let event = || b.comp.try_get_event().expect("works");
    for n in 0..4 {
        sq.post_recv(RecvWr::new(n).sge(b.mr.sge(0, 10)))
            .expect("room");
    }
    b.cq.req_notify(Notify::Solicited).expect("has a channel");
    cq.post_send(SendWr::send(1).inline(b"a").signaled())
        .expect("room");
    assert_eq!(completion(bench, &a.cq).wr_id, 1);
    assert!(event().is_none(), "nobody asked for one");
    cq.post_send(SendWr::send(2).inline(b"b").signaled().solicited())
        .expect("room");
    assert_eq!(completion(bench, &a.cq).wr_id, 2);
    assert!(event().is_some_and(|cq| cq.is(&b.cq)));
    assert!(event().is_none(), "one event for one request");
    assert_eq!(
        b.cq.poll(8)
            .expect("works")
            .iter()
            .map(|wc| wc.solicited)
            .collect::<Vec<_>>(),
        [false, true]
    );
    b.cq.req_notify(Notify::Any).expect("has a channel");
    cq.post_send(SendWr::send(3).inline(b"c")).expect("room");
    bench
        .run_until("an event", LIMIT, event)
        .expect("an event comes");
}

pub fn unsignalled_work_completes_in_silence_and_lets_go(way: &Way) {
    let pair = connected(bench(way, 6), &ConnParam::default(), &ConnParam::default());
    let Pair { bench, a, b, .. } = &pair;
    let (cq, _sq) = pair.qps();
    // Many more than the send queue holds, without a single completion before the last.
    for n in 0..200u64 {
        let mr = a.pd.alloc_mr(100, Access::NONE).expect("an STag");
        mr.write(0, &[n as u8; 100]).expect("inside");
        let wr = || SendWr::write(n, b.mr.remote().offset(100 * n)).sge(mr.sge(0, 100));
        bench
            .run_until("room", LIMIT, || match cq.post_send(wr()) {
                Ok(()) => Some(()),
                Err(VerbsError::SendQueueFull { depth: 64 }) => None,
                Err(error) => panic!("{error}"),
            })
            .expect("room comes");
        // The region is dropped here: the work keeps it.
    }
    cq.post_send(
        SendWr::read(999, b.mr.remote())
            .sge(a.mr.sge(0, 20_000))
            .fence()
            .signaled(),
    )
    .ok();
    let arrived = || {
        let all = (0..200).all(|n| b.mr.to_vec(100 * n, 100).expect("inside") == [n as u8; 100]);
        all.then_some(())
    };
    bench
        .run_until("all that was written", LIMIT, arrived)
        .expect("it arrives");
    let wcs = a.cq.poll(10).expect("works");
    assert!(wcs.iter().all(|wc| wc.wr_id == 999), "{wcs:?}");
    no_faults(bench);
}
