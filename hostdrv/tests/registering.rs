//! Memory of the program's: any bytes, any number of times, and back.

use std::ptr::NonNull;

use weft_hostdrv::dma::{page_size, Pages};
use weft_hostdrv::transport::TransportError;
use weft_hostdrv::verbs::*;
use weft_hostdrv::DeviceError;
use weft_layout::{reg, table};

use crate::fake::{connecting, open, FakeCard, Fault};

/// Three pages that are mapped nowhere, and their first byte.
fn memory() -> (Pages, NonNull<u8>) {
    let pages = Pages::new(3 * page_size()).expect("memory");
    let first = NonNull::new(pages.memory().as_ptr()).expect("not null");
    (pages, first)
}

#[test]
fn any_bytes_at_any_address_are_a_region() {
    let card = FakeCard::new();
    let (device, pd, _) = open(&card);
    let (pages, first) = memory();
    let page = page_size();
    // SAFETY: the pages outlive the device, and are accessed by regions alone.
    let reg = |at: usize, len| unsafe { pd.reg_raw(first.add(at), len, Access::LOCAL_WRITE) };
    let lengths = |card: &FakeCard| {
        let inner = card.lock();
        let mut lengths: Vec<_> = inner.foreign.values().map(|m| m.len() / page).collect();
        lengths.sort_unstable();
        lengths
    };
    // Unaligned, of any length, side by side, one over the other, twice the same.
    let cases = [
        (100, 5000),
        (0, 1),
        (1, 7),
        (8, page),
        (page - 1, 2),
        (0, 3 * page),
        (1, 7),
    ];
    let regions = cases.map(|(at, len)| reg(at, len).expect("any bytes"));
    for (n, (region, (at, len))) in regions.iter().zip(cases).enumerate() {
        let address = first.as_ptr() as u64 + at as u64;
        assert_eq!(
            (region.addr(), region.len()),
            (address, len),
            "as the program has it"
        );
        assert_eq!(region.as_ptr() as u64, address);
        assert_eq!(region.remote().rkey, region.lkey());
        region.write(len - 1, &[n as u8 + 1]).expect("inside");
        assert_eq!(pages.memory().read_u8(at + len - 1), Ok(n as u8 + 1));
        region.write(len, &[0]).expect_err("outside");
        // What the card is told: the byte itself, not its page.
        let row = card.lock().rows[&(table::STAG, region.lkey() >> 8)];
        let word = |i: usize| u64::from_le_bytes(std::array::from_fn(|b| row[8 * i + b]));
        let words: Vec<u64> = (0..8).map(word).collect();
        assert!(words.contains(&address), "{words:x?}");
        let inner = card.lock();
        let begins = |iova: u64| {
            let (start, memory) = inner.foreign.range(..=iova).next_back()?;
            Some(memory.as_ptr() as u64 + iova - start)
        };
        assert!(
            words.iter().any(|iova| begins(*iova) == Some(address)),
            "{words:x?}"
        );
    }
    // Each run of pages is mapped once: the first, the first two, all three.
    assert_eq!(lengths(&card), [1, 2, 3]);
    let [a, b, c, d, e, f, g] = regions;
    for region in [b, c, a, d] {
        region.dereg().expect("nobody uses it");
    }
    assert_eq!(lengths(&card), [1, 2, 3], "others have the same pages");
    g.dereg().expect("nobody uses it");
    assert_eq!(lengths(&card), [2, 3]);
    e.dereg().expect("nobody uses it");
    f.dereg().expect("nobody uses it");
    assert!(lengths(&card).is_empty());
    // Mapped anew.
    let again = reg(1, 7).expect("as before");
    assert_eq!(lengths(&card), [1]);
    drop(again);
    device.progress().expect("nothing is wrong");
    device.progress().expect("nothing is wrong");
    assert!(lengths(&card).is_empty());
}

#[test]
fn no_bytes_are_no_region() {
    let card = FakeCard::new();
    let (_, pd, _) = open(&card);
    let at = |address: usize| NonNull::new(std::ptr::without_provenance_mut(address));
    let top = usize::MAX - 100;
    for (address, len) in [
        (page_size(), 0),
        (8, 8),
        (top, 50),
        (page_size(), usize::MAX),
    ] {
        let ptr = at(address).expect("not null");
        // SAFETY: there is no such memory, which is found before anything is done with it.
        let refused = unsafe { pd.reg_raw(ptr, len, Access::NONE) }.expect_err("no memory");
        assert_eq!(refused, VerbsError::NoSuchMemory { address, len });
    }
    assert!(
        card.lock().foreign.is_empty(),
        "what is refused is not mapped"
    );
}

#[test]
fn an_address_of_the_caller_s_choice() {
    let card = FakeCard::new();
    let (_, pd, _) = open(&card);
    let (_pages, first) = memory();
    // SAFETY: the pages outlive the device, and are accessed by regions alone.
    let region = unsafe { pd.reg_raw_at(first.add(3), 10, 0, Access::NONE) }.expect("a region");
    assert_eq!(region.addr(), 0);
    region.reg_part(&pd, 2, 8, Access::NONE).expect("a part");
}

/// Two regions of one page: who got one back may use its bytes for something else, though the page stays mapped.
#[test]
fn a_region_that_shares_its_page_waits_for_the_fence() {
    let card = FakeCard::new();
    let (device, pd, _) = open(&card);
    let (_pages, first) = memory();
    // SAFETY: the pages outlive the device, and are accessed by regions alone.
    let reg = |at: usize| unsafe { pd.reg_raw(first.add(at), 8, Access::LOCAL_WRITE) };
    let (mine, _other) = (reg(0).expect("a region"), reg(8).expect("a region"));
    let ended = card.register(reg::FENCE_DONE);
    card.lock().fault = Some(Fault::Register(reg::FENCE_DONE, ended));
    let refused = mine.dereg().expect_err("a write may still land");
    assert!(
        matches!(refused.error, VerbsError::StaysMapped { .. }),
        "{refused}"
    );
    card.lock().fault = None;
    device.progress().expect("nothing is wrong");
    reg(0)
        .expect("a region")
        .dereg()
        .expect("the fence has ended");
}

/// A region that work uses is not deregistered, and its handle is as good as before; so is a queue's.
#[test]
fn what_is_refused_gives_its_handle_back() {
    let card = FakeCard::new();
    let (device, pd, mr) = open(&card);
    let cq = device.create_cq(16, None).expect("a queue");
    let (_id, qp) = connecting(&device, &pd, &cq, 4);
    qp.post_recv(RecvWr::new(7).sge(mr.sge(0, 64)))
        .expect("room");
    let refused = mr.dereg().expect_err("a receive has it");
    let lkey = match refused.error {
        VerbsError::RegionInUse { lkey, uses: 0 } => lkey,
        other => panic!("{other}"),
    };
    let mr = refused.handle.expect("as it was");
    assert_eq!(mr.lkey(), lkey);
    qp.post_recv(RecvWr::new(8).sge(mr.sge(64, 64)))
        .expect("it is a region");
    let other = device.alloc_pd().expect("a domain");
    let refused = mr.rereg(&other, Access::LOCAL_WRITE).expect_err("in use");
    let mr = refused.handle.expect("as it was");
    assert_eq!((mr.lkey(), mr.pd().device().name()), (lkey, device.name()));
    qp.modify(QpState::Error).expect("possible");
    assert_eq!(cq.poll(4).expect("flushed").len(), 2);
    // The work is done; that card does no jobs, so what it may be busy with stays mapped.
    let refused = mr.dereg().expect_err("a job is under way");
    assert!(
        matches!(refused.error, VerbsError::StaysMapped { .. }),
        "{refused}"
    );
    assert!(refused.handle.is_none(), "the region is gone");

    let srq = pd.create_srq(&SrqInit::default()).expect("a queue");
    let second = srq.clone();
    let refused = srq.destroy().expect_err("another handle");
    let srq = refused.handle.expect("as it was");
    assert_eq!(srq.srq_num(), second.srq_num());
    drop(second);
    srq.destroy().expect("the last handle");
}

#[test]
fn deregistering_says_how_it_ended() {
    let card = FakeCard::new();
    let (device, pd, _) = open(&card);
    let region = || {
        let pages = Pages::new(1).expect("memory");
        pd.reg_owned(pages, Access::LOCAL_WRITE).expect("a region")
    };
    let mr = region();
    let handle = mr.clone();
    let refused = mr.dereg().expect_err("in use");
    assert!(
        matches!(refused.error, VerbsError::RegionInUse { uses: 1, .. }),
        "{refused}"
    );
    drop(refused.handle.expect("as it was"));
    handle.dereg().expect("the last handle");
    // A transport that cannot unmap.
    let mr = region();
    card.lock().foreign.clear();
    let Refused { error, handle } = mr.dereg().expect_err("not mapped");
    assert!(handle.is_none(), "the region is gone");
    assert!(
        matches!(
            error,
            VerbsError::Device(DeviceError::Transport(TransportError::Unmap { .. }))
        ),
        "{error}"
    );
    // A card whose fence does not end.
    let mr = region();
    let ended = card.register(reg::FENCE_DONE);
    card.lock().fault = Some(Fault::Register(reg::FENCE_DONE, ended));
    let error = mr.dereg().expect_err("it may still be reached").error;
    assert!(matches!(error, VerbsError::StaysMapped { .. }), "{error}");
    assert_eq!(card.lock().foreign.len(), 1, "and so it is not unmapped");
    card.lock().fault = None;
    device.progress().expect("nothing is wrong");
    assert!(card.lock().foreign.is_empty());
}

#[test]
fn slices_and_values_of_a_region() {
    let card = FakeCard::new();
    let (device, pd, mr) = open(&card);
    let slice = mr.slice(100..200).expect("inside");
    assert_eq!((slice.len(), mr.slice(..).expect("all").len()), (100, 4096));
    slice.write(3, b"bytes").expect("inside");
    assert_eq!(mr.to_vec(103, 5).expect("inside"), b"bytes");
    let inner = slice.slice(3..=7).expect("inside");
    assert_eq!(inner.to_vec().expect("inside"), b"bytes");
    let whole = mr.remote();
    let remote = RemoteRegion {
        addr: whole.addr + 103,
        length: 5,
        ..whole
    };
    assert_eq!(inner.remote(), remote);
    inner.fill(7).expect("inside");
    assert_eq!(mr.to_vec(102, 7).expect("inside"), [0, 7, 7, 7, 7, 7, 0]);
    for refused in [
        slice.write(99, &[1; 2]),
        slice.read(usize::MAX, &mut [0; 2]),
        slice.slice(50..101).map(drop),
        mr.slice(4000..4097).map(drop),
        mr.slice((
            std::ops::Bound::Excluded(usize::MAX),
            std::ops::Bound::Unbounded,
        ))
        .map(drop),
    ] {
        assert!(
            matches!(refused, Err(VerbsError::OutOfBounds(_))),
            "{refused:?}"
        );
    }
    let backwards = std::ops::Range { start: 5, end: 4 };
    assert!(matches!(
        mr.slice(backwards),
        Err(VerbsError::OutOfBounds(_))
    ));

    // Numbers at any place, and behind the last whole one.
    let view = mr.slice(201..220).expect("inside").view::<u32>();
    assert_eq!(view.len(), 4);
    view.set(3, &0x0403_0201).expect("a value");
    assert_eq!(view.get(3).expect("a value"), 0x0403_0201);
    assert_eq!(
        mr.to_vec(213, 4).expect("inside"),
        0x0403_0201u32.to_ne_bytes()
    );
    assert!(view.get(4).is_err() && view.set(usize::MAX, &1).is_err());
    let rows = mr.slice(..).expect("all").view::<[f64; 100]>();
    assert_eq!(rows.len(), 5);
    let row = std::array::from_fn(|n| n as f64 / 3.0);
    rows.set(4, &row).expect("a value");
    assert_eq!(rows.get(4).expect("a value"), row);

    // A slice is an SGE.
    let cq = device.create_cq(16, None).expect("a queue");
    let (_id, qp) = connecting(&device, &pd, &cq, 4);
    let sge = mr.slice(4095..).expect("inside").sge().expect("short");
    qp.post_recv(RecvWr::new(1).sge(sge)).expect("room");
}

/// Any number of places is a queue; what is asked for is there.
#[test]
fn queues_of_any_size() {
    let card = FakeCard::new();
    let (device, ..) = open(&card);
    for cqe in [1, 2, 3, 5, 63, 64, 65, 1000, 4095, 100_003] {
        let cq = device.create_cq(cqe, None).expect("any number");
        assert_eq!(cq.cqe(), cqe);
    }
    let most = device.attributes().max_cqe;
    for cqe in [0, most + 1, usize::MAX] {
        let refused = device.create_cq(cqe, None).expect_err("none, or too many");
        assert!(
            matches!(refused, VerbsError::InvalidSize { .. }),
            "{refused}"
        );
    }
}
