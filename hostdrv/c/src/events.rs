//! Events that a program takes one at a time, behind a descriptor that it may poll and set as it likes.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::calls::{refuse, Answer};

/// A queue whose descriptor is readable as long as there is something in it.
pub(crate) struct Events<T> {
    file: OwnedFd,
    queue: Mutex<VecDeque<T>>,
    /// Nothing comes any more.
    ended: AtomicBool,
}

/// What ends with the device: queues of events of any kind.
pub(crate) trait Ends: Send + Sync {
    /// Nothing comes any more. Who waits is told, after what is there was taken.
    fn end(&self);
}

impl<T: Send> Ends for Events<T> {
    fn end(&self) {
        // With the lock: nobody makes the descriptor unreadable any more.
        let _queue = self.queue();
        if !self.ended.swap(true, Ordering::Relaxed) {
            self.make_readable();
        }
    }
}

impl<T> Events<T> {
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: no pointer is given.
        let file = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC) };
        if file < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self {
            // SAFETY: it was made here, and nobody else has it.
            file: unsafe { OwnedFd::from_raw_fd(file) },
            queue: Mutex::default(),
            ended: AtomicBool::new(false),
        })
    }

    pub(crate) fn file(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    fn queue(&self) -> MutexGuard<'_, VecDeque<T>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn push(&self, event: T) {
        let mut queue = self.queue();
        queue.push_back(event);
        if queue.len() == 1 {
            self.make_readable();
        }
    }

    fn make_readable(&self) {
        // SAFETY: eight bytes that live as long as the call.
        unsafe { libc::write(self.file(), (&raw const ONE).cast(), 8) };
    }

    /// Called with the lock after something was taken: the descriptor of an empty queue is not readable.
    fn settle(&self, queue: &VecDeque<T>, before: usize) {
        if before > 0 && queue.is_empty() && !self.ended.load(Ordering::Relaxed) {
            let mut count = 0u64;
            // It does not block: who made the queue not empty has written, and nobody reads without the lock.
            // SAFETY: eight bytes that live as long as the call.
            unsafe { libc::read(self.file(), (&raw mut count).cast(), 8) };
        }
    }

    /// The oldest event, if there is one.
    pub(crate) fn try_take(&self) -> Option<T> {
        let mut queue = self.queue();
        let before = queue.len();
        let taken = queue.pop_front();
        self.settle(&queue, before);
        taken
    }

    /// Takes out what is like this.
    pub(crate) fn remove(&self, is: impl Fn(&T) -> bool) -> Vec<T> {
        let mut queue = self.queue();
        let before = queue.len();
        let (gone, kept) = std::mem::take(&mut *queue).into_iter().partition(is);
        *queue = kept;
        self.settle(&queue, before);
        gone.into()
    }

    /// The oldest event. Blocks until there is one, unless the program has set the descriptor to `O_NONBLOCK`.
    pub(crate) fn take(&self) -> Answer<T> {
        loop {
            if let Some(event) = self.try_take() {
                return Ok(event);
            }
            if self.ended.load(Ordering::Relaxed) {
                return refuse(libc::EIO, "the card is gone");
            }
            // SAFETY: no pointer is given.
            if unsafe { libc::fcntl(self.file(), libc::F_GETFL) } & libc::O_NONBLOCK != 0 {
                return refuse(libc::EAGAIN, "no event");
            }
            let mut polled = libc::pollfd {
                fd: self.file(),
                events: libc::POLLIN,
                revents: 0,
            };
            // SAFETY: one structure that lives as long as the call.
            if unsafe { libc::poll(&mut polled, 1, -1) } < 0 {
                return Err(io::Error::last_os_error().into());
            }
        }
    }
}

static ONE: u64 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    fn is_readable(events: &Events<u32>) -> bool {
        let mut polled = libc::pollfd {
            fd: events.file(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one structure that lives as long as the call.
        unsafe { libc::poll(&mut polled, 1, 0) == 1 }
    }

    #[test]
    fn the_descriptor_is_readable_while_there_is_an_event() {
        let events = Events::new().expect("a descriptor");
        assert!(!is_readable(&events));
        for event in 0..3 {
            events.push(event);
        }
        assert!(is_readable(&events));
        assert_eq!(events.remove(|event| *event == 1), [1]);
        assert_eq!(events.take().expect("there is one"), 0);
        assert!(is_readable(&events));
        assert_eq!(events.take().expect("there is one"), 2);
        assert!(!is_readable(&events));
        events.push(7);
        assert_eq!(events.remove(|_| true), [7]);
        assert!(!is_readable(&events));
    }

    /// What came before the end is taken; then each call says that there is no more, and the descriptor stays readable.
    #[test]
    fn the_end_is_told() {
        let events = Events::new().expect("a descriptor");
        events.push(1);
        events.end();
        assert_eq!(events.take().expect("there is one"), 1);
        for _ in 0..2 {
            assert!(is_readable(&events));
            assert_eq!(events.take().expect_err("no more").errno(), libc::EIO);
        }
    }

    #[test]
    fn a_descriptor_that_does_not_block_answers_eagain() {
        let events = Events::<u32>::new().expect("a descriptor");
        // SAFETY: no pointer is given.
        unsafe { libc::fcntl(events.file(), libc::F_SETFL, libc::O_NONBLOCK) };
        assert_eq!(
            events.take().expect_err("nothing there").errno(),
            libc::EAGAIN
        );
    }
}
