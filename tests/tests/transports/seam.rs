//! What every transport owes the driver, tried on the transport itself.

use std::ptr::NonNull;
use std::sync::Arc;

use weft_hostdrv::dma::{publish, Pages, PAGE_SIZE};
use weft_hostdrv::transport::{Bar, Transport, TransportError};
use weft_hostdrv::{Device, DeviceConfig};
use weft_layout::{doorbell, pci, reg};
use weft_tests::bench::{Cards, Way};
use weft_tools::selftest;

fn cards(way: &Way) -> Cards {
    Cards::open(way, 1).expect("two cards open")
}

fn read(card: &dyn Transport, register: u32) -> u32 {
    card.read32(Bar::Registers, register).expect("readable")
}

fn write(card: &dyn Transport, register: u32, value: u32) {
    card.write32(Bar::Registers, register, value)
        .expect("writable");
}

pub fn a_card_says_who_it_is(way: &Way) {
    let cards = cards(way);
    for n in 0..2 {
        let card = cards.transport(n);
        let ids = u32::from(pci::DEVICE) << 16 | u32::from(pci::VENDOR);
        assert_eq!(card.config_read32(0), Ok(ids));
        let class = card.config_read32(8).expect("readable");
        assert_eq!(class >> 8, pci::CLASS);
        assert_eq!(read(&**card, reg::ID), reg::ID_RESET);
    }
    let names = [0, 1].map(|n| cards.transport(n).name());
    assert_ne!(names[0], names[1]);
}

pub fn reads_come_after_writes(way: &Way) {
    let cards = cards(way);
    let card = &**cards.transport(0);
    for n in 0..1000u32 {
        let value = n.wrapping_mul(0x9e37_79b9);
        write(card, reg::SCRATCH, !value);
        write(card, reg::SCRATCH, value);
        assert_eq!(read(card, reg::SCRATCH), value);
    }
    // The two cards are two.
    write(card, reg::SCRATCH, 1);
    write(&**cards.transport(1), reg::SCRATCH, 2);
    assert_eq!(read(card, reg::SCRATCH), 1);
}

pub fn new_memory_is_zeroed_aligned_and_apart(way: &Way) {
    let cards = cards(way);
    let card = cards.transport(0);
    let mut buffers = Vec::new();
    for len in [1, PAGE_SIZE, 3 * PAGE_SIZE + 1, 300_000, 3 << 20] {
        let buffer = card.dma_alloc(len).expect("memory");
        assert!(buffer.len() >= len);
        assert_eq!(buffer.len() % PAGE_SIZE, 0);
        assert_eq!(buffer.iova() % PAGE_SIZE as u64, 0);
        assert_eq!(buffer.as_ptr() as usize % PAGE_SIZE, 0);
        let bytes = buffer.memory().to_vec(0, buffer.len()).expect("inside");
        assert!(bytes.iter().all(|b| *b == 0), "{len} bytes");
        // What is dirty now must not come back as new.
        buffer.fill(0, buffer.len(), 0xa5).expect("inside");
        buffers.push(buffer);
    }
    let mut ranges: Vec<_> = buffers
        .iter()
        .map(|b| (b.iova(), b.iova() + b.len() as u64))
        .collect();
    ranges.sort_unstable();
    assert!(ranges.windows(2).all(|w| w[0].1 <= w[1].0), "{ranges:x?}");
    drop(buffers);
    let again = card.dma_alloc(300_000).expect("memory");
    let bytes = again.memory().to_vec(0, again.len()).expect("inside");
    assert!(bytes.iter().all(|b| *b == 0), "memory used before");
}

/// Lets a card fetch a job from this address; could it?
fn can_read(card: &dyn Transport, iova: u64) -> bool {
    const READ_ERROR: u32 = reg::Status::READ_ERROR;
    card.reset().expect("it can be reset");
    assert_eq!(read(card, reg::STATUS) & READ_ERROR, 0, "after reset");
    write(card, reg::JOB_BASE_LO, iova as u32);
    write(card, reg::JOB_BASE_HI, (iova >> 32) as u32);
    write(card, reg::JOB_LOG2, 4);
    write(card, reg::CTRL, reg::Ctrl::JOBS);
    publish();
    card.write32(Bar::Doorbells, doorbell::JOB_TAIL, 1)
        .expect("writable");
    // A card at rest with jobs posted has fetched them, or failed to.
    let limit = card.now() + 30_000_000_000;
    loop {
        let deadline = Some(card.now() + 1_000_000);
        card.wait(0, deadline).expect("it waits");
        // In this order: a job that could not be read is done as well, and the error is there before it is.
        let done = read(card, reg::JOB_DONE);
        let status = read(card, reg::STATUS);
        if status & READ_ERROR != 0 || done == 1 {
            card.reset().expect("it can be reset");
            return status & READ_ERROR == 0;
        }
        assert!(card.now() < limit, "STATUS {status:#x}, JOB_DONE {done}");
    }
}

pub fn a_card_reaches_what_is_mapped_and_nothing_else(way: &Way) {
    let cards = cards(way);
    let card = &**cards.transport(0);
    let buffer = card.dma_alloc(PAGE_SIZE).expect("memory");
    let iova = buffer.iova();
    assert!(can_read(card, iova), "allocated memory");
    assert!(!can_read(card, iova + PAGE_SIZE as u64), "behind it");
    // The other card has an address space of its own, unless it has the same addresses in use.
    assert!(!can_read(&**cards.transport(1), iova), "the other card");
    drop(buffer);
    assert!(!can_read(card, iova), "memory that was freed");

    let pages = Pages::new(4 * PAGE_SIZE).expect("memory");
    let bytes: Vec<u8> = (0..4 * PAGE_SIZE).map(|i| (i / 3) as u8).collect();
    let memory = pages.memory();
    memory.write(0, &bytes).expect("inside");
    memory.fill(PAGE_SIZE, PAGE_SIZE, 0).expect("inside");
    // SAFETY: the second page of four.
    let start = NonNull::new(unsafe { memory.as_ptr().add(PAGE_SIZE) }).expect("memory");
    // SAFETY: the pages live to the end of the test, and only `memory` accesses them, not during these calls.
    let iova = unsafe { card.map(start, 2 * PAGE_SIZE) }.expect("mapped");
    assert!(can_read(card, iova), "memory of the program");
    assert!(card.unmap(iova + PAGE_SIZE as u64, PAGE_SIZE).is_err());
    card.unmap(iova, 2 * PAGE_SIZE).expect("it is mapped");
    assert!(!can_read(card, iova), "memory that was unmapped");
    assert!(matches!(
        card.unmap(iova, 2 * PAGE_SIZE),
        Err(TransportError::Unmap { .. })
    ));
    // SAFETY: as above.
    assert!(unsafe { card.map(start, 100) }.is_err(), "half a page");
    let mut expected = bytes;
    expected[PAGE_SIZE..2 * PAGE_SIZE].fill(0);
    let now = memory.to_vec(0, 4 * PAGE_SIZE).expect("inside");
    assert!(now == expected, "the bytes stayed");
}

pub fn waits_keep_their_deadlines(way: &Way) {
    let cards = cards(way);
    let card = cards.transport(0);
    let before = card.now();
    assert_eq!(card.wait(0, Some(0)), Ok(false));
    assert_eq!(card.wait(0, Some(before)), Ok(false));
    let deadline = card.now() + 2_000_000;
    assert_eq!(card.wait(0, Some(deadline)), Ok(false));
    assert!(card.now() >= deadline);
}

pub fn reset_is_as_power_on(way: &Way) {
    let cards = cards(way);
    let card = &**cards.transport(0);
    let buffer = card.dma_alloc(PAGE_SIZE).expect("memory");
    write(card, reg::SCRATCH, 7);
    write(card, reg::MTU, 1518);
    card.reset().expect("it can be reset");
    assert_eq!(read(card, reg::SCRATCH), 0);
    assert_eq!(read(card, reg::CTRL), 0);
    assert_eq!(read(card, reg::ID), reg::ID_RESET);
    // Mappings are the host's and stay.
    assert!(can_read(card, buffer.iova()));
}

pub fn the_selftest_passes(way: &Way) {
    let cards = cards(way);
    let report = selftest::run(cards.transport(0), &[], |_| {});
    assert!(report.passed(), "{report}");
}

pub fn a_card_opens_again_and_again(way: &Way) {
    let cards = cards(way);
    let transport = cards.transport(0);
    for n in 0..10 {
        let config = DeviceConfig::new([2, 0, 0, 0, 0, n], [10, 0, 0, n].into());
        let device = Device::open(Arc::clone(transport), config).expect("it opens");
        let pd = device.alloc_pd().expect("a domain");
        let mr = pd.alloc_mr(100_000, weft_hostdrv::verbs::Access::LOCAL_WRITE);
        mr.expect("a region").fill(0, 100_000, n).expect("inside");
    }
}
