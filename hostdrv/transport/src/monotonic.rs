//! The clock of real transports, and sleeping by it.

use std::io;
use std::os::fd::BorrowedFd;

use rustix::event::{poll, PollFd, PollFlags};
use rustix::time::{clock_gettime, ClockId, Timespec};

/// CLOCK_MONOTONIC in nanoseconds.
pub(super) fn now() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Sleeps until one of `fds` can be read (or has hung up), or `now() >= deadline`. Answers which are ready; none: the
/// deadline has come.
pub(super) fn wait_readable<const N: usize>(
    fds: [BorrowedFd<'_>; N],
    deadline: Option<u64>,
) -> io::Result<[bool; N]> {
    let mut polled = fds.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
    loop {
        let left = deadline.map(|at| {
            let left = at.saturating_sub(now());
            Timespec {
                tv_sec: (left / 1_000_000_000) as i64,
                tv_nsec: (left % 1_000_000_000) as _,
            }
        });
        match poll(&mut polled, left.as_ref()) {
            Ok(0) if deadline.is_some_and(|at| at > now()) => {}
            Ok(_) => {
                let mut ready = [false; N];
                for (ready, polled) in ready.iter_mut().zip(&polled) {
                    *ready = !polled.revents().is_empty();
                }
                return Ok(ready);
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
