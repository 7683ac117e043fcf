use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::dma::Pages;
use crate::queue_memory::sealed_file;

/// Lends so many pieces, and has joined ranges of these parts.
struct Lends(AtomicUsize, Mutex<Vec<Vec<(u64, u64)>>>);

const JOINED: u64 = 0x7777_0000_0000;

impl CardLender for Lends {
    fn memory(&self, bytes: u64) -> io::Result<LentMemory> {
        let left = self.0.load(Ordering::Relaxed);
        let left = left.checked_sub(1).ok_or(io::ErrorKind::OutOfMemory)?;
        self.0.store(left, Ordering::Relaxed);
        let file = sealed_file("weft-test", bytes)?.into();
        let iova = 0x1_0000_0000 * (left as u64 + 1);
        Ok(LentMemory { file, iova })
    }
    fn join(&self, parts: &[(u64, u64)]) -> io::Result<u64> {
        self.1.lock().expect("no panic").push(parts.to_vec());
        Ok(JOINED)
    }
    fn map_file(&self, _: BorrowedFd<'_>, _: u64) -> io::Result<u64> {
        Err(io::ErrorKind::Unsupported.into())
    }
    fn leave(&self, joined: u64) -> io::Result<()> {
        assert_eq!(joined, JOINED);
        self.1.lock().expect("no panic").pop();
        Ok(())
    }
    fn begin_fence(&self, _: u32) {}
    fn fence_done(&self) -> u32 {
        0
    }
    fn lost(&self) -> Option<String> {
        None
    }
}

fn card(pieces: usize) -> BorrowedCard {
    lent_card(pieces).0
}

fn lent_card(pieces: usize) -> (BorrowedCard, Arc<Lends>) {
    let lender = Arc::new(Lends(AtomicUsize::new(pieces), Mutex::default()));
    let lent = lender.clone();
    let bell = Bell::new().expect("an eventfd");
    (BorrowedCard::new("a test's".to_owned(), lender, bell), lent)
}

#[test]
fn many_buffers_come_out_of_one_piece_and_are_zero() {
    let card = card(1);
    let mut had = Vec::new();
    for round in 0..200 {
        let buffer = card.dma_alloc(5000).expect("room");
        let memory = buffer.memory();
        assert!(buffer.len() >= 5000 && buffer.iova() % page_size() as u64 == 0);
        assert_eq!(memory.to_vec(0, 5000), Ok(vec![0; 5000]), "{round}");
        memory.fill(0, 5000, 0xee).expect("inside");
        had.push((buffer.iova(), buffer));
        if round % 3 > 0 {
            had.remove(0);
        }
        if had.len() > 30 {
            had.clear();
        }
    }
    had.sort_by_key(|(iova, _)| *iova);
    for pair in had.windows(2) {
        assert!(pair[0].0 + pair[0].1.len() as u64 <= pair[1].0);
    }
    // No other piece is to be had.
    let refused = card.dma_alloc(2 << 20).expect_err("more than there is");
    assert!(matches!(refused, TransportError::Map { .. }), "{refused}");
}

#[test]
fn memory_of_the_program_is_converted_where_it_lies() {
    let card = card(1);
    let (page, len) = (page_size(), 3 * page_size());
    let pages = Pages::new(len).expect("memory");
    let memory = pages.memory();
    let bytes: Vec<u8> = (0..len).map(|at| (at * 7) as u8).collect();
    memory.write(0, &bytes).expect("inside");
    let first = NonNull::new(memory.as_ptr()).expect("an address");
    let second = NonNull::new(memory.as_ptr().wrapping_add(page)).expect("an address");
    // SAFETY: whole pages that this test alone accesses, by `SharedMemory`, and not during the calls.
    let (whole, part) = unsafe { (card.map(first, len), card.lend(second, page)) };
    let (whole, part) = (whole.expect("possible"), part.expect("inside"));
    assert_eq!(part, whole + page as u64, "the same memory");
    assert_eq!(memory.to_vec(0, len).as_ref(), Ok(&bytes));
    assert!(
        card.unmap(whole + len as u64, page).is_err(),
        "nothing there"
    );
    card.unmap(whole, len).expect("mapped");
    // A part of it is mapped still, and what is written stays.
    memory.write(page, &[1, 2, 3]).expect("inside");
    card.unmap(part, page).expect("mapped");
    let now = memory.to_vec(0, len).expect("inside");
    assert_eq!(
        (&now[..page], &now[page..page + 3]),
        (&bytes[..page], &[1, 2, 3][..])
    );
    assert!(card.unmap(whole, len).is_err(), "over");
    // Anew, since it is private again.
    // SAFETY: as above.
    let again = unsafe { card.map(first, len) }.expect("possible");
    card.unmap(again, len).expect("mapped");
}

/// Runs that share pages, as a program's allocator makes them: each is mapped with all its bytes, in any order, and what is written stays.
#[test]
fn runs_overlap() {
    const PAGES: usize = 100;
    let (card, lends) = lent_card(30);
    let page = page_size();
    let pages = Pages::new(PAGES * page).expect("memory");
    let memory = pages.memory();
    let mut random = 5u64;
    let mut below = |most: usize| {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1);
        (random >> 33) as usize % most
    };
    let mut expected: Vec<u8> = (0..PAGES * page).map(|at| (at * 7 / 3) as u8).collect();
    memory.write(0, &expected).expect("inside");
    let (mut mapped, mut joined) = (Vec::new(), 0);
    for round in 0..400 {
        let (at, count) = (below(PAGES), 1 + below(40));
        let len = count.min(PAGES - at) * page;
        let first = NonNull::new(memory.as_ptr().wrapping_add(at * page)).expect("an address");
        // A run that is a joined range already has no other name in this test.
        let is_new = mapped.iter().all(|(_, other)| *other != len);
        if let (true, true) = (below(2) == 0 || mapped.len() < 5, is_new) {
            // SAFETY: whole pages that this test alone accesses, by `SharedMemory`.
            match unsafe { card.lend(first, len) } {
                Ok(iova) => mapped.push((iova, len)),
                Err(error) => assert!(mapped.len() > 3, "{error}"),
            }
        } else if !mapped.is_empty() {
            let (iova, len) = mapped.swap_remove(below(mapped.len()));
            card.unmap(iova, len).expect("mapped");
        }
        let (at, byte) = (below(PAGES * page), round as u8);
        memory.write(at, &[byte]).expect("inside");
        expected[at] = byte;
        joined = joined.max(lends.1.lock().expect("no panic").len());
        assert!(
            memory.to_vec(0, PAGES * page).as_ref() == Ok(&expected),
            "{round}"
        );
    }
    assert!(joined > 0, "some lie in several blocks");
    for (iova, len) in mapped {
        card.unmap(iova, len).expect("mapped");
    }
    assert!(lends.1.lock().expect("no panic").is_empty());
    assert!(memory.to_vec(0, PAGES * page).as_ref() == Ok(&expected));
}

/// A child made by fork has the bytes of then, and what it writes is its own, as is what the parent writes afterwards.
#[test]
fn a_child_has_a_copy() {
    let card = card(2);
    let (page, len) = (page_size(), 3 * page_size());
    let pages = Pages::new(len).expect("memory");
    let memory = pages.memory();
    memory.fill(0, len, 1).expect("inside");
    let first = NonNull::new(memory.as_ptr()).expect("an address");
    // SAFETY: whole pages that this test alone accesses, by `SharedMemory`.
    let iova = unsafe { card.lend(first, 2 * page) }.expect("possible");
    let (told, mut tell) = std::io::pipe().expect("a pipe");
    // SAFETY: the child looks at memory, reads from a pipe, and ends.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "no child");
    if child == 0 {
        // The parent writes first.
        let mut byte = 0u8;
        // SAFETY: one byte that lives as long as the call.
        unsafe {
            libc::read(
                std::os::fd::AsRawFd::as_raw_fd(&told),
                (&raw mut byte).cast(),
                1,
            )
        };
        let is_own = [0, page, 2 * page]
            .into_iter()
            .all(|at| memory.read_u8(at) == Ok(1));
        let wrote = memory.write(page, &[7; 8]).is_ok();
        // SAFETY: it ends here.
        unsafe { libc::_exit(i32::from(!(is_own && wrote))) };
    }
    memory.fill(0, len, 2).expect("inside");
    std::io::Write::write_all(&mut tell, &[1]).expect("read");
    let mut status = -1;
    // SAFETY: the child of this test.
    unsafe { libc::waitpid(child, &mut status, 0) };
    assert_eq!(status, 0, "the child saw what its parent wrote");
    assert_eq!(memory.to_vec(0, len), Ok(vec![2; len]));
    card.unmap(iova, 2 * page).expect("mapped");
}

/// A thread whose stack lies in one mapping with memory beside it: the memory is lent, the stack is refused, and says why.
#[test]
fn no_stack_of_who_asks() {
    /// Pages of the stack, and of the memory above it.
    const PAGES: usize = 64;
    let len = PAGES * page_size();
    let pages = Pages::new(2 * len).expect("memory");
    let stack = pages.memory().as_ptr();
    let lends = |at: usize| {
        let first = NonNull::new((stack as usize + at) as *mut u8).expect("an address");
        let card = card(1);
        // SAFETY: a whole page, which lives as long as the test and which nobody accesses; the card is gone before it.
        let mapped = unsafe { card.lend(first, page_size()) };
        mapped.map(|_| ())
    };
    extern "C" fn run(lends: *mut libc::c_void) -> *mut libc::c_void {
        // SAFETY: the closure of the test, which waits for this thread.
        let lends: &mut &dyn Fn() = unsafe { &mut *lends.cast() };
        lends();
        ptr::null_mut()
    }
    let said = Mutex::new(Vec::new());
    let asks = || {
        // The lowest page, which nothing reaches.
        let all = [0, len].map(lends);
        said.lock().expect("no panic").extend(all);
    };
    let mut asks: &dyn Fn() = &asks;
    // SAFETY: the stack outlives the thread, which is joined here; what it is given does as well.
    unsafe {
        let mut attributes = std::mem::zeroed::<libc::pthread_attr_t>();
        assert_eq!(libc::pthread_attr_init(&mut attributes), 0);
        let set = libc::pthread_attr_setstack(&mut attributes, stack.cast(), len);
        assert_eq!(set, 0);
        let mut thread = 0;
        let given = (&raw mut asks).cast();
        let made = libc::pthread_create(&mut thread, &attributes, run, given);
        assert_eq!(made, 0);
        assert_eq!(libc::pthread_join(thread, ptr::null_mut()), 0);
        libc::pthread_attr_destroy(&mut attributes);
    }
    let said = said.into_inner().expect("no panic");
    let Err(TransportError::Unmappable { reason, .. }) = &said[0] else {
        panic!("{said:?}");
    };
    let why = "it is the stack of who asks";
    assert!(reason.starts_with(why), "{reason}");
    assert_eq!(said[1], Ok(()));
}
