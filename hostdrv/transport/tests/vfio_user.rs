//! The vfio-user transport with a server that behaves: a toy device with DMA and interrupts.

use crate::toy;

use std::ptr::NonNull;
use std::sync::Arc;

use toy::{Toy, COUNT, DIE, FAULT, RAISE, REFUSE, RESETS, SCRATCH, SOURCE, TARGET, VECTORS};
use weft_card_transport::dma::{Pages, PAGE_SIZE};
use weft_card_transport::{Bar, OfProcess, OpenError, Transport, TransportError};

fn open(toy: &Toy) -> Arc<dyn Transport> {
    weft_card_transport::open(&toy.spec()).expect("opens")
}

fn read(card: &dyn Transport, offset: u32) -> u32 {
    card.read32(Bar::Registers, offset).expect("readable")
}

fn write(card: &dyn Transport, offset: u32, value: u32) {
    card.write32(Bar::Registers, offset, value)
        .expect("writable");
}

/// Lets the device copy; answers whether it could.
fn copy(card: &dyn Transport, from: u64, to: u64, count: u32) -> bool {
    for (register, address) in [(SOURCE, from), (TARGET, to)] {
        write(card, register, address as u32);
        write(card, register + 4, (address >> 32) as u32);
    }
    write(card, COUNT, count);
    read(card, FAULT) == 0
}

#[test]
fn registers_in_order_and_within_their_bars() {
    let toy = Toy::start();
    let card = open(&toy);
    assert_eq!(card.config_read32(0), Ok(0x5746_fffe));
    assert_eq!(toy.seen.lock().expect("no panic").command & 6, 6);
    for n in 0..100 {
        write(&*card, SCRATCH, n);
        card.write32(Bar::Doorbells, 4 * n, n).expect("writable");
        assert_eq!(read(&*card, SCRATCH), n);
    }
    let seen = toy.seen.lock().expect("no panic").writes.clone();
    let expected = (0..100).flat_map(|n| [(0, SCRATCH.into(), n), (2, u64::from(4 * n), n)]);
    assert_eq!(seen, expected.collect::<Vec<_>>(), "posted in order");
    for offset in [1, 2, 0x1_0000, u32::MAX - 3] {
        let error = card.read32(Bar::Registers, offset).expect_err("outside");
        assert!(matches!(error, TransportError::Mmio { .. }), "{error}");
        assert!(card.write32(Bar::Doorbells, offset, 0).is_err());
    }
    assert!(card.config_read32(256).is_err());
    assert_eq!(read(&*card, SCRATCH), 99, "the connection lives");
}

#[test]
fn memory_is_reachable_while_it_is_mapped() {
    let mut toy = Toy::start();
    let card = open(&toy);
    let a = card.dma_alloc(3 * PAGE_SIZE).expect("memory");
    let b = card.dma_alloc(1).expect("memory");
    assert_eq!((a.len(), b.len()), (3 * PAGE_SIZE, PAGE_SIZE));
    assert_eq!(a.iova() % PAGE_SIZE as u64, 0);
    assert!(a.iova() > u64::from(u32::MAX));
    let zeroes = a.memory().to_vec(0, a.len()).expect("inside");
    assert!(zeroes.iter().all(|b| *b == 0));
    a.write(5000, b"over there").expect("inside");
    assert!(copy(&*card, a.iova() + 5000, b.iova() + 7, 10));
    assert_eq!(b.memory().to_vec(7, 10).expect("inside"), b"over there");
    // Just past the end, and after it was dropped.
    assert!(!copy(&*card, a.iova(), b.iova() + PAGE_SIZE as u64, 1));
    let gone = b.iova();
    drop(b);
    assert!(!copy(&*card, a.iova(), gone, 1));
    // The hole is used again.
    assert_eq!(card.dma_alloc(1).expect("memory").iova(), gone);
    // Memory that outlives its transport keeps the connection, and gives all back in the end.
    drop(card);
    assert_eq!(toy.seen.lock().expect("no panic").mappings.len(), 1);
    a.fill(0, 10, 1).expect("inside");
    drop(a);
    toy.end();
    let seen = toy.seen.lock().expect("no panic");
    assert!(seen.mappings.is_empty(), "{:?}", seen.mappings);
    assert_eq!((seen.vectors, seen.command & 4), (0, 0), "put to rest");
}

#[test]
fn memory_of_the_program() {
    let toy = Toy::start();
    let card = open(&toy);
    let pages = Pages::new(3 * PAGE_SIZE).expect("memory");
    let memory = pages.memory();
    let pattern: Vec<u8> = (0..3 * PAGE_SIZE).map(|i| (i / 5) as u8).collect();
    memory.write(0, &pattern).expect("inside");
    let start = NonNull::new(memory.as_ptr()).expect("memory");
    // SAFETY: the pages live to the end of the test, and only `memory` accesses them.
    let iova = unsafe { card.map(start, 3 * PAGE_SIZE) }.expect("mapped");
    assert!(copy(&*card, iova + 100, iova + 9000, 500));
    let mut expected = pattern.clone();
    expected.copy_within(100..600, 9000);
    let all = |what: &str| {
        let now = memory.to_vec(0, 3 * PAGE_SIZE).expect("inside");
        assert_eq!(now, expected, "{what}");
    };
    all("while mapped");
    for (at, len) in [(iova, PAGE_SIZE), (iova + 4096, PAGE_SIZE), (0, PAGE_SIZE)] {
        assert!(card.unmap(at, len).is_err(), "{at:#x}");
    }
    card.unmap(iova, 3 * PAGE_SIZE).expect("it is mapped");
    all("after it was");
    assert!(card.unmap(iova, 3 * PAGE_SIZE).is_err(), "twice");
    assert!(!copy(&*card, iova, iova + 4096, 4));
    // Another page of the same memory, once more; half pages are refused.
    // SAFETY: as above.
    let again = unsafe { card.map(start, PAGE_SIZE) }.expect("mapped");
    card.unmap(again, PAGE_SIZE).expect("it is mapped");
    all("after the second time");
    // SAFETY: as above.
    assert!(unsafe { card.map(start, 100) }.is_err());
}

/// A child that drops what it inherited ends neither the connection nor the card's work, and sees nothing of the memory.
#[test]
fn a_child_leaves_the_card_to_its_parent() {
    let toy = Toy::start();
    let card: Arc<dyn Transport> = Arc::new(OfProcess::new(open(&toy)));
    let memory = card.dma_alloc(2 * PAGE_SIZE).expect("memory");
    memory.write(0, b"of the parent").expect("inside");
    let mut inherited = Some((card, memory));
    // SAFETY: the child calls what a copy of this thread may call, and ends without unwinding.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: a child that hangs ends by itself.
        unsafe { libc::alarm(20) };
        let Some((card, memory)) = inherited.take() else {
            std::process::abort();
        };
        let refused = card.read32(Bar::Registers, RESETS);
        let mut right = matches!(refused, Err(TransportError::Inherited { .. }));
        right &= card.dma_alloc(1).is_err() && card.lost().is_some();
        right &= memory.memory().to_vec(0, 13) == Ok(vec![0; 13]);
        right &= memory.write(0, b"of the child!") == Ok(());
        drop((card, memory));
        // SAFETY: nothing of the parent's is undone.
        unsafe { libc::_exit(i32::from(!right)) };
    }
    let mut status = -1;
    // SAFETY: `status` is there.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0);
    let (card, memory) = inherited.expect("still the parent's");
    assert_eq!(read(&*card, RESETS), 0, "a child resets nothing");
    assert!(copy(&*card, memory.iova(), memory.iova() + 4096, 13));
    assert_eq!(
        memory.memory().to_vec(4096, 13).expect("inside"),
        b"of the parent"
    );
}

#[test]
fn interrupts_wake_and_are_counted_as_one() {
    let toy = Toy::start();
    let card = open(&toy);
    assert_eq!(toy.seen.lock().expect("no panic").vectors, VECTORS as usize);
    assert_eq!(card.wait(0, Some(0)), Ok(false));
    let until = card.now() + 3_000_000;
    assert_eq!(card.wait(0, Some(until)), Ok(false));
    assert!(card.now() >= until);
    for _ in 0..3 {
        write(&*card, RAISE, 19);
    }
    assert_eq!(card.wait(19, None), Ok(true));
    assert_eq!(card.wait(19, Some(0)), Ok(false));
    assert!(card.wait(VECTORS as u16, Some(0)).is_err());
    assert!(card.interrupt_fd(0).is_some() && card.interrupt_fd(VECTORS as u16).is_none());
    std::thread::scope(|scope| {
        let sleeper = scope.spawn(|| card.wait(1, None));
        write(&*card, RAISE, 1);
        assert_eq!(sleeper.join().expect("no panic"), Ok(true));
    });
}

#[test]
fn reset() {
    let toy = Toy::start();
    let card = open(&toy);
    write(&*card, SCRATCH, 5);
    let resets = read(&*card, RESETS);
    card.reset().expect("it can");
    assert_eq!(
        (read(&*card, SCRATCH), read(&*card, RESETS)),
        (0, resets + 1)
    );
    assert_eq!(
        card.config_read32(4).map(|c| c & 6),
        Ok(6),
        "bus master again"
    );
}

#[test]
fn what_the_server_refuses_is_an_error_and_no_more() {
    let toy = Toy::start();
    let card = open(&toy);
    let error = card.write32(Bar::Registers, REFUSE, 1);
    let text = error.expect_err("refused").to_string();
    assert!(text.contains("refused"), "{text}");
    write(&*card, SCRATCH, 7);
    assert_eq!(read(&*card, SCRATCH), 7);
}

#[test]
fn a_server_that_dies_ends_every_call() {
    let mut toy = Toy::start();
    let card = open(&toy);
    let buffer = card.dma_alloc(PAGE_SIZE).expect("memory");
    std::thread::scope(|scope| {
        let sleeper = scope.spawn(|| card.wait(0, None));
        let dying = card.write32(Bar::Registers, DIE, 1);
        assert!(dying.is_err(), "{dying:?}");
        let slept = sleeper.join().expect("no panic");
        let text = slept.expect_err("no interrupt comes").to_string();
        assert!(text.contains("closed the connection"), "{text}");
    });
    toy.end();
    let errors = [
        card.read32(Bar::Registers, 0).map(drop),
        card.write32(Bar::Doorbells, 0, 0),
        card.config_read32(0).map(drop),
        card.dma_alloc(1).map(drop),
        card.reset(),
    ];
    for error in errors {
        let text = error.expect_err("nobody is there").to_string();
        assert!(text.contains("closed the connection"), "{text}");
    }
    // The memory is still the program's.
    buffer.fill(0, PAGE_SIZE, 3).expect("inside");
}

#[test]
fn nobody_serves() {
    for socket in ["/nonexistent/card.sock", "/dev/null"] {
        let error = weft_card_transport::open(&format!("vfio-user:{socket}"));
        let error = error.err().expect("nobody is there");
        assert!(matches!(error, OpenError::NoServer { .. }), "{error}");
        let text = error.to_string();
        assert!(
            text.contains(socket) && text.contains("weft serve"),
            "{text}"
        );
    }
}
