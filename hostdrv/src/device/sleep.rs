//! Sleeping until there is something to do.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::time::Timespec;

use super::sleepers::Turn;
use super::{Device, Place, RawQueues, State};
use crate::checks;
use crate::error::DeviceError;
use crate::stats::add;
use weft_card_transport::turns::Turns;
use weft_card_transport::TransportError;

/// The longest sleep beside another file: a transport that ends makes no interrupt, and tells so only
/// when it is asked.
const LONGEST_POLL_NS: u64 = 500_000_000;
/// How often the other file is looked at if interrupts cannot be polled for.
const UNPOLLED_NS: u64 = 1_000_000;

impl State {
    /// Asks for an interrupt, if that was not done. A failure is kept: whoever else uses the device is told of it as well.
    pub(super) fn arm(&mut self) -> Result<(), DeviceError> {
        self.check_fault()?;
        if self.armed > 0 {
            return Ok(());
        }
        self.armed = match &self.place {
            Place::Here(here) => {
                let reports = self.interrupt_moderation.reports(&here.engine);
                if let Err(error) = here.card.arm(reports) {
                    self.fail(error);
                    return self.check_fault();
                }
                reports
            }
            Place::OnCard(on_card) => {
                on_card.arm();
                1
            }
            Place::Lent(lent) => {
                lent.arm();
                1
            }
        };
        // A pin that was masked by the last one is let through again, also for who sleeps on the file alone.
        let _ = self.mmio.transport.interrupt_fd(0);
        Ok(())
    }

    /// Asks for an interrupt sooner than was asked for: what was posted meanwhile is waited for.
    pub(super) fn ask_anew(&mut self) {
        self.armed = 0;
        // A failure is kept.
        let _ = self.arm();
    }

    /// When there is something to do even if nothing arrives.
    pub(super) fn next_deadline(&self) -> Option<u64> {
        let raw = self.raw.as_ref().and_then(RawQueues::retry_at);
        let own = earlier(raw, self.waiting.first_due);
        match &self.place {
            Place::Here(here) => earlier(here.engine.next_deadline(), own),
            // What came before it was armed.
            Place::OnCard(on_card) if on_card.has_news() => Some(0),
            Place::Lent(lent) if lent.has_news() => Some(0),
            Place::OnCard(_) | Place::Lent(_) => own,
        }
    }
}

impl Device {
    /// When `progress` has something to do even if nothing arrives; may lie in the past.
    pub fn next_deadline(&self) -> Option<u64> {
        self.lock().next_deadline()
    }

    /// Sleeps until the card has a report, a timer is due, `deadline` (in [`now`](Self::now)'s time) has come, or another
    /// thread did something on this device. Then call [`progress`](Self::progress). Where several threads use the device,
    /// what one looked for may come between its look and this call: [`wait_for`](Self::wait_for) looks and
    /// sleeps without such a gap.
    pub fn wait(&self, deadline: Option<u64>) -> Result<(), DeviceError> {
        self.wait_since(self.seen(), deadline)
    }

    /// What has happened so far, for [`wait_since`](Self::wait_since).
    pub(crate) fn seen(&self) -> u64 {
        self.shared.sleepers.seen()
    }

    /// [`wait`](Self::wait), unless something has happened since `seen`.
    pub(crate) fn wait_since(&self, seen: u64, deadline: Option<u64>) -> Result<(), DeviceError> {
        self.sleep(seen, deadline, false)
    }

    /// Like [`wait`](Self::wait), and wakes up when `other` can be read as well. It may also come back
    /// early: with a transport whose interrupts cannot be polled for
    /// ([`Transport::interrupt_fd`](weft_card_transport::Transport::interrupt_fd)) it does each millisecond.
    pub fn wait_or_readable(
        &self,
        other: BorrowedFd<'_>,
        deadline: Option<u64>,
    ) -> Result<(), DeviceError> {
        let transport = &self.shared.mmio.transport;
        if transport.interrupt_fd(0).is_some() {
            let file = self.watching()?;
            let left = deadline.map_or(LONGEST_POLL_NS, |at| at.saturating_sub(self.now()));
            poll([file.as_fd(), other], left.min(LONGEST_POLL_NS))?;
            // Once the file is gone nobody takes it.
            return self.take_interrupt(Some(0));
        }
        if poll([other], 0)? {
            return Ok(());
        }
        let soon = self.now().saturating_add(UNPOLLED_NS);
        self.wait(earlier(deadline, Some(soon)))
    }

    /// Sleeps until something has happened since `seen`, the card or a timer wants the device, or `deadline` has come.
    /// `progress`: what the card wants is done before anybody else waits for it.
    fn sleep(&self, seen: u64, deadline: Option<u64>, progress: bool) -> Result<(), DeviceError> {
        add(&self.shared.mmio.counts.waits, 1);
        let transport = &self.shared.mmio.transport;
        if deadline.is_some_and(|at| at <= transport.now()) {
            // No sleep: arms, and takes an interrupt that is there.
            self.lock().arm()?;
            self.take_interrupt(deadline)?;
            if self.shared.sleepers.is_anybody_asleep() {
                // It may have been what they sleep for.
                self.lock().arm()?;
            }
            return Ok(());
        }
        let Turn::Lead(leading) = self
            .shared
            .sleepers
            .sleep(seen, deadline, || transport.now())
        else {
            return Ok(());
        };
        let begun = {
            let mut state = self.lock();
            if state.doorbells.is_rung() {
                // Who posts tells sleepers when it rings, and this was rung before there was one.
                return Ok(());
            }
            state.arm()?;
            leading.begin(state.next_deadline())
        };
        let Some(until) = begun else { return Ok(()) };
        let taken = self.take_interrupt(until);
        leading.end();
        taken?;
        if progress {
            self.progress()?;
        }
        Ok(())
    }

    /// Where threads take turns nobody has the device's lock when one gives its turn up.
    pub(super) fn may_give_way(&self) -> bool {
        let is_member = |turns: &Arc<dyn Turns>| turns.is_member();
        !self.shared.turns.as_ref().is_some_and(is_member) || self.shared.state.try_lock().is_ok()
    }

    /// Waits for the card's interrupt.
    pub(super) fn take_interrupt(&self, until: Option<u64>) -> Result<(), DeviceError> {
        debug_assert!(self.may_give_way(), "a turn ends under the device's lock");
        match self.shared.mmio.transport.wait(0, until) {
            Ok(false) => Ok(()),
            Ok(true) => {
                add(&self.shared.mmio.counts.interrupts, 1);
                let mut state = self.lock();
                (state.armed, state.woken) = (0, true);
                Ok(())
            }
            Err(error) => {
                let mut state = self.lock();
                let Some(lost) = checks::lost(&state.mmio) else {
                    return Err(error.into());
                };
                state.fail(lost);
                state.check_fault()
            }
        }
    }

    /// Calls `progress`, and sleeps when there is nothing to do, until `condition` gives something or `deadline` has come.
    /// Any number of threads may be in it at once: each is woken by what any other does that it may wait for.
    pub fn wait_for<T>(
        &self,
        deadline: Option<u64>,
        mut condition: impl FnMut() -> Option<T>,
    ) -> Result<Option<T>, DeviceError> {
        loop {
            let seen = self.shared.sleepers.seen();
            let handled = self.progress()?;
            if let Some(found) = condition() {
                return Ok(Some(found));
            }
            if deadline.is_some_and(|at| at <= self.now()) {
                return Ok(None);
            }
            if handled == 0 {
                self.drive_by_itself();
                self.sleep(seen, deadline, true)?;
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
