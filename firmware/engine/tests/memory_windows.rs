//! Memory windows, fast registration, invalidation: what the peer reaches when, and what is refused.
#![allow(missing_docs)]

use crate::bench;

use bench::*;
use weft_engine::*;

/// Two connected hosts; host 0 binds, host 1 is the peer.
struct Setup {
    b: Bench,
    pair: Pair,
    /// Host 0's region of 1000 bytes, and its memory.
    region: u32,
    iova: u64,
    /// Host 1's.
    peer: u32,
    peer_iova: u64,
}

const ALL: [StagKind; 3] = [StagKind::Window1, StagKind::Window2, StagKind::FastRegion];

fn setup(way: Way) -> Setup {
    let mut b = Bench::by(way, 9);
    let pair = b.connect(&ConnectParams::default(), &AcceptParams::default());
    let access = Access::LOCAL_WRITE | Access::BIND;
    let (region, iova) = b.hosts[0].region(1000, access);
    let (peer, peer_iova) = b.hosts[1].region(1000, Access::READ_SINK);
    b.memory(1, peer_iova, 1000).fill(7);
    Setup {
        b,
        pair,
        region,
        iova,
        peer,
        peer_iova,
    }
}

fn wr<'a>(op: SendOp) -> SendWr<'a> {
    SendWr { op, ..send(1, &[]) }
}

fn of(kind: StagKind, binding: Binding) -> SendOp {
    match kind {
        StagKind::FastRegion => SendOp::FastRegister(binding),
        _ => SendOp::Bind(binding),
    }
}

impl Setup {
    fn alloc(&mut self, kind: StagKind) -> u32 {
        let pd = self.b.hosts[0].pd;
        self.b.hosts[0].engine.alloc_stag(pd, kind).unwrap()
    }

    /// Bytes 100 to 199 of the region, by another name and from 0 on.
    fn binding(&self, stag: u32) -> Binding {
        Binding {
            stag: stag & !0xff | (stag + 1) & 0xff,
            base_to: 0,
            region: self.region,
            region_to: 0x1000 + 100,
            length: 100,
            access: Access::REMOTE_READ | Access::REMOTE_WRITE | Access::REMOTE_INVALIDATE,
        }
    }

    #[track_caller]
    fn does(&mut self, op: SendOp) -> Status {
        self.b.post_send(0, self.pair.qps[0], &wr(op)).unwrap();
        self.b.completions_of(0, 1, 1000 * MS)[0].status
    }

    /// The peer writes 10 bytes there; how that ends.
    #[track_caller]
    fn write(&mut self, stag: u32, to: u64) -> Status {
        let list = [sge(self.peer, 0, 10)];
        self.b
            .post_send(1, self.pair.qps[1], &bench::write(2, stag, to, &list))
            .unwrap();
        // A Write is done when it is acknowledged: what follows says whether it was wanted.
        let list = [];
        self.b.post_recv(0, self.pair.qps[0], 3, &list).unwrap();
        self.b
            .post_send(1, self.pair.qps[1], &send(4, &[]))
            .unwrap();
        let got = self.b.completions_of(1, 2, 1000 * MS);
        let arrived = self.b.completions_of(0, 1, 1000 * MS)[0].status;
        if arrived == Status::Success {
            assert_eq!(got[1].status, Status::Success);
        }
        arrived
    }

    #[track_caller]
    fn read(&mut self, stag: u32, to: u64) -> Status {
        let list = [sge(self.peer, 50, 10)];
        self.b
            .post_send(1, self.pair.qps[1], &bench::read(2, stag, to, &list))
            .unwrap();
        self.b.completions_of(1, 1, 1000 * MS)[0].status
    }
}

#[test]
fn the_peer_reaches_what_is_bound_and_no_more() {
    for way in Way::ALL {
        for kind in ALL {
            let mut s = setup(way);
            let stag = s.alloc(kind);
            let binding = s.binding(stag);
            assert_eq!(s.does(of(kind, binding)), Status::Success);
            assert_eq!(
                s.write(binding.stag, 90),
                Status::Success,
                "{way:?} {kind:?}"
            );
            assert_eq!(s.b.memory(0, s.iova + 190, 10), [7; 10]);
            assert_eq!(s.b.memory(0, s.iova + 189, 1), [0]);
            s.b.memory(0, s.iova + 100, 10).fill(9);
            assert_eq!(s.read(binding.stag, 0), Status::Success);
            assert_eq!(s.b.memory(1, s.peer_iova + 50, 10), [9; 10]);
            // One byte beyond it.
            assert_eq!(
                s.write(binding.stag, 91),
                Status::Flushed,
                "{way:?} {kind:?}"
            );
            assert_eq!(s.b.memory(0, s.iova + 200, 1), [0]);
        }
    }
}

#[test]
fn rights_are_those_of_the_binding() {
    for way in Way::ALL {
        for kind in ALL {
            for right in [Access::REMOTE_READ, Access::REMOTE_WRITE] {
                let mut s = setup(way);
                let stag = s.alloc(kind);
                let binding = Binding {
                    access: right,
                    ..s.binding(stag)
                };
                assert_eq!(s.does(of(kind, binding)), Status::Success);
                let (read, write) = match right {
                    Access::REMOTE_READ => (Status::Success, Status::Flushed),
                    _ => (Status::RemoteAccess, Status::Success),
                };
                if read == Status::Success {
                    assert_eq!(s.read(binding.stag, 0), read);
                    assert_eq!(s.write(binding.stag, 0), write);
                } else {
                    assert_eq!(s.write(binding.stag, 0), write);
                    assert_eq!(s.read(binding.stag, 0), read);
                }
            }
        }
    }
}

/// Of type 2 it is for one queue pair, of type 1 and a region for all of the domain.
#[test]
fn a_window_of_type_2_is_for_the_queue_pair_that_binds_it() {
    for way in Way::ALL {
        for kind in ALL {
            for reads in [false, true] {
                let mut s = setup(way);
                let stag = s.alloc(kind);
                let binding = s.binding(stag);
                assert_eq!(s.does(of(kind, binding)), Status::Success);
                let own = s.pair;
                s.pair =
                    s.b.connect(&ConnectParams::default(), &AcceptParams::default());
                let ends = match reads {
                    true => s.read(binding.stag, 0),
                    false => s.write(binding.stag, 0),
                };
                let expected = match (kind, reads) {
                    (StagKind::Window2, true) => Status::RemoteAccess,
                    (StagKind::Window2, false) => Status::Flushed,
                    _ => Status::Success,
                };
                assert_eq!(ends, expected, "{way:?} {kind:?} {reads}");
                s.b.run(10 * MS);
                s.b.hosts
                    .iter_mut()
                    .for_each(|host| host.completions.clear());
                s.pair = own;
                assert_eq!(s.write(binding.stag, 0), Status::Success);
            }
        }
    }
}

#[test]
fn what_is_invalidated_is_gone() {
    for way in Way::ALL {
        for kind in [StagKind::Window2, StagKind::FastRegion] {
            for by_peer in [false, true] {
                let mut s = setup(way);
                let stag = s.alloc(kind);
                let mut binding = s.binding(stag);
                for _ in 0..3 {
                    assert_eq!(s.does(of(kind, binding)), Status::Success);
                    assert_eq!(s.write(binding.stag, 0), Status::Success);
                    if by_peer {
                        s.b.post_recv(0, s.pair.qps[0], 3, &[]).unwrap();
                        let op = SendOp::Send {
                            solicited: false,
                            invalidate: Some(binding.stag),
                        };
                        s.b.post_send(1, s.pair.qps[1], &wr(op)).unwrap();
                        let got = s.b.completions_of(0, 1, 1000 * MS)[0];
                        assert_eq!(got.invalidated, Some(binding.stag));
                        s.b.completions_of(1, 1, 1000 * MS);
                    } else {
                        let stag = binding.stag;
                        let done = s.does(SendOp::LocalInvalidate { stag });
                        assert_eq!(done, Status::Success);
                    }
                    binding = s.binding(binding.stag);
                }
                let old = binding.stag & !0xff | (binding.stag + 0xff) & 0xff;
                assert_eq!(s.write(old, 0), Status::Flushed, "{way:?} {kind:?}");
            }
        }
    }
}

/// Work is issued in order: a peer that is told of a window by the Send behind the bind may use it; the old key ends with the bind.
#[test]
fn a_window_of_type_1_is_bound_anew() {
    let mut s = setup(Way::Card);
    let stag = s.alloc(StagKind::Window1);
    let first = s.binding(stag);
    let second = Binding {
        region_to: 0x1000 + 500,
        ..s.binding(first.stag)
    };
    let qp = s.pair.qps[0];
    s.b.post_recv(1, s.pair.qps[1], 5, &[]).unwrap();
    for op in [SendOp::Bind(first), SendOp::Bind(second)] {
        s.b.post_send(0, qp, &wr(op)).unwrap();
    }
    s.b.post_send(0, qp, &send(1, &[])).unwrap();
    let got = s.b.completions_of(0, 3, 1000 * MS);
    let opcodes: Vec<_> = got.iter().map(|c| c.opcode).collect();
    assert_eq!(opcodes, [Opcode::Bind, Opcode::Bind, Opcode::Send]);
    s.b.completions_of(1, 1, 1000 * MS);
    assert_eq!(s.write(second.stag, 0), Status::Success);
    assert_eq!(s.b.memory(0, s.iova + 500, 10), [7; 10]);
    assert_eq!(s.b.memory(0, s.iova + 100, 10), [0; 10]);
    // No bytes: bound to nothing.
    let nothing = Binding {
        length: 0,
        ..s.binding(second.stag)
    };
    assert_eq!(s.does(SendOp::Bind(nothing)), Status::Success);
    let host = &mut s.b.hosts[0];
    host.engine.deregister(0, s.region, &mut host.card).unwrap();
    assert_eq!(s.write(nothing.stag, 0), Status::Flushed);
}

#[test]
fn what_cannot_be_bound_fails_the_queue_pair() {
    let other_pd = |s: &mut Setup| s.b.hosts[0].engine.alloc_pd();
    type Change = fn(&mut Setup, &mut Binding, &mut StagKind);
    let cases: [(&str, Change, Status); 10] = [
        (
            "no such region",
            |_, b, _| b.region ^= 1,
            Status::LocalProtection,
        ),
        (
            "beyond it",
            |_, b, _| b.length = 901,
            Status::LocalProtection,
        ),
        (
            "before it",
            |_, b, _| b.region_to = 0xfff,
            Status::LocalProtection,
        ),
        (
            "wraps",
            |_, b, _| b.base_to = u64::MAX - 98,
            Status::LocalOperation,
        ),
        (
            "a right of this side",
            |_, b, _| b.access = Access::LOCAL_WRITE,
            Status::LocalProtection,
        ),
        (
            "a region without BIND",
            |s, b, _| b.region = s.b.hosts[0].region(1000, Access::LOCAL_WRITE).0,
            Status::LocalProtection,
        ),
        (
            "a region that is not to be written",
            |s, b, _| b.region = s.b.hosts[0].region(1000, Access::BIND).0,
            Status::LocalProtection,
        ),
        (
            "no such window",
            |s, b, _| b.stag = s.region,
            Status::LocalOperation,
        ),
        (
            "a window as a region",
            |_, _, kind| *kind = StagKind::FastRegion,
            Status::LocalOperation,
        ),
        ("nothing", |_, b, _| b.length = 0, Status::LocalOperation),
    ];
    for (what, change, status) in cases {
        let mut s = setup(Way::Card);
        let mut kind = StagKind::Window2;
        let stag = s.alloc(kind);
        let mut binding = s.binding(stag);
        change(&mut s, &mut binding, &mut kind);
        assert_eq!(s.does(of(kind, binding)), status, "{what}");
        assert!(matches!(
            s.b.event_of(0, 1000 * MS),
            Event::QpFatal {
                received: false,
                ..
            }
        ));
    }
    // Of another domain.
    let mut s = setup(Way::Card);
    let pd = other_pd(&mut s);
    let engine = &mut s.b.hosts[0].engine;
    let stag = engine.alloc_stag(pd, StagKind::Window1).unwrap();
    let binding = s.binding(stag);
    assert_eq!(s.does(SendOp::Bind(binding)), Status::LocalProtection);
    // A second time, of type 2.
    let mut s = setup(Way::Card);
    let stag = s.alloc(StagKind::Window2);
    let binding = s.binding(stag);
    assert_eq!(s.does(SendOp::Bind(binding)), Status::Success);
    let again = s.binding(binding.stag);
    assert_eq!(s.does(SendOp::Bind(again)), Status::LocalOperation);
    // What is not bound, and what is registered memory, is not invalidated by work.
    for kind in [None, Some(StagKind::Window1), Some(StagKind::Window2)] {
        let mut s = setup(Way::Card);
        let stag = kind.map_or(s.region, |kind| s.alloc(kind));
        let done = s.does(SendOp::LocalInvalidate { stag });
        assert_ne!(done, Status::Success, "{kind:?}");
    }
}

/// A Send with Invalidate of a region that has windows ends the stream (RFC 5040 §4.8: 0109), and takes nothing away.
#[test]
fn a_peer_does_not_invalidate_a_region_with_windows() {
    for way in Way::ALL {
        for kind in ALL {
            let mut s = setup(way);
            let access = Access::LOCAL_WRITE | Access::BIND | Access::REMOTE_INVALIDATE;
            (s.region, s.iova) = s.b.hosts[0].region(1000, access);
            let stag = s.alloc(kind);
            let binding = s.binding(stag);
            assert_eq!(s.does(of(kind, binding)), Status::Success);
            s.b.post_recv(0, s.pair.qps[0], 3, &[]).unwrap();
            let op = SendOp::Send {
                solicited: false,
                invalidate: Some(s.region),
            };
            s.b.post_send(1, s.pair.qps[1], &wr(op)).unwrap();
            let got = s.b.completions_of(0, 1, 1000 * MS)[0];
            assert_eq!((got.status, got.invalidated), (Status::Flushed, None));
            let Event::QpFatal { terminate, .. } = s.b.event_of(0, 1000 * MS) else {
                panic!("{way:?} {kind:?}");
            };
            assert_eq!(terminate.map(|code| code.0), Some(0x0109));
            if kind != StagKind::Window2 {
                // Another connection still reaches it.
                s.b.run(1000 * MS);
                s.b.hosts.iter_mut().for_each(|host| host.events.clear());
                s.pair =
                    s.b.connect(&ConnectParams::default(), &AcceptParams::default());
                s.b.hosts
                    .iter_mut()
                    .for_each(|host| host.completions.clear());
                assert_eq!(
                    s.write(binding.stag, 0),
                    Status::Success,
                    "{way:?} {kind:?}"
                );
            }
        }
    }
}

#[test]
fn a_region_with_windows_stays() {
    let mut s = setup(Way::Card);
    let stag = s.alloc(StagKind::Window2);
    let binding = s.binding(stag);
    assert_eq!(s.does(SendOp::Bind(binding)), Status::Success);
    let (region, qp) = (s.region, s.pair.qps[0]);
    let gone = s.b.call(0, |e, now, card| e.deregister(now, region, card));
    assert_eq!(gone, Err(Error::InUse));
    // Its queue pair goes: it is bound to nothing.
    s.b.call(0, |e, now, card| e.destroy_qp(now, qp, card))
        .unwrap();
    s.b.call(0, |e, now, card| e.deregister(now, region, card))
        .unwrap();
    // By whatever key.
    s.b.call(0, |e, now, card| e.deregister(now, stag, card))
        .unwrap();
    let gone = s.b.call(0, |e, now, card| e.deregister(now, stag, card));
    assert_eq!(gone, Err(Error::UnknownStag(stag)));
}
