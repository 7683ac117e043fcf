//! Interrupt vectors as eventfds: how both real transports are told.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use vmm_sys_util::eventfd::{EventFd, EFD_CLOEXEC, EFD_NONBLOCK};

use super::monotonic::wait_readable;
use super::TransportError;

/// One eventfd for each interrupt vector.
pub(super) struct Vectors {
    events: Vec<EventFd>,
}

impl Vectors {
    pub(super) fn new(count: usize) -> io::Result<Self> {
        let events = (0..count).map(|_| EventFd::new(EFD_NONBLOCK | EFD_CLOEXEC));
        Ok(Self {
            events: events.collect::<io::Result<_>>()?,
        })
    }

    pub(super) fn events(&self) -> &[EventFd] {
        &self.events
    }

    /// The eventfd of a vector.
    pub(super) fn fd(&self, vector: u16) -> Option<BorrowedFd<'_>> {
        let event = self.events.get(usize::from(vector))?;
        // SAFETY: the eventfd is open as long as `self` is borrowed.
        Some(unsafe { BorrowedFd::borrow_raw(event.as_raw_fd()) })
    }

    /// [`Transport::wait`](super::Transport::wait). `end` becomes readable when no interrupt will come any
    /// more; `lost` then says why.
    pub(super) fn wait(
        &self,
        vector: u16,
        deadline: Option<u64>,
        end: Option<BorrowedFd<'_>>,
        lost: impl Fn() -> String,
    ) -> Result<bool, TransportError> {
        let failed = |reason: String| TransportError::Interrupt { vector, reason };
        let found = self.events.get(usize::from(vector)).zip(self.fd(vector));
        let (event, fd) = found.ok_or_else(|| {
            failed(format!(
                "there are {} vectors, numbered from 0",
                self.events.len()
            ))
        })?;
        loop {
            match event.read() {
                Ok(_) => return Ok(true),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(failed(error.to_string())),
            }
            let [ready, ended] = match end {
                Some(end) => wait_readable([fd, end], deadline),
                None => wait_readable([fd], deadline).map(|[ready]| [ready, false]),
            }
            .map_err(|error| failed(error.to_string()))?;
            // An interrupt that came before the end still counts; another thread may have taken it.
            match (ready, ended) {
                (true, _) => {}
                (false, true) => return Err(failed(lost())),
                (false, false) => return Ok(false),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::monotonic::now;
    use super::*;

    #[test]
    fn interrupts_are_counted_as_one_and_deadlines_kept() {
        let vectors = Vectors::new(2).expect("eventfds");
        let wait = |vector, deadline| vectors.wait(vector, deadline, None, String::new);
        assert_eq!(wait(0, Some(0)), Ok(false), "a deadline in the past");
        for _ in 0..3 {
            vectors.events()[1].write(1).expect("room");
        }
        assert_eq!(wait(0, Some(0)), Ok(false), "another vector's");
        assert_eq!(wait(1, None), Ok(true));
        assert_eq!(wait(1, Some(0)), Ok(false), "three are one");
        let until = now() + 2_000_000;
        assert_eq!(wait(1, Some(until)), Ok(false));
        assert!(now() >= until);
        assert!(wait(2, None).is_err(), "no such vector");
    }

    #[test]
    fn a_wait_ends_with_the_device() {
        let (vectors, end) = (
            Vectors::new(1).expect("eventfds"),
            EventFd::new(EFD_NONBLOCK).expect("an eventfd"),
        );
        // SAFETY: open until the end of the test.
        let fd = unsafe { BorrowedFd::borrow_raw(end.as_raw_fd()) };
        end.write(1).expect("room");
        let wait = || vectors.wait(0, None, Some(fd), || "it is gone".into());
        vectors.events()[0].write(1).expect("room");
        assert_eq!(wait(), Ok(true), "what came before the end counts");
        let error = wait().expect_err("no interrupt comes").to_string();
        assert!(error.contains("it is gone"), "{error}");
    }

    #[test]
    fn an_interrupt_wakes_a_sleeper() {
        let vectors = Vectors::new(1).expect("eventfds");
        std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| vectors.wait(0, None, None, String::new));
            vectors.events()[0].write(1).expect("room");
            assert_eq!(sleeper.join().expect("no panic"), Ok(true));
        });
    }
}
