//! Interrupt vectors as eventfds: how both real transports are told.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use vmm_sys_util::eventfd::{EventFd, EFD_CLOEXEC, EFD_NONBLOCK};

use super::monotonic::{now, wait_readable};
use super::TransportError;

/// One eventfd for each interrupt vector.
pub(super) struct Vectors {
    events: Vec<EventFd>,
    /// Each ends a wait for its vector.
    wakes: Vec<EventFd>,
}

impl Vectors {
    pub(super) fn new(count: usize) -> io::Result<Self> {
        let events = || (0..count).map(|_| EventFd::new(EFD_NONBLOCK | EFD_CLOEXEC));
        Ok(Self {
            events: events().collect::<io::Result<_>>()?,
            wakes: events().collect::<io::Result<_>>()?,
        })
    }

    /// [`Transport::wake`](super::Transport::wake).
    pub(super) fn wake(&self, vector: u16) {
        if let Some(wake) = self.wakes.get(usize::from(vector)) {
            // It is readable at the latest after the first time.
            let _ = wake.write(1);
        }
    }

    /// Can a vector be read? It stays so.
    pub(super) fn is_readable(&self, vector: u16) -> bool {
        self.fd(vector)
            .is_some_and(|fd| wait_readable([fd], Some(0)).is_ok_and(|[ready]| ready))
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
        let at = usize::from(vector);
        let found = self.events.get(at).zip(self.wakes.get(at));
        let found = found.zip(self.fd(vector));
        let ((event, own_wake), fd) = found.ok_or_else(|| {
            failed(format!(
                "there are {} vectors, numbered from 0",
                self.events.len()
            ))
        })?;
        // Who only looks takes nobody's call away.
        let looks = deadline.is_some_and(|at| at <= now());
        let mut called = false;
        loop {
            match event.read() {
                Ok(_) => return Ok(true),
                // The call came with an interrupt that another thread has taken: it is not for nothing.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && called => {
                    return Ok(false)
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(failed(error.to_string())),
            }
            if looks {
                let ended =
                    end.is_some_and(|end| wait_readable([end], Some(0)).is_ok_and(|[ended]| ended));
                return if ended {
                    Err(failed(lost()))
                } else {
                    Ok(false)
                };
            }
            // SAFETY: the eventfd is open as long as `self` is borrowed.
            let wake = unsafe { BorrowedFd::borrow_raw(own_wake.as_raw_fd()) };
            let [ready, woken, ended] = match end {
                Some(end) => wait_readable([fd, wake, end], deadline),
                None => wait_readable([fd, wake], deadline).map(|[a, b]| [a, b, false]),
            }
            .map_err(|error| failed(error.to_string()))?;
            if woken {
                let _ = own_wake.read();
                called = true;
            }
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
    fn a_wait_is_ended_from_outside_once() {
        let vectors = Vectors::new(1).expect("eventfds");
        let wait = |deadline| vectors.wait(0, deadline, None, String::new);
        vectors.wake(0);
        vectors.wake(0);
        assert_eq!(wait(None), Ok(false), "woken before it waits");
        let until = now() + 2_000_000;
        assert_eq!(wait(Some(until)), Ok(false));
        assert!(now() >= until, "woken twice");
        std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| wait(None));
            vectors.wake(0);
            assert_eq!(sleeper.join().expect("no panic"), Ok(false));
        });
        vectors.wake(0);
        vectors.events()[0].write(1).expect("room");
        assert_eq!(wait(None), Ok(true), "an interrupt counts all the same");
    }

    #[test]
    fn a_call_for_one_vector_is_no_other_one_s() {
        let vectors = Vectors::new(2).expect("eventfds");
        let wait = |vector, deadline| vectors.wait(vector, deadline, None, String::new);
        vectors.wake(1);
        vectors.wake(2);
        let until = now() + 2_000_000;
        assert_eq!(wait(0, Some(until)), Ok(false));
        assert!(now() >= until, "called for another one");
        assert_eq!(wait(1, None), Ok(false), "it waited for this one");
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
