//! Memory windows, fast registration, invalidation, atomics: with the names that verbs have.

use weft_hostdrv::cm::*;
use weft_hostdrv::verbs::*;
use weft_tests::bench::{Bench, Way};
use weft_tests::ends::{completion, connected, next_event, no_faults, Pair};

fn pair(way: &Way, seed: u64) -> Pair {
    let bench = Bench::new(way, seed).expect("two devices come up");
    connected(bench, &ConnParam::default(), &ConnParam::default())
}

/// The peer writes a byte everywhere in a window, reads it back, and the owner sees it.
fn used_by_peer(pair: &Pair, window: RemoteRegion, at: usize, byte: u8) {
    let Pair { bench, a, b, .. } = pair;
    let (_, peer) = pair.qps();
    let len = window.length as u32;
    b.mr.fill(0, len as usize, byte).expect("inside");
    let own = b.mr.sge(0, len);
    peer.post_send(SendWr::write(1, window).sge(own).signaled())
        .expect("room");
    assert_eq!(completion(bench, &b.cq).status, WcStatus::Success);
    let sink = b.mr.sge(100_000, len);
    peer.post_send(SendWr::read(2, window).sge(sink).signaled())
        .expect("room");
    assert_eq!(completion(bench, &b.cq).status, WcStatus::Success);
    let read = b.mr.to_vec(100_000, len as usize).expect("inside");
    assert!(read.iter().all(|found| *found == byte));
    let written = a.mr.to_vec(at, len as usize).expect("inside");
    assert!(written.iter().all(|found| *found == byte));
}

pub fn windows_and_fast_registration(way: &Way) {
    let pair = pair(way, 31);
    let Pair { bench, a, b, .. } = &pair;
    let (qp, peer) = pair.qps();
    // The same bytes once more, as a region that windows may be bound to.
    let access = Access::LOCAL_WRITE | Access::BIND;
    let region = a.mr.reg_part(&a.pd, 0, 50_000, access).expect("an STag");
    let both = Access::REMOTE_READ | Access::REMOTE_WRITE;
    for kind in [MwType::Type1, MwType::Type2] {
        let mw = a.pd.alloc_mw(kind).expect("a window");
        let unbound = mw.rkey();
        let part = region.sge(3000, 5000);
        let bound = qp
            .bind_mw(&mw, BindWr::new(1, part, both).addr(0).signaled())
            .expect("possible");
        let wc = completion(bench, &a.cq);
        assert_eq!(
            (wc.wr_id, wc.status, wc.opcode),
            (1, WcStatus::Success, WcOpcode::BindMw)
        );
        assert_eq!(
            (bound.addr, bound.rkey, bound.length),
            (0, inc_rkey(unbound), 5000)
        );
        assert_eq!(mw.rkey(), bound.rkey);
        used_by_peer(&pair, bound, 3000, 0x11);
        match kind {
            MwType::Type1 => {
                let part = region.sge(20_000, 100);
                let moved = qp
                    .bind_mw(&mw, BindWr::new(2, part, both))
                    .expect("possible");
                assert_eq!(moved.addr, region.addr() + 20_000);
                peer.post_recv(RecvWr::new(4).sge(b.mr.sge(200_000, 10)))
                    .expect("room");
                qp.post_send(SendWr::send(3).inline(b"go").signaled())
                    .expect("room");
                assert_eq!(completion(bench, &a.cq).wr_id, 3);
                assert_eq!(completion(bench, &b.cq).wr_id, 4);
                used_by_peer(&pair, moved, 20_000, 0x22);
                qp.unbind_mw(&mw, 5).expect("possible");
            }
            MwType::Type2 => {
                assert_eq!(qp.unbind_mw(&mw, 5), Err(VerbsError::NotOfType1));
                let wr = InvalidateWr::new(6, bound.rkey).fence().signaled();
                qp.local_invalidate(wr).expect("possible");
                let wc = completion(bench, &a.cq);
                assert_eq!((wc.wr_id, wc.opcode), (6, WcOpcode::LocalInvalidate));
                assert_eq!(wc.status, WcStatus::Success);
            }
        }
    }
    // A region that gets its memory by work, and loses it by the peer's Send.
    let mr = a.pd.alloc_fast_mr().expect("an STag");
    for round in 0..3u8 {
        let access = both | Access::REMOTE_INVALIDATE;
        let part = region.sge(1000 * u64::from(round), 2000);
        let made = qp
            .fast_register(&mr, BindWr::new(7, part, access).signaled())
            .expect("possible");
        assert_eq!(completion(bench, &a.cq).opcode, WcOpcode::FastRegister);
        used_by_peer(&pair, made, 1000 * usize::from(round), 0x30 + round);
        qp.post_recv(RecvWr::new(8).sge(a.mr.sge(100_000, 10)))
            .expect("room");
        peer.post_send(
            SendWr::send(9)
                .inline(b"done")
                .invalidate(made.rkey)
                .signaled(),
        )
        .expect("room");
        let wc = completion(bench, &a.cq);
        assert_eq!((wc.wr_id, wc.invalidated_rkey), (8, Some(made.rkey)));
        assert_eq!(completion(bench, &b.cq).status, WcStatus::Success);
    }
    // The peer's Write to what is gone ends the connection.
    let gone = RemoteRegion {
        addr: 0,
        rkey: mr.rkey(),
        length: 10,
    };
    let wr = SendWr::write(10, gone).sge(b.mr.sge(0, 10));
    peer.post_send(wr).expect("room");
    next_event(bench, &a.channel, CmEventType::Disconnected);
    next_event(bench, &b.channel, CmEventType::Disconnected);
    no_faults(bench);
}

pub fn misuse_of_windows_is_refused(way: &Way) {
    let pair = pair(way, 32);
    let Pair { bench, a, b, .. } = &pair;
    let (qp, _) = pair.qps();
    let region = |access| a.mr.reg_part(&a.pd, 0, 100, access).expect("an STag");
    let plain = region(Access::LOCAL_WRITE);
    let read_only = region(Access::BIND);
    let good = region(Access::BIND | Access::LOCAL_WRITE);
    let mw = a.pd.alloc_mw(MwType::Type2).expect("a window");
    let rkey = mw.rkey();
    let bind = |sge, access| qp.bind_mw(&mw, BindWr::new(1, sge, access));
    let refused = bind(plain.sge(0, 10), Access::REMOTE_READ);
    assert!(
        matches!(refused, Err(VerbsError::NoAccess { .. })),
        "{refused:?}"
    );
    let refused = bind(read_only.sge(0, 10), Access::REMOTE_WRITE);
    assert!(
        matches!(refused, Err(VerbsError::NoAccess { .. })),
        "{refused:?}"
    );
    let refused = bind(good.sge(0, 10), Access::LOCAL_WRITE);
    assert!(
        matches!(refused, Err(VerbsError::WindowAccess { .. })),
        "{refused:?}"
    );
    let refused = bind(good.sge(99, 2), Access::REMOTE_READ);
    assert!(
        matches!(refused, Err(VerbsError::SgeBeyondMr { .. })),
        "{refused:?}"
    );
    let refused = bind(b.mr.sge(0, 2), Access::REMOTE_READ);
    assert!(
        matches!(refused, Err(VerbsError::WrongDevice { .. })),
        "{refused:?}"
    );
    let refused = bind(good.sge(0, 0), Access::REMOTE_READ);
    assert!(
        matches!(refused, Err(VerbsError::Refused(_))),
        "{refused:?}"
    );
    let other = bench.device(0).alloc_pd().expect("a domain");
    let foreign = other.alloc_mw(MwType::Type1).expect("a window");
    let refused = qp.unbind_mw(&foreign, 1);
    assert!(
        matches!(refused, Err(VerbsError::WrongPd { .. })),
        "{refused:?}"
    );
    let idle = a.pd.create_qp(&QpInit::new(&a.cq)).expect("a queue pair");
    let refused = idle.local_invalidate(InvalidateWr::new(1, rkey));
    assert!(
        matches!(refused, Err(VerbsError::WrongQpState { .. })),
        "{refused:?}"
    );
    let sink = a.mr.sge(0, 7);
    let refused = qp.post_atomic(AtomicWr::fetch_add(1, b.mr.remote(), 1, sink));
    assert!(
        matches!(refused, Err(VerbsError::Refused(_))),
        "{refused:?}"
    );
    let refused = qp.post_atomic(AtomicWr::fetch_add(
        1,
        b.mr.remote(),
        1,
        read_only.sge(0, 8),
    ));
    assert!(
        matches!(refused, Err(VerbsError::NoAccess { .. })),
        "{refused:?}"
    );
    assert_eq!(mw.rkey(), rkey, "nothing was changed");

    // A region lives as long as something is bound to it.
    let bound = bind(good.sge(0, 10), Access::REMOTE_READ).expect("possible");
    qp.post_send(
        SendWr::write(2, b.mr.remote())
            .sge(a.mr.sge(0, 1))
            .signaled(),
    )
    .expect("room");
    assert_eq!(completion(bench, &a.cq).wr_id, 2);
    let lkey = good.lkey();
    let refused = good.dereg().expect_err("in use");
    assert_eq!(refused.error, VerbsError::RegionInUse { lkey, uses: 0 });
    drop(refused.handle.expect("as it was"));
    qp.local_invalidate(InvalidateWr::new(3, bound.rkey).signaled())
        .expect("possible");
    assert_eq!(completion(bench, &a.cq).status, WcStatus::Success);

    // What nobody has any more fails the queue pair.
    qp.local_invalidate(InvalidateWr::new(4, bound.rkey))
        .expect("posted");
    let wc = completion(bench, &a.cq);
    assert_eq!((wc.wr_id, wc.opcode), (4, WcOpcode::LocalInvalidate));
    assert_eq!(wc.status, WcStatus::LocalProtectionError);
    next_event(bench, &a.channel, CmEventType::Disconnected);
    no_faults(bench);
}

pub fn a_region_is_registered_anew(way: &Way) {
    let pair = pair(way, 34);
    let Pair { bench, a, b, .. } = &pair;
    let (_, peer) = pair.qps();
    let mr =
        a.pd.alloc_mr_at(5000, 0x7000, Access::NONE)
            .expect("a region");
    mr.write(0, &[5; 5000]).expect("inside");
    let old = mr.remote();
    let second = mr.clone();
    let (lkey, other) = (mr.lkey(), bench.device(0).alloc_pd().expect("a domain"));
    let refused = mr.rereg(&other, Access::NONE).map_err(VerbsError::from);
    assert!(
        matches!(refused, Err(VerbsError::RegionInUse { uses: 1, .. })),
        "{refused:?}"
    );
    let both = Access::REMOTE_READ | Access::REMOTE_WRITE;
    let refused = second.clone().rereg(&b.pd, both).map_err(VerbsError::from);
    assert!(
        matches!(refused, Err(VerbsError::WrongDevice { .. })),
        "{refused:?}"
    );
    let mr = second.rereg(&a.pd, both).expect("nobody else has it");
    assert_eq!((mr.addr(), mr.len(), mr.access()), (0x7000, 5000, both));
    assert_ne!(mr.lkey(), lkey);
    assert_eq!(mr.to_vec(0, 5000).expect("inside"), [5; 5000]);
    let wr = SendWr::read(1, mr.remote())
        .sge(b.mr.sge(0, 5000))
        .signaled();
    peer.post_send(wr).expect("room");
    assert_eq!(completion(bench, &b.cq).status, WcStatus::Success);
    assert_eq!(b.mr.to_vec(0, 5000).expect("inside"), [5; 5000]);
    mr.dereg().expect("nobody has it");
    // The old STag went with it.
    let wr = SendWr::read(2, old).sge(b.mr.sge(0, 10)).signaled();
    peer.post_send(wr).expect("room");
    assert_eq!(completion(bench, &b.cq).status, WcStatus::RemoteAccessError);
    next_event(bench, &a.channel, CmEventType::Disconnected);
    no_faults(bench);
}

pub fn atomics(way: &Way) {
    let pair = pair(way, 33);
    let Pair { bench, a, b, .. } = &pair;
    let (qp, peer) = pair.qps();
    let access = Access::LOCAL_WRITE | Access::REMOTE_ATOMIC;
    let counter = b.pd.alloc_mr_at(64, 0x4000, access).expect("a region");
    let at = counter.remote().offset(16);
    counter.write(16, &40u64.to_le_bytes()).expect("inside");
    let number = |mr: &Mr, at| -> u64 {
        let bytes = mr.to_vec(at, 8).expect("inside");
        u64::from_le_bytes(bytes.try_into().expect("eight"))
    };
    let steps = [
        (
            AtomicWr::fetch_add(0, at, 2, a.mr.sge(0, 8)),
            WcOpcode::FetchAdd,
            40,
        ),
        (
            AtomicWr::cmp_swap(1, at, 42, 7, a.mr.sge(8, 8)),
            WcOpcode::CompSwap,
            42,
        ),
        (
            AtomicWr::cmp_swap(2, at, 42, 8, a.mr.sge(16, 8)),
            WcOpcode::CompSwap,
            7,
        ),
        (
            AtomicWr::fetch_add(3, at, u64::MAX, a.mr.sge(24, 8)),
            WcOpcode::FetchAdd,
            7,
        ),
    ];
    for (wr, _, _) in steps {
        qp.post_atomic(wr.signaled()).expect("room");
    }
    for (n, (_, opcode, before)) in steps.into_iter().enumerate() {
        let wc = completion(bench, &a.cq);
        assert_eq!(
            (wc.wr_id, wc.status, wc.opcode, wc.byte_len),
            (n as u64, WcStatus::Success, opcode, 8)
        );
        assert_eq!(number(&a.mr, 8 * n), before);
    }
    assert_eq!(number(&counter, 16), 6);
    // From the other side, with Reads between.
    let own =
        a.mr.reg_part(&a.pd, 1024, 64, access | Access::REMOTE_READ)
            .expect("an STag");
    for n in 0..20u64 {
        let sink = b.mr.sge(8 * n, 8);
        peer.post_atomic(AtomicWr::fetch_add(n, own.remote(), 3, sink))
            .expect("room");
        let wr = SendWr::read(n, own.remote())
            .sge(b.mr.sge(1000 + 8 * n, 8))
            .signaled();
        peer.post_send(wr).expect("room");
    }
    for n in 0..20 {
        let wc = completion(bench, &b.cq);
        assert_eq!((wc.wr_id, wc.status), (n, WcStatus::Success));
        assert_eq!(number(&b.mr, 1000 + 8 * n as usize), 3 * (n + 1));
    }
    // A region without the right.
    let wr = AtomicWr::fetch_add(9, b.mr.remote(), 1, a.mr.sge(0, 8));
    qp.post_atomic(wr).expect("posted");
    let wc = completion(bench, &a.cq);
    assert_eq!((wc.wr_id, wc.status), (9, WcStatus::RemoteAccessError));
    next_event(bench, &b.channel, CmEventType::Disconnected);
    no_faults(bench);
}
