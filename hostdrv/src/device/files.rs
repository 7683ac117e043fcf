//! Files to wait for a device by: `poll`, `epoll`, and the async runtimes that are built on them.
//!
//! A file of a channel is readable when the channel has an event *or* the device has something to do
//! (a report, a timer): the program then asks the channel, which lets the device do it, and may find nothing.
//!
//! While there is such a file, posts send ([`DeviceConfig::deferred`](super::DeviceConfig::deferred) or not), since its holder may sleep on it. Without one
//! nothing is done for files.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rustix::event::{epoll, eventfd, EventfdFlags};
use rustix::time::{
    timerfd_create, timerfd_settime, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags,
    Timespec,
};

use super::sleepers::Sleepers;
use super::{Device, State};
use crate::error::DeviceError;
use weft_card_transport::TransportError;

/// A file that is readable while there may be something to do. It is not read: ask what it is of (`try_get_event`,
/// [`Device::progress`]) until there is nothing more, which makes it unreadable, and wait again.
///
/// ```
/// # use weft_hostdrv::verbs::*;
/// # use rustix::event::{poll, PollFd, PollFlags};
/// fn next(channel: &CompChannel) -> Result<Cq, Box<dyn std::error::Error>> {
///     let file = channel.readiness()?;
///     loop {
///         if let Some(cq) = channel.try_get_event()? {
///             return Ok(cq);
///         }
///         poll(&mut [PollFd::new(&file, PollFlags::IN)], None)?;
///     }
/// }
/// ```
pub struct Readiness {
    epoll: OwnedFd,
    /// What it watches stays open.
    _watching: Watching,
    _device: Device,
    _own: Option<Arc<dyn Bells>>,
}

/// Something with a file of its own.
pub(crate) trait Bells: Send + Sync {}
impl<T: Send> Bells for Events<T> {}

/// Events that wait for a taker, with a file that is readable while there are some.
pub(crate) struct Events<T> {
    queue: Mutex<VecDeque<T>>,
    bell: OnceLock<OwnedFd>,
}

/// What all files of a device watch.
pub(super) struct Watch {
    epoll: OwnedFd,
    timer: OwnedFd,
    /// What the timer is set to.
    timer_at: Mutex<Option<u64>>,
}

/// While it lives, somebody may sleep by what it watches.
pub(super) struct Watching {
    watch: Arc<Watch>,
    sleepers: Arc<Sleepers>,
}

impl<T> Default for Events<T> {
    fn default() -> Self {
        Self {
            queue: Mutex::default(),
            bell: OnceLock::new(),
        }
    }
}

impl<T> fmt::Debug for Events<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events")
            .field("waiting", &self.queue().len())
            .finish()
    }
}

impl<T> Events<T> {
    fn queue(&self) -> MutexGuard<'_, VecDeque<T>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an event.
    pub(crate) fn push(&self, event: T) {
        let mut queue = self.queue();
        queue.push_back(event);
        self.ring();
    }

    /// Takes the oldest event that `wanted` makes something of; those before it are gone.
    pub(crate) fn pop<U>(&self, wanted: impl FnMut(T) -> Option<U>) -> Option<U> {
        let mut queue = self.queue();
        let found = std::iter::from_fn(|| queue.pop_front()).find_map(wanted);
        self.silence(&queue);
        found
    }

    /// The bell of an empty queue does not ring.
    fn silence(&self, queue: &VecDeque<T>) {
        if let (true, Some(bell)) = (queue.is_empty(), self.bell.get()) {
            // It may be silent already.
            let _ = rustix::io::read(bell, &mut [0; 8]);
        }
    }

    /// Takes out the first event of which this holds, wherever it stands.
    pub(crate) fn remove(&self, is: impl FnMut(&T) -> bool) -> Option<T> {
        let mut queue = self.queue();
        let at = queue.iter().position(is)?;
        let found = queue.remove(at);
        self.silence(&queue);
        found
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.queue().len()
    }

    fn ring(&self) {
        if let Some(bell) = self.bell.get() {
            // It may be ringing already.
            let _ = rustix::io::write(bell, &1u64.to_ne_bytes());
        }
    }

    /// The file.
    fn bell(&self) -> io::Result<&OwnedFd> {
        let queue = self.queue();
        if self.bell.get().is_none() {
            let flags = EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC;
            let _ = self.bell.set(eventfd(0, flags)?);
            if !queue.is_empty() {
                self.ring();
            }
        }
        drop(queue);
        self.bell.get().ok_or_else(|| io::ErrorKind::Other.into())
    }
}

impl Watch {
    fn new(device: &Device) -> Result<Self, DeviceError> {
        let transport = &device.shared.mmio.transport;
        let interrupt = transport
            .interrupt_fd(0)
            .ok_or(TransportError::Unsupported("waiting by a file"))?;
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags).map_err(no_file)?;
        let epoll = watch([Some(interrupt), transport.lost_fd(), Some(timer.as_fd())])?;
        Ok(Self {
            epoll,
            timer,
            timer_at: Mutex::default(),
        })
    }

    /// Makes it readable at this time; `None`: not by time.
    pub(super) fn set_timer(&self, at: Option<u64>) {
        let mut set = self.timer_at.lock().unwrap_or_else(PoisonError::into_inner);
        if *set == at {
            return;
        }
        *set = at;
        // Zero would turn it off.
        let ns = at.map_or(0, |at| at.max(1));
        let zero = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let value = Itimerspec {
            it_interval: zero,
            it_value: Timespec {
                tv_sec: (ns / 1_000_000_000) as i64,
                tv_nsec: (ns % 1_000_000_000) as _,
            },
        };
        if let Err(error) = timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &value) {
            tracing::error!(%error, "the timer of a device's file");
        }
    }
}

impl State {
    /// What files watch, if there are any.
    pub(super) fn watched(&self) -> Option<&Watch> {
        let watch = self.watch.as_deref();
        watch.filter(|_| self.sleepers.is_file_out())
    }

    /// Is an interrupt to be looked for that makes files readable? That is a system call: of calls that find nothing, one after the other, fewer
    /// and fewer do it.
    pub(super) fn looks_for_interrupt(&self) -> bool {
        let empty = self.empty_looks;
        self.watched().is_some() && (empty == 0 || empty.is_power_of_two())
    }

    /// The device's own thread has found something: files are readable until the program looks, whoever took the interrupt.
    pub(super) fn tell_of_driving(&mut self) {
        self.driven_news = true;
        self.keep_watch();
    }

    /// Keeps what files of the device watch as it should be.
    pub(super) fn keep_watch(&self) {
        if let Some(watch) = self.watched() {
            watch.set_timer(match self.fault {
                None if !self.driven_news => self.next_deadline(),
                // There is something to look at, for ever after a failure.
                _ => Some(1),
            });
        }
    }
}

impl Device {
    /// A file that is readable when [`progress`](Self::progress) has something to do, and when the device failed. Its
    /// transport must have [interrupts that can be polled for](weft_card_transport::Transport::interrupt_fd) and the system's
    /// monotonic time, as both real ones have.
    pub fn readiness(&self) -> Result<Readiness, DeviceError> {
        self.readiness_with(None)
    }

    /// A file that is readable when there is an [asynchronous event](Self::get_async_event), or the device has something to do.
    pub fn async_readiness(&self) -> Result<Readiness, DeviceError> {
        let events = self.lock().async_events.clone();
        self.readiness_of(&events)
    }

    /// The same, and when there are events.
    pub(crate) fn readiness_of<T: Send + 'static>(
        &self,
        events: &Arc<Events<T>>,
    ) -> Result<Readiness, DeviceError> {
        let bell = events.bell().map_err(no_file)?;
        let file = self.readiness_with(Some(bell.as_fd()))?;
        Ok(Readiness {
            _own: Some(Arc::clone(events) as Arc<dyn Bells>),
            ..file
        })
    }

    fn readiness_with(&self, own: Option<BorrowedFd<'_>>) -> Result<Readiness, DeviceError> {
        let watching = self.watching()?;
        Ok(Readiness {
            epoll: watch([Some(watching.as_fd()), own])?,
            _watching: watching,
            _device: self.clone(),
            _own: None,
        })
    }

    /// What all files of the device watch, as long as there are some.
    pub(super) fn watching(&self) -> Result<Watching, DeviceError> {
        let mut state = self.lock();
        let watch = match &state.watch {
            Some(watch) => watch.clone(),
            None => Arc::new(Watch::new(self)?),
        };
        state.watch = Some(watch.clone());
        let watching = Watching::new(watch, &self.shared.sleepers);
        state.empty_looks = 0;
        state.keep_watch();
        state.arm()?;
        // Dropped with the lock, which sends what was posted before.
        Ok(watching)
    }
}

impl Watching {
    fn new(watch: Arc<Watch>, sleepers: &Arc<Sleepers>) -> Self {
        sleepers.count_file(true);
        Self {
            watch,
            sleepers: sleepers.clone(),
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.sleepers.count_file(false);
    }
}

impl AsFd for Watching {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.watch.epoll.as_fd()
    }
}

/// A file that is readable while one of these is.
fn watch<const N: usize>(files: [Option<BorrowedFd<'_>>; N]) -> Result<OwnedFd, DeviceError> {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(no_file)?;
    for (n, file) in files.into_iter().flatten().enumerate() {
        let data = epoll::EventData::new_u64(n as u64);
        epoll::add(&epoll, file, data, epoll::EventFlags::IN).map_err(no_file)?;
    }
    Ok(epoll)
}

pub(super) fn no_file(error: impl Into<io::Error>) -> DeviceError {
    DeviceError::Transport(TransportError::Interrupt {
        vector: 0,
        reason: error.into().to_string(),
    })
}

impl AsFd for Readiness {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

impl AsRawFd for Readiness {
    fn as_raw_fd(&self) -> RawFd {
        self.epoll.as_raw_fd()
    }
}

impl fmt::Debug for Readiness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Readiness").field(&self.epoll).finish()
    }
}
