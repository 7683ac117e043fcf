//! A completion queue that another process writes, and this one takes from.

use std::io;
use std::os::fd::OwnedFd;

use weft_layout::Cqe;
use weft_queues::CompletionQueue;

use weft_card_transport::queue_memory::QueueMemory;

/// A completion queue that its lender writes.
pub(super) struct LentCompletions {
    cq: CompletionQueue,
    completions: QueueMemory,
    taken: u32,
}

impl LentCompletions {
    /// Of so many entries, in this file.
    pub(super) fn of(cqe: usize, file: OwnedFd) -> io::Result<Self> {
        let cq = CompletionQueue::new(cqe).ok_or_else(no_such_queue)?;
        let completions = QueueMemory::map(file)?;
        completions.check_room(cq.bytes())?;
        Ok(Self {
            cq,
            completions,
            taken: 0,
        })
    }

    pub(super) fn next(&self) -> Option<Cqe> {
        self.cq.get(self.completions.words(), self.taken)
    }

    pub(super) fn take(&mut self) -> Option<Cqe> {
        let cqe = self.next()?;
        self.taken = self.taken.wrapping_add(1);
        self.cq.taken(self.completions.words(), self.taken);
        Some(cqe)
    }
}

/// What is asked for is none that there could be.
pub(super) fn no_such_queue() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "no queue is like this")
}
