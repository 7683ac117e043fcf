use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::dma::Pages;
use crate::queue_memory::sealed_file;

/// Lends so many pieces, and remembers the last fence.
struct Lends(AtomicUsize);

impl CardLender for Lends {
    fn memory(&self, bytes: u64) -> io::Result<LentMemory> {
        let left = self.0.load(Ordering::Relaxed);
        let left = left.checked_sub(1).ok_or(io::ErrorKind::OutOfMemory)?;
        self.0.store(left, Ordering::Relaxed);
        let file = sealed_file("weft-test", bytes)?.into();
        let iova = 0x1_0000_0000 * (left as u64 + 1);
        Ok(LentMemory { file, iova })
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
    let lender = Arc::new(Lends(AtomicUsize::new(pieces)));
    let bell = Bell::new().expect("an eventfd");
    BorrowedCard::new("a test's".to_owned(), lender, bell)
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
