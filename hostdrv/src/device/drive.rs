//! The thread that drives a device while its program does something else.
//!
//! ```text
//!   stand by ── nobody calls in ──► progress ── nothing for a while ──► lead the sleepers: interrupt, timer
//!      ▲                                                                              │
//!      └──────── a call came: it leaves the card to the program ◄─────────────────────┘
//! ```

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{mpsc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use weft_card_transport::turns::{Joined, Seat};

use super::sleepers::Sleepers;
use super::Device;
use crate::error::DeviceError;

/// How long it stays away from a program that calls in: the first time, and at most.
const SHORTEST_NAP: Duration = Duration::from_micros(50);
const LONGEST_NAP: Duration = Duration::from_millis(1);

/// How long it looks for more before it sleeps: twice as long where there was more, half as long where there was none.
const SHORTEST_LOOK_NS: u64 = 1_000;
const LONGEST_LOOK_NS: u64 = 50_000;

/// A device makes progress by itself as long as this lives ([`Device::drive`]). It keeps the device.
#[must_use = "the device is driven as long as this lives"]
#[derive(Debug)]
pub struct Drive {
    device: Device,
}

/// The thread of a device, and who wants it.
pub(super) struct Driver {
    wanted: Mutex<Wanted>,
    /// The first call that sleeps starts it.
    by_itself: AtomicBool,
}

#[derive(Default)]
struct Wanted {
    guards: usize,
    thread: Option<Driving>,
}

/// The thread.
struct Driving {
    thread: JoinHandle<()>,
    /// Where threads take turns: it is waited for there.
    joined: Option<Joined>,
}

impl Driver {
    pub(super) fn new(by_itself: bool) -> Self {
        Self {
            wanted: Mutex::default(),
            by_itself: AtomicBool::new(by_itself),
        }
    }

    fn wanted(&self) -> MutexGuard<'_, Wanted> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Somebody wants it no longer; the last one ends it.
    fn leave(&self, sleepers: &Sleepers) {
        let mut wanted = self.wanted();
        wanted.guards -= 1;
        if wanted.guards == 0 {
            Self::end(wanted, sleepers);
        }
    }

    /// The device closes.
    pub(super) fn close(&self, sleepers: &Sleepers) {
        Self::end(self.wanted(), sleepers);
    }

    fn end(mut wanted: MutexGuard<'_, Wanted>, sleepers: &Sleepers) {
        sleepers.let_drive(false);
        let ended = wanted.thread.take();
        drop(wanted);
        // A callback that drops a guard or a device is called by the thread itself.
        let is_other = |ended: &Driving| ended.thread.thread().id() != thread::current().id();
        if let Some(ended) = ended.filter(is_other) {
            if let Some(joined) = ended.joined {
                joined.wait();
            }
            let _ = ended.thread.join();
        }
    }
}

impl Device {
    /// A thread acknowledges, sends again, answers Reads and closes, whatever the program does meanwhile, until the last of these guards is
    /// dropped. Callbacks ([`create_callback_channel`](Self::create_callback_channel), `listen_with`) may be called by it.
    ///
    /// It sleeps on the card's interrupt and the engine's next timer, and keeps away from a program that polls or waits: who waits
    /// takes the interrupt itself. Posts and polls cost what they cost without it; a post that finds it asleep may have to wake it (a system call).
    ///
    /// Unless [`DeviceConfig::polled`](super::DeviceConfig::polled) says otherwise, a program's first call that sleeps does this, for as long as the device is open.
    ///
    /// # Errors
    /// [`DeviceError::NoThread`] if the system has no thread to give.
    pub fn drive(&self) -> Result<Drive, DeviceError> {
        self.want_driver()?;
        Ok(Drive {
            device: self.clone(),
        })
    }

    /// The program is about to sleep by a file that a [callback](Self::create_callback_comp_channel) writes: the thread that [drives](Self::drive) the device goes on at
    /// once, and does not wait whether it calls in again.
    pub fn leave_to_driver(&self) {
        self.shared.sleepers.leave();
    }

    /// A call is about to sleep: it may be the first.
    #[inline]
    pub(super) fn drive_by_itself(&self) {
        let by_itself = &self.shared.driver.by_itself;
        if by_itself.load(Ordering::Relaxed) && by_itself.swap(false, Ordering::Relaxed) {
            if let Err(error) = self.want_driver() {
                tracing::warn!(%error, "the device makes progress in the program's calls alone");
            }
        }
    }

    fn want_driver(&self) -> Result<(), DeviceError> {
        let mut wanted = self.shared.driver.wanted();
        if wanted.thread.is_none() {
            self.shared.sleepers.let_drive(true);
            wanted.thread = Some(self.start_driving()?);
        }
        wanted.guards += 1;
        Ok(())
    }

    fn start_driving(&self) -> Result<Driving, DeviceError> {
        let (device, (begun, begins)) = (self.as_inner(), mpsc::channel());
        let turns = self.shared.turns.clone();
        let name = format!("drives {}", self.name());
        let seat = turns.and_then(|turns| turns.register(&name));
        let joined = seat.as_ref().map(Seat::joined);
        let work = move || {
            let transport = device.shared.mmio.transport.clone();
            match &seat {
                Some(seat) => seat.begin(),
                None => transport.drives(true),
            }
            let _ = begun.send(());
            device.keep_driving();
            if seat.is_none() {
                transport.drives(false);
            }
            // The next turn begins when nothing of the device is left here.
            drop(device);
            drop(seat);
        };
        let thread = thread::Builder::new().name("weft-drive".into()).spawn(work);
        let thread = thread.map_err(|error| DeviceError::NoThread {
            reason: error.to_string(),
        })?;
        if joined.is_none() {
            // From here on a simulated world knows of it.
            let _ = begins.recv();
        }
        Ok(Driving { thread, joined })
    }

    /// The thread's work, until it is to end or the device has failed.
    fn keep_driving(&self) {
        let _span = tracing::debug_span!("drive", device = self.name()).entered();
        let sleepers = &self.shared.sleepers;
        // In simulated time nothing may depend on how long a nap takes.
        let is_timed = self.shared.mmio.transport.interrupt_fd(0).is_some();
        let mut look = Look::new(is_timed);
        let mut calls = self.calls();
        loop {
            let mut nap = if is_timed {
                SHORTEST_NAP
            } else {
                Duration::ZERO
            };
            while sleepers.is_caller_asleep() || is_timed && calls != self.calls() {
                calls = self.calls();
                if !self.stand_by(nap) {
                    return;
                }
                nap = (nap * 2).min(LONGEST_NAP);
            }
            let looked = look.at(self, calls);
            if looked.is_ok() && is_timed && calls != self.calls() {
                continue;
            }
            match looked.and_then(|()| self.lead()) {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => {
                    tracing::debug!(%error, "nothing is left to drive");
                    return;
                }
            }
        }
    }

    /// Waits until no other thread sleeps on the device, and then for `nap`. False: the thread is to end.
    fn stand_by(&self, nap: Duration) -> bool {
        let transport = &self.shared.mmio.transport;
        transport.drives(false);
        let goes_on = self.shared.sleepers.stand_by(nap);
        transport.drives(true);
        goes_on
    }

    /// How often the program has called in.
    fn calls(&self) -> u64 {
        let calls = &self.shared.mmio.counts.progress_calls;
        calls.load(Ordering::Relaxed)
    }

    /// Sleeps until the card, a timer or another sleeper wants something. False: the thread is to end.
    fn lead(&self) -> Result<bool, DeviceError> {
        let sleepers = &self.shared.sleepers;
        let Some(leading) = sleepers.drive() else {
            return Ok(self.stand_by(Duration::ZERO));
        };
        let begun = {
            let mut state = self.lock();
            if state.doorbells.is_rung() {
                return Ok(true);
            }
            state.arm()?;
            leading.begin(state.next_deadline())
        };
        if let Some(until) = begun {
            let taken = self.take_interrupt(until);
            leading.end();
            taken?;
        }
        Ok(true)
    }
}

/// How it looks at the card.
struct Look {
    ns: u64,
    most: u64,
}

impl Look {
    fn new(is_timed: bool) -> Self {
        let is_alone = thread::available_parallelism().is_ok_and(|threads| threads.get() == 1);
        Self {
            ns: SHORTEST_LOOK_NS,
            most: match is_timed && !is_alone {
                true => LONGEST_LOOK_NS,
                false => 0,
            },
        }
    }

    /// Has done what there is, until there is nothing for a while or the program calls in itself.
    fn at(&mut self, device: &Device, calls: u64) -> Result<(), DeviceError> {
        let is_left = || device.calls() == calls && !device.shared.sleepers.is_over();
        let mut handled = device.progress_quietly()?;
        while handled > 0 && is_left() {
            let until = device.now().saturating_add(self.ns.min(self.most));
            handled = loop {
                let more = device.progress_quietly()?;
                if more > 0 || device.now() >= until || !is_left() {
                    break more;
                }
                std::hint::spin_loop();
            };
            self.ns = match handled {
                0 => (self.ns / 2).max(SHORTEST_LOOK_NS),
                _ => (self.ns * 2).min(LONGEST_LOOK_NS),
            };
        }
        Ok(())
    }
}

impl Drop for Drive {
    fn drop(&mut self) {
        let shared = &self.device.shared;
        shared.driver.leave(&shared.sleepers);
    }
}
