//! An engine at the card's settings, in a heap of the size that its budget says, with the firmware's allocator: whatever peers, strangers and programs do,
//! no allocation fails. Sizes are this machine's, and so is the sum of the budget; the firmware's are asserted where it is built.
#![allow(missing_docs)]

mod bench;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::{Cell, UnsafeCell};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

use bench::card::MEMORY;
use bench::crowd::{Came, Crowd, Says};
use bench::script::{message, Script};
use bench::*;
use linked_list_allocator::Heap;
use weft_engine::on_card::{configuration, record, CONNECTIONS};
use weft_engine::{budget, *};
use weft_wire::ddp::DdpHeader;
use weft_wire::mpa::Extensions;

const SECOND: u64 = 1000 * MS;
const PORT: u16 = 7000;

#[repr(align(64))]
struct Place(UnsafeCell<[u8; budget::NEEDED]>);

/// The card's memory for whoever calls the engine, the system's for all else.
struct Memory {
    heap: UnsafeCell<Option<Heap>>,
    place: Place,
}

// SAFETY: one thread uses the heap, the one that has set `INSIDE`.
unsafe impl Sync for Memory {}

thread_local! {
    /// The engine is at work.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Whose engine has the memory.
static ONE: Mutex<()> = Mutex::new(());
static PEAK: AtomicUsize = AtomicUsize::new(0);
static USED: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALL: Memory = Memory {
    heap: UnsafeCell::new(None),
    place: Place(UnsafeCell::new([0; budget::NEEDED])),
};

// SAFETY: each of both gives memory of its own, and gets back what it gave: that is told by the address.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !INSIDE.get() {
            // SAFETY: as this is called.
            return unsafe { System.alloc(layout) };
        }
        // SAFETY: one thread is inside.
        let heap = unsafe { &mut *self.heap.get() };
        let heap = heap.get_or_insert_with(|| {
            // SAFETY: the place is nobody else's.
            unsafe { Heap::new(self.place.0.get().cast(), budget::NEEDED) }
        });
        let found = heap.allocate_first_fit(layout);
        PEAK.fetch_max(heap.used(), Ordering::Relaxed);
        USED.store(heap.used(), Ordering::Relaxed);
        found.map_or(std::ptr::null_mut(), NonNull::as_ptr)
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        let first = self.place.0.get() as usize;
        if !(first..first + budget::NEEDED).contains(&(at as usize)) {
            // SAFETY: as this is called.
            return unsafe { System.dealloc(at, layout) };
        }
        // SAFETY: one thread has such memory.
        if let (Some(heap), Some(at)) = (unsafe { &mut *self.heap.get() }, NonNull::new(at)) {
            // SAFETY: as this is called.
            unsafe { heap.deallocate(at, layout) }
            USED.store(heap.used(), Ordering::Relaxed);
        }
    }
}

fn peer(n: u16) -> ([u8; 4], u16) {
    ([10, 0, 1 + n as u8, 9], 5000 + n)
}

/// The last request says as much as one may.
fn request(data: &[u8]) -> Vec<u8> {
    Script::request(RtrKinds::NONE, data)
}

/// All 32 connections, each with the queues that there are for it.
fn all_connections(c: &mut Crowd, longest: &[u8]) -> u32 {
    c.call_engine(|e, _, _| e.listen(PORT, 0)).unwrap();
    for n in 0..CONNECTIONS {
        let data = &longest[..usize::from(n) * 15];
        let request = Script::request_for(RtrKinds::NONE, Extensions::ALIGNED, data);
        c.call(peer(n), PORT, Says::These(request));
    }
    c.wait(SECOND);
    assert_eq!(
        c.count(|came| matches!(came, Came::Taken(_))),
        CONNECTIONS.into()
    );
    let (pd, access) = (c.pd, Access::LOCAL_WRITE | Access::REMOTE_WRITE);
    let stag = c.call_engine(|e, _, card| e.register(pd, 0, MEMORY, 1 << 20, access, card));
    let stag = stag.unwrap();
    let first = message(&DdpHeader::tagged(true, 0x40, stag, 0), &[7; 64]);
    for n in 0..CONNECTIONS {
        c.segment(peer(n), 0, &first, 0, &[]);
    }
    let standing = c
        .events
        .iter()
        .filter(|e| matches!(e, Event::Established { .. }));
    assert_eq!(standing.count(), CONNECTIONS.into());
    stag
}

/// A peer that has half of what was sent to it, octet by octet.
fn every_second_octet(c: &mut Crowd, name: ([u8; 4], u16)) {
    for n in 0..400_u32 {
        let block = |k: u32| (1 + 6 * n + 2 * k, 2 + 6 * n + 2 * k);
        c.segment(name, 96, &[], 0, &[block(2), block(1), block(0)]);
    }
}

/// A peer whose first segment is lost, and whose messages end in each second of those behind it.
fn messages_beyond_gaps(c: &mut Crowd, name: ([u8; 4], u16)) {
    let before = c.card.beyond;
    for island in 0..8 {
        let of = |n: u32, last| {
            let header = DdpHeader::untagged(last, 0x43, 0, 0, 2 * island + n + 1, 0);
            message(&header, &[9; 40])
        };
        // The end of one, a whole one, and the begin of one more.
        let octets = [of(0, true), of(1, true), of(2, false)];
        let octets = octets[..if island < 7 { 3 } else { 2 }].concat();
        c.segment(name, 96 + 60_000 + 400 * island, &octets, 0, &[]);
    }
    assert_eq!(c.card.beyond - before, 8);
}

/// At the card's settings; queues of this depth.
fn crowd(depth: u32) -> Crowd {
    let settings = EngineConfig {
        rung: Rung::Firmware,
        ..EngineConfig::default()
    };
    let config = configuration(&record(&settings).unwrap()).unwrap();
    let config = EngineConfig {
        num_flows: on_card::FLOWS,
        num_stags: on_card::STAGS,
        netmask: [255, 255, 0, 0],
        ..config
    };
    let mut c = Crowd::hooked(config, |inside| INSIDE.set(inside));
    (c.stays, c.aligned, c.depth) = (true, true, depth);
    c
}

/// Bytes in use when so many messages have come, before the stream did or with it; and when the connection is in TIME_WAIT.
fn after_messages(count: u32, early: bool) -> [usize; 2] {
    let mut c = crowd(64);
    c.call_engine(|e, _, _| e.listen(PORT, 0)).unwrap();
    let request = Script::request_for(RtrKinds::NONE, Extensions::ALIGNED, b"");
    let name = c.call(peer(0), PORT, Says::These(request));
    c.wait(SECOND);
    let access = Access::LOCAL_WRITE | Access::REMOTE_WRITE;
    let (pd, (conn, qp)) = (c.pd, c.taken[0]);
    let stag = c.call_engine(|e, _, card| e.register(pd, 0, MEMORY, 1 << 20, access, card));
    let stag = stag.unwrap();
    let sges = [sge(stag, 0, 1000)];
    for id in 0..count.into() {
        let recv = RecvWr { id, sges: &sges };
        let posted = c.call_engine(|e, now, card| e.post_recv(now, qp, &recv, card));
        posted.unwrap();
    }
    let writes = message(&DdpHeader::tagged(true, 0x40, stag, 0), &[7; 64]);
    let sends: Vec<u8> = (1..=count)
        .flat_map(|msn| message(&DdpHeader::untagged(true, 0x43, 0, 0, msn, 0), &[9; 4]))
        .collect();
    let length = writes.len() as u32;
    c.segment(name, 0, &writes, 0, &[]);
    let mut two = [(length, &writes), (2 * length, &sends)];
    if early {
        two.reverse();
    }
    for (at, octets) in two {
        c.segment(name, at, octets, 0, &[]);
    }
    assert_eq!(c.card.beyond, early.into());
    let mut complete = 0;
    while c.call_engine(|e, _, _| e.poll_completion()).is_some() {
        complete += 1;
    }
    assert_eq!(complete, count);
    let stands = USED.load(Ordering::Relaxed);
    c.call_engine(|e, now, card| e.disconnect(now, conn, card))
        .unwrap();
    c.work();
    c.closes(name, 2 * length + sends.len() as u32, 0);
    let is_over = |e: &Event| matches!(e, Event::Disconnected { .. });
    assert!(c.events.iter().any(is_over), "{:?}", c.events);
    assert!(c.engine.next_deadline().is_some(), "no TIME_WAIT");
    [stands, USED.load(Ordering::Relaxed)]
}

/// Messages beyond a gap leave no memory that grows with them, and none at all where their queue pair is gone.
#[test]
fn messages_beyond_gaps_leave_no_memory() {
    let _one = ONE.lock();
    let few = [after_messages(3, false), after_messages(3, true)];
    let many = [after_messages(40, false), after_messages(40, true)];
    println!("{few:?} {many:?}");
    for [plain, early] in [few, many] {
        assert_eq!(plain[1], early[1], "{few:?} {many:?}");
    }
    assert_eq!(many[0][0], many[1][0], "{few:?} {many:?}");
}

#[test]
fn no_allocation_fails() {
    let _one = ONE.lock();
    let longest = [5; 508];
    let mut c = crowd(16);
    let at_rest = USED.load(Ordering::Relaxed);
    let stag = all_connections(&mut c, &longest);

    // Work in each queue; nothing is acknowledged.
    let taken = c.taken.clone();
    let sges = [sge(stag, 0, 1000)];
    for (_, qp) in &taken {
        for n in 0..16 {
            let posted = c.call_engine(|e, now, card| {
                e.post_send(now, *qp, &write(n, 1 << 8, 0, &sges), card)
            });
            posted.unwrap();
            let recv = RecvWr { id: n, sges: &sges };
            let posted = c.call_engine(|e, now, card| e.post_recv(now, *qp, &recv, card));
            posted.unwrap();
        }
    }
    c.work();
    // A message for each receive that nothing has come for before, in as many islands as there may be.
    for n in 0..CONNECTIONS {
        messages_beyond_gaps(&mut c, peer(n));
    }
    for n in 0..CONNECTIONS {
        every_second_octet(&mut c, peer(n));
    }
    // Peers whose every second segment is lost, as far as the window goes; and small ones, as many as there are.
    for round in 0..3_u32 {
        for n in 0..CONNECTIONS {
            for k in 0..60_u32 {
                let (at, length) = match round {
                    0 => (96 + 40 + 80 * k, 20),
                    1 => (2000 + 2600 * k, 1300),
                    _ => (96 + 1460 * k + 700, 700),
                };
                c.segment(peer(n), at, &vec![3; length], 0, &[]);
            }
        }
        c.wait(50 * MS);
    }
    // The begin of an FPDU that never ends, in order.
    for n in 0..CONNECTIONS {
        let mut octets = vec![0; 1400];
        octets[..2].copy_from_slice(&1500_u16.to_be_bytes());
        c.segment(peer(n), 96, &octets, 0, &[]);
    }
    // Strangers of all kinds, and a station that has every address.
    for n in 0..2000_u16 {
        let says = match n % 4 {
            0 => Says::Nothing,
            1 => Says::These(request(&longest)[..500].to_vec()),
            2 => Says::These(request(&longest)),
            _ => Says::These(vec![0; 1400]),
        };
        c.call(([10, 0, 200, (n % 250) as u8 + 1], 2000 + n), PORT, says);
        let mac = [2, 9, 0, 0, (n >> 8) as u8, n as u8];
        let who = peer(n % CONNECTIONS).0;
        c.card.receive(&arp_request(mac, who, [10, 0, 0, 1]));
        c.wait(5 * MS);
    }
    // A program that asks for all there is of everything.
    let mut made = 0;
    while c.call_engine(|e, _, _| e.listen(0, 0)).is_ok() {
        made += 1;
    }
    let (pd, config) = (
        c.pd,
        QpConfig {
            pd: c.pd,
            send_depth: 1,
            recv_depth: 1,
            max_sge: 1,
            rung: None,
        },
    );
    while c
        .call_engine(|e, _, card| e.create_qp(&config, card))
        .is_ok()
    {
        made += 1;
    }
    let srq = SrqConfig {
        pd,
        depth: 1,
        max_sge: 1,
        limit: 0,
    };
    while c.call_engine(|e, _, _| e.create_srq(&srq)).is_ok() {
        made += 1;
    }
    while c
        .call_engine(|e, _, card| e.register(pd, 0, MEMORY, 64, Access::NONE, card))
        .is_ok()
    {
        made += 1;
    }
    assert!(made > 1000, "{made}");
    let command = commands::alloc_pd();
    while c
        .call_engine(|e, now, card| commands::outcome(&e.execute(now, &command, &[], card)).is_ok())
    {
    }
    let peak = PEAK.load(Ordering::Relaxed);
    println!(
        "{at_rest} at rest, {peak} at most of {} bytes",
        budget::NEEDED
    );
    // What was asked for is most of what there is.
    assert!(peak > budget::NEEDED / 100 * 88, "{peak}");

    // It is all over: nothing has grown.
    for _ in 0..4 {
        c.wait(200 * SECOND);
    }
    let stats = *c.engine.stats();
    assert!(stats.segments_without_memory > 1000, "{stats:?}");
    assert!(
        stats.timeouts > 100 && stats.strangers_gave_way > 400,
        "{stats:?}"
    );
    assert!(
        c.engine.next_deadline().is_none(),
        "{:?}",
        c.engine.next_deadline()
    );
    let count = |is: fn(&Event) -> bool| c.events.iter().filter(|event| is(event)).count();
    // Of those that the program never heard of it does not hear that they are forgotten.
    let forgotten = count(|event| matches!(event, Event::Forgotten { .. }));
    let asked = count(|event| matches!(event, Event::ConnectRequest { .. }));
    assert_eq!(forgotten, asked);
    let after = USED.load(Ordering::Relaxed);
    assert!(after < peak - 50_000, "{after} of {peak}");
}
