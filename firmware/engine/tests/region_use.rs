//! What work of this side uses stays what it is until the work is done: no byte is sent from, or placed into, memory that its STag did not name in the work's turn.
#![allow(missing_docs)]

use crate::bench;

use std::cell::Cell;
use std::rc::Rc;

use bench::*;
use weft_engine::*;
use weft_layout::StagRow;

const SIZE: u64 = 400_000;
const PEER: u64 = 500_000;

/// Host 0 registers parts of a region by work; host 1 is the peer.
struct Setup {
    b: Bench,
    qps: [QpId; 2],
    /// A second connection of the same domain.
    others: [QpId; 2],
    /// Host 0's region and its memory, and what gets a part of it by work.
    region: u32,
    iova: u64,
    fast: u32,
    /// Host 1's.
    peer: u32,
    peer_iova: u64,
    /// Frames of these hosts are lost.
    lost: Rc<Cell<[bool; 2]>>,
}

fn setup(way: Way) -> Setup {
    let mut b = Bench::by(way, 21);
    let params = ConnectParams {
        ord: 1,
        ..ConnectParams::default()
    };
    let [one, two] = [(); 2].map(|()| b.connect(&params, &AcceptParams::default()));
    let access = Access::LOCAL_WRITE | Access::BIND | Access::READ_SINK;
    let (region, iova) = b.hosts[0].region(SIZE, access);
    let pd = b.hosts[0].pd;
    let fast = b.hosts[0]
        .engine
        .alloc_stag(pd, StagKind::FastRegion)
        .unwrap();
    let access = Access::REMOTE_WRITE | Access::REMOTE_READ;
    let (peer, peer_iova) = b.hosts[1].region(PEER, access);
    let lost = Rc::new(Cell::new([false; 2]));
    let filter = lost.clone();
    b.tamper = Some(Box::new(move |from, _| !filter.get()[from]));
    Setup {
        b,
        qps: one.qps,
        others: two.qps,
        region,
        iova,
        fast: fast & !0xff,
        peer,
        peer_iova,
        lost,
    }
}

impl Setup {
    /// `length` bytes from `at` of the region are what the key names; tagged offsets begin at 0x1000.
    fn register(&self, key: u32, at: u64, length: u64, access: Access) -> SendOp {
        SendOp::FastRegister(Binding {
            stag: self.fast | key,
            base_to: 0x1000,
            region: self.region,
            region_to: 0x1000 + at,
            length,
            access,
        })
    }

    fn invalidate(&self, key: u32) -> SendOp {
        let stag = self.fast | key;
        SendOp::LocalInvalidate { stag }
    }

    fn key(&self, key: u32, at: u64, length: u32) -> [Sge; 1] {
        [sge(self.fast | key, at, length)]
    }

    #[track_caller]
    fn work(&mut self, qp: QpId, id: u64, op: SendOp, sges: &[Sge]) {
        let wr = SendWr {
            op,
            ..send(id, sges)
        };
        self.b.post_send(0, qp, &wr).unwrap();
    }

    fn to_peer(&self, at: u64) -> SendOp {
        SendOp::Write {
            stag: self.peer,
            to: 0x1000 + at,
        }
    }

    fn read_of_peer(&self, at: u64) -> SendOp {
        SendOp::Read {
            stag: self.peer,
            to: 0x1000 + at,
        }
    }

    /// Who sends has more to send than may be in flight.
    fn keep_busy(&mut self, qp: QpId) {
        let sges = [sge(self.region, 0, 200_000)];
        self.work(qp, 90, self.to_peer(100_000), &sges);
    }

    /// The ends of this many work requests, by number.
    #[track_caller]
    fn ends(&mut self, count: usize) -> Vec<(u64, Status)> {
        let got = self.b.completions_of(0, count, 100_000 * MS);
        let mut ends: Vec<_> = got.iter().map(|got| (got.wr_id, got.status)).collect();
        ends.sort_by_key(|end| end.0);
        ends
    }

    /// Where Read Responses may be placed by the STag: from, to behind. As the card has it.
    fn open(&self) -> Option<(u64, u64)> {
        let row = self.b.hosts[0].card.stag_row(self.fast);
        let open = row.valid & StagRow::VALID != 0 && row.access & StagRow::READ_SINK != 0;
        open.then(|| (row.iova, row.iova.wrapping_add(row.length)))
    }

    /// It is within these bytes of the region.
    #[track_caller]
    fn is_within(&self, from: u64, length: u64) {
        if let Some((start, end)) = self.open() {
            let room = self.iova + from..=self.iova + from + length;
            assert!(
                start <= end && room.contains(&start) && room.contains(&end),
                "{:#x} to {:#x} of {room:#x?}",
                start,
                end
            );
        }
    }

    #[track_caller]
    fn run(&mut self, time: u64, from: u64, length: u64) {
        let end = self.b.now + time;
        while self.b.now < end && self.b.step() {
            self.is_within(from, length);
        }
    }
}

const SINK: Access = Access::READ_SINK;

/// A part of the region is a sink; what the peer answers is lost. Two queue pairs of host 0.
fn with_sink() -> (Setup, [QpId; 2]) {
    let mut s = setup(Way::Card);
    let [qp, other] = [s.qps[0], s.others[0]];
    s.work(qp, 1, s.register(1, 0, 1000, SINK), &[]);
    s.ends(1);
    s.lost.set([false, true]);
    (s, [qp, other])
}

/// K1: bound anew, smaller, while a Read into it is in flight.
#[test]
fn a_sink_that_is_registered_anew_stays_within_its_region() {
    let (mut s, [qp, other]) = with_sink();
    let sink = s.key(1, 700, 50);
    s.work(qp, 2, s.read_of_peer(0), &sink);
    s.run(MS, 0, 1000);
    s.work(other, 3, s.invalidate(1), &[]);
    s.work(other, 4, s.register(1, 2000, 100, SINK), &[]);
    let sink = s.key(1, 0, 10);
    s.work(other, 5, s.read_of_peer(0), &sink);
    s.run(MS, 0, 2100);
    // Either the old ones are still there, or what is open is of the new ones.
    if s.b.hosts[0].completions.iter().any(|done| done.wr_id == 4) {
        s.is_within(2000, 100);
    } else {
        s.is_within(0, 1000);
    }
    s.lost.set([false; 2]);
    let ends = s.ends(4);
    assert_eq!(ends, [2, 3, 4, 5].map(|id| (id, Status::Success)));
    assert_eq!(s.open(), None, "no Read is in flight");
}

/// K1: a Read that waits to be issued finds its STag bound to less than it asks for.
#[test]
fn a_sink_that_has_shrunk_is_not_opened() {
    let (mut s, [qp, other]) = with_sink();
    // One at a time: the second waits.
    let sink = [sge(s.region, 5000, 50)];
    s.work(qp, 2, s.read_of_peer(0), &sink);
    let sink = s.key(1, 700, 50);
    s.work(qp, 3, s.read_of_peer(0), &sink);
    s.work(other, 4, s.invalidate(1), &[]);
    s.work(other, 5, s.register(1, 2000, 100, SINK), &[]);
    s.lost.set([false; 2]);
    let mut left = [true; 4];
    while left.contains(&true) {
        for (id, status) in s.ends(1) {
            left[id as usize - 2] = false;
            let well = matches!(status, Status::Success | Status::LocalProtection);
            assert!(well, "{id}: {status:?}");
        }
        match left[3] {
            true => s.is_within(0, 1000),
            false => s.is_within(2000, 100),
        }
    }
    assert_eq!(s.open(), None, "no Read is in flight");
}

/// K1: bound anew by another key; the Read's end closes what it has opened.
#[test]
fn a_sink_of_an_old_key_is_closed() {
    let (mut s, [qp, other]) = with_sink();
    let sink = s.key(1, 700, 50);
    s.work(qp, 2, s.read_of_peer(0), &sink);
    s.run(MS, 0, 1000);
    s.work(other, 3, s.invalidate(1), &[]);
    s.work(other, 4, s.register(2, 2000, 1000, SINK), &[]);
    s.b.run(MS);
    s.lost.set([false; 2]);
    let ends = s.ends(3);
    assert_eq!(ends, [2, 3, 4].map(|id| (id, Status::Success)));
    assert_eq!(s.open(), None, "no Read is in flight");
}

/// K3: behind a registration that waits in the queue it is the memory of the registration that is sent.
#[test]
fn a_write_sends_the_memory_that_it_names_when_issued() {
    for way in Way::ALL {
        let mut s = setup(way);
        let qp = s.qps[0];
        s.b.memory(0, s.iova + 300_000, 100).fill(1);
        s.b.memory(0, s.iova + 301_000, 100).fill(2);
        let access = Access::NONE;
        s.work(qp, 1, s.register(1, 300_000, 100, access), &[]);
        s.ends(1);
        s.keep_busy(qp);
        let source = s.key(1, 0, 100);
        s.work(qp, 2, s.to_peer(0), &source);
        s.work(qp, 3, s.invalidate(1), &[]);
        s.work(qp, 4, s.register(1, 301_000, 100, access), &[]);
        s.work(qp, 5, s.to_peer(100), &source);
        let ends = s.ends(5);
        assert_eq!(ends, [2, 3, 4, 5, 90].map(|id| (id, Status::Success)));
        assert_eq!(s.b.memory(1, s.peer_iova, 100), [1; 100], "{way:?}");
        assert_eq!(s.b.memory(1, s.peer_iova + 100, 100), [2; 100], "{way:?}");
    }
}

/// K3: what Linux' rdma_rw posts, in one list, behind other work.
#[test]
fn a_read_goes_to_what_is_registered_before_it_in_the_queue() {
    for way in Way::ALL {
        for busy in [false, true] {
            let mut s = setup(way);
            let qp = s.qps[0];
            s.b.memory(1, s.peer_iova, 50).fill(5);
            s.work(qp, 1, s.register(1, 0, 1000, SINK), &[]);
            s.ends(1);
            if busy {
                s.keep_busy(qp);
            }
            s.work(qp, 2, s.invalidate(1), &[]);
            s.work(qp, 3, s.register(2, 300_000, 1000, SINK), &[]);
            let sink = s.key(2, 10, 50);
            s.work(qp, 4, s.read_of_peer(0), &sink);
            let ends = s.ends(3 + usize::from(busy));
            assert!(ends.iter().all(|end| end.1 == Status::Success), "{ends:?}");
            assert_eq!(s.b.memory(0, s.iova + 300_010, 50), [5; 50], "{way:?}");
        }
    }
}

/// An STag that nobody registers in time ends its own work, behind what was before it, and the queue pair.
#[test]
fn work_whose_memory_is_not_registered_when_issued_fails_then() {
    for way in Way::ALL {
        let mut s = setup(way);
        let qp = s.qps[0];
        s.keep_busy(qp);
        let source = s.key(9, 0, 100);
        s.work(qp, 1, s.to_peer(0), &source);
        s.work(qp, 2, s.to_peer(0), &[]);
        let ends = s.ends(3);
        let expected = [
            (1, Status::LocalProtection),
            (2, Status::Flushed),
            (90, Status::Success),
        ];
        assert_eq!(ends, expected, "{way:?}");
    }
}

/// K4: a Write is not acknowledged, and its source is to go: what is sent again is what was there.
#[test]
fn what_is_sent_again_is_still_registered() {
    for way in Way::ALL {
        for by_key in [false, true] {
            let mut s = setup(way);
            let qp = s.qps[0];
            s.b.memory(0, s.iova, 100).fill(1);
            s.work(qp, 1, s.register(1, 0, 100, Access::NONE), &[]);
            s.ends(1);
            s.lost.set([true, false]);
            let source = s.key(1, 0, 100);
            s.work(qp, 2, s.to_peer(0), &source);
            if !by_key {
                s.work(qp, 3, s.invalidate(1), &[]);
            }
            s.b.run(MS);
            let (fast, region) = (s.fast | 2, s.region);
            let gone = s.b.call(0, |e, now, card| {
                if by_key {
                    e.deregister(now, fast, card)?;
                }
                e.deregister(now, region, card)
            });
            if gone.is_ok() {
                // Somebody else's from now on.
                s.b.memory(0, s.iova, 100).fill(0xee);
            }
            s.lost.set([false; 2]);
            s.ends(2 - usize::from(by_key));
            assert_eq!(s.b.memory(1, s.peer_iova, 100), [1; 100], "{way:?}");
            assert_eq!(gone, Err(Error::InUse));
            // And behind its end.
            if by_key {
                s.b.call(0, |e, now, card| e.deregister(now, fast, card))
                    .unwrap();
            }
            s.b.call(0, |e, now, card| e.deregister(now, region, card))
                .unwrap();
        }
    }
}

/// K14: however many queue pairs there are, nothing of them is looked at.
#[test]
fn deregistering_looks_at_no_queue() {
    let mut s = setup(Way::Card);
    for _ in 0..6 {
        s.b.hosts[0].qp();
    }
    let (stag, _) = s.b.hosts[0].region(10, Access::REMOTE_READ);
    let before = s.b.hosts[0].engine.stats().slots_looked_at;
    s.b.call(0, |e, now, card| e.deregister(now, stag, card))
        .unwrap();
    let after = s.b.hosts[0].engine.stats().slots_looked_at;
    assert_eq!(after - before, 0);
}

/// A peer takes the STag away under a Write that is not acknowledged: the memory stays all the same.
#[test]
fn a_peer_takes_no_memory_from_what_is_sent_again() {
    for way in Way::ALL {
        let mut s = setup(way);
        let qp = s.qps[0];
        s.b.memory(0, s.iova, 100).fill(1);
        s.work(qp, 1, s.register(1, 0, 100, Access::REMOTE_INVALIDATE), &[]);
        s.ends(1);
        s.b.post_recv(0, qp, 7, &[]).unwrap();
        s.lost.set([true, false]);
        let source = s.key(1, 0, 100);
        s.work(qp, 2, s.to_peer(0), &source);
        let op = SendOp::Send {
            solicited: false,
            invalidate: Some(s.fast | 1),
        };
        let wr = SendWr { op, ..send(8, &[]) };
        s.b.post_send(1, s.qps[1], &wr).unwrap();
        assert_eq!(s.ends(1), [(7, Status::Success)]);
        for stag in [s.region, s.fast | 1] {
            let gone = s.b.call(0, |e, now, card| e.deregister(now, stag, card));
            assert_eq!(gone, Err(Error::InUse), "{way:?}");
        }
        s.lost.set([false; 2]);
        assert_eq!(s.ends(1), [(2, Status::Success)]);
        assert_eq!(s.b.memory(1, s.peer_iova, 100), [1; 100], "{way:?}");
        for stag in [s.region, s.fast | 1] {
            s.b.call(0, |e, now, card| e.deregister(now, stag, card))
                .unwrap();
        }
    }
}

/// What another domain may give memory to cannot be kept by posting its name.
#[test]
fn another_domains_stag_is_refused_at_once() {
    let mut s = setup(Way::Card);
    let pd = s.b.hosts[0].engine.alloc_pd();
    let kind = StagKind::FastRegion;
    let stag = s.b.hosts[0].engine.alloc_stag(pd, kind).unwrap();
    let list = [sge(stag, 0, 1)];
    let refused = s.b.post_send(0, s.qps[0], &write(1, s.peer, 0x1000, &list));
    assert_eq!(refused, Err(Error::WrongPd(stag)));
    s.b.call(0, |e, now, card| e.deregister(now, stag, card))
        .unwrap();
}

/// A queue has room for so many inline bytes; what it has taken arrives as it was posted.
#[test]
fn inline_bytes_have_their_room() {
    for way in Way::ALL {
        let mut s = setup(way);
        let (room, inbox) = s.b.hosts[1].region(64 * 256, Access::LOCAL_WRITE);
        for slot in 0..64 {
            let list = [sge(room, 256 * slot, 256)];
            s.b.post_recv(1, s.qps[1], slot, &list).unwrap();
        }
        let mut taken = 0;
        for round in 0..4 {
            s.lost.set([true, false]);
            let first = taken;
            loop {
                let bytes = [taken as u8 + 1; 256];
                let wr = SendWr {
                    payload: Payload::Inline(&bytes[..256 - taken % 9]),
                    ..send(taken as u64, &[])
                };
                match s.b.post_send(0, s.qps[0], &wr) {
                    Ok(()) => taken += 1,
                    Err(error) => {
                        assert_eq!(error, Error::QueueFull);
                        break;
                    }
                }
                if taken == 16 * (round + 1) {
                    break;
                }
            }
            s.lost.set([false; 2]);
            let ends = s.ends(taken - first);
            assert!(ends.iter().all(|end| end.1 == Status::Success));
        }
        assert!(taken >= 32, "{taken}");
        for slot in 0..taken {
            let at = inbox + 256 * slot as u64;
            let length = 256 - slot % 9;
            let found = s.b.memory(1, at, 256).to_vec();
            assert!(found[..length].iter().all(|byte| *byte == slot as u8 + 1));
            assert!(found[length..].iter().all(|byte| *byte == 0));
        }
    }
}

/// More than there is room for is refused, and changes nothing of what waits.
#[test]
fn what_has_no_room_is_refused() {
    let mut s = setup(Way::Card);
    s.lost.set([true, false]);
    let (room, inbox) = s.b.hosts[1].region(64 * 256, Access::LOCAL_WRITE);
    let mut taken = 0;
    loop {
        let bytes = [taken as u8 + 1; 256];
        let wr = SendWr {
            payload: Payload::Inline(&bytes),
            ..send(taken as u64, &[])
        };
        match s.b.post_send(0, s.qps[0], &wr) {
            Ok(()) => taken += 1,
            refused => {
                assert_eq!(refused, Err(Error::QueueFull));
                break;
            }
        }
        let list = [sge(room, 256 * (taken as u64 - 1), 256)];
        s.b.post_recv(1, s.qps[1], 0, &list).unwrap();
    }
    assert!((8..64).contains(&taken), "{taken}");
    s.lost.set([false; 2]);
    s.ends(taken);
    for slot in 0..taken {
        let at = inbox + 256 * slot as u64;
        assert_eq!(s.b.memory(1, at, 256), [slot as u8 + 1; 256]);
    }
}
