//! Sleeping until there is something to do.

use std::os::fd::BorrowedFd;

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::time::Timespec;

use super::{Device, State};
use crate::error::DeviceError;
use crate::raw::RawQueues;
use crate::stats::add;
use crate::transport::TransportError;

/// The longest sleep beside another file: a transport that ends makes no interrupt, and tells so only
/// when it is asked.
const LONGEST_POLL_NS: u64 = 500_000_000;
/// How often the other file is looked at if interrupts cannot be polled for.
const UNPOLLED_NS: u64 = 1_000_000;

impl State {
    /// When there is something to do even if nothing arrives.
    fn next_deadline(&self) -> Option<u64> {
        let raw = self.raw.as_ref().and_then(RawQueues::retry_at);
        earlier(self.engine.next_deadline(), raw)
    }
}

impl Device {
    /// When `progress` has something to do even if nothing arrives; may lie in the past.
    pub fn next_deadline(&self) -> Option<u64> {
        self.lock().next_deadline()
    }

    /// Sleeps until the card has a report, a timer is due or `deadline` (in [`now`](Self::now)'s time) has come.
    /// Then call [`progress`](Self::progress).
    pub fn wait(&self, deadline: Option<u64>) -> Result<(), DeviceError> {
        let until = self.arm(deadline)?;
        self.wait_for_interrupt(until)
    }

    /// Like [`wait`](Self::wait), and wakes up when `other` can be read as well. It may also come back
    /// early: with a transport whose interrupts cannot be polled for
    /// ([`Transport::interrupt_fd`](crate::transport::Transport::interrupt_fd)) it does each millisecond.
    pub fn wait_or_readable(
        &self,
        other: BorrowedFd<'_>,
        deadline: Option<u64>,
    ) -> Result<(), DeviceError> {
        let until = self.arm(deadline)?;
        let now = self.now();
        match self.shared.mmio.transport.interrupt_fd(0) {
            Some(interrupt) => {
                let left = until.map_or(LONGEST_POLL_NS, |at| at.saturating_sub(now));
                poll([interrupt, other], left.min(LONGEST_POLL_NS))?;
                self.wait_for_interrupt(Some(0))
            }
            None if poll([other], 0)? => Ok(()),
            None => {
                let soon = now.saturating_add(UNPOLLED_NS);
                self.wait_for_interrupt(earlier(until, Some(soon)))
            }
        }
    }

    /// Asks for an interrupt; until when to wait for it.
    fn arm(&self, deadline: Option<u64>) -> Result<Option<u64>, DeviceError> {
        let mut state = self.lock();
        state.check_fault()?;
        if !state.armed {
            state.card.arm()?;
            state.armed = true;
        }
        Ok(earlier(deadline, state.next_deadline()))
    }

    fn wait_for_interrupt(&self, until: Option<u64>) -> Result<(), DeviceError> {
        add(&self.shared.mmio.counts.waits, 1);
        if self.shared.mmio.transport.wait(0, until)? {
            add(&self.shared.mmio.counts.interrupts, 1);
            self.lock().armed = false;
        }
        Ok(())
    }

    /// Calls `progress`, and sleeps when there is nothing to do, until `condition` gives something or `deadline` has come.
    pub fn wait_for<T>(
        &self,
        deadline: Option<u64>,
        mut condition: impl FnMut() -> Option<T>,
    ) -> Result<Option<T>, DeviceError> {
        loop {
            let handled = self.progress()?;
            if let Some(found) = condition() {
                return Ok(Some(found));
            }
            if deadline.is_some_and(|at| at <= self.now()) {
                return Ok(None);
            }
            if handled == 0 {
                self.wait(deadline)?;
            }
        }
    }
}

/// The earlier of two times, of which each may be never.
fn earlier(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Sleeps until one of the files can be read (or is broken), or `ns` have passed. Is one?
fn poll<const N: usize>(files: [BorrowedFd<'_>; N], ns: u64) -> Result<bool, DeviceError> {
    let mut polled = files.map(|file| PollFd::from_borrowed_fd(file, PollFlags::IN));
    let timeout = Timespec {
        tv_sec: (ns / 1_000_000_000) as i64,
        tv_nsec: (ns % 1_000_000_000) as _,
    };
    match rustix::event::poll(&mut polled, Some(&timeout)) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(DeviceError::Transport(TransportError::Interrupt {
            vector: 0,
            reason: error.to_string(),
        })),
    }
}
