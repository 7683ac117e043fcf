//! The device of this process, and the thread that drives it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use weft_hostdrv::cm::{CmId, CmState};
use weft_hostdrv::verbs::AsyncEvent;
use weft_hostdrv::{transport, Device};

use crate::asynchronous::Asynchronous;
use crate::bindings::{ibv_qp, ibv_srq};
use crate::calls::{log, refuse, Answer, Log};
use crate::cm::Ids;
use crate::completions::Announcer;
use crate::device::Context;
use crate::events::Events;
use crate::memory::Regions;
use crate::{absent, settings};

/// How long the device stays up at exit for connections that are closing.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// And for a last acknowledgment.
const LINGER: Duration = Duration::from_millis(200);
/// Between two looks at a program that polls.
const PAUSE: Duration = Duration::from_millis(1);

/// The open device, and what there is on it. It lives as long as the process.
pub(crate) struct Process {
    pub(crate) device: Device,
    pub(crate) context: Context,
    pub(crate) regions: Regions,
    pub(crate) events: Events<Asynchronous>,
    pub(crate) ids: Ids,
    /// Completion queues with a channel.
    announcers: Mutex<Vec<Arc<Announcer>>>,
    /// Queue pairs and shared receive queues by number.
    pub(crate) qps: Handles<ibv_qp>,
    pub(crate) srqs: Handles<ibv_srq>,
    /// Connections that the program has closed and destroyed, and that are not over.
    closing: Mutex<Vec<CmId>>,
    /// Polls that found nothing.
    polls: AtomicU64,
    /// There was a connection.
    connected: AtomicBool,
    ending: AtomicBool,
    pid: u32,
}

/// Handles of the program's by number.
pub(crate) struct Handles<T>(Mutex<BTreeMap<u32, AtomicPtr<T>>>);

impl<T> Default for Handles<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Handles<T> {
    pub(crate) fn add(&self, number: u32, handle: *mut T) {
        lock(&self.0).insert(number, AtomicPtr::new(handle));
    }

    pub(crate) fn remove(&self, number: u32) {
        lock(&self.0).remove(&number);
    }

    fn get(&self, number: u32) -> Option<*mut T> {
        let handles = lock(&self.0);
        Some(handles.get(&number)?.load(Ordering::Relaxed))
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

static OPEN: Mutex<Option<&'static Process>> = Mutex::new(None);

/// The device; the first call opens it.
pub(crate) fn process() -> Answer<&'static Process> {
    let mut open = lock(&OPEN);
    if let Some(process) = *open {
        return match process.pid == std::process::id() {
            true => Ok(process),
            false => refuse(
                libc::ENODEV,
                "the card is the process' that opened it before this one was forked",
            ),
        };
    }
    let transport = match transport::open(&settings::device()?) {
        Ok(transport) => transport,
        Err(error) => {
            if log() >= Log::Refused {
                eprintln!("weft-rdma: {error}");
            }
            return refuse(libc::ENODEV, "the card cannot be opened");
        }
    };
    let made = begin(Device::open(transport, settings::config()?)?)?;
    std::thread::Builder::new()
        .name("weft-rdma".into())
        .spawn(|| made.drive())?;
    *open = Some(made);
    at_exit();
    Ok(made)
}

/// Lets the process have this device, which nobody drives; false if it has one, or cannot have it. For benches.
#[doc(hidden)]
pub fn open_on(device: Device) -> bool {
    let mut open = lock(&OPEN);
    match (*open, begin(device)) {
        (None, Ok(made)) => *open = Some(made),
        _ => return false,
    }
    true
}

/// What there is on a device.
fn begin(device: Device) -> Answer<&'static Process> {
    let events = Events::new()?;
    let process = Process {
        context: Context::new(events.file())?,
        regions: Regions::new(&device),
        events,
        ids: Ids::default(),
        announcers: Mutex::default(),
        qps: Handles::default(),
        srqs: Handles::default(),
        closing: Mutex::default(),
        polls: AtomicU64::new(0),
        connected: AtomicBool::new(false),
        ending: AtomicBool::new(false),
        pid: std::process::id(),
        device,
    };
    Ok(Box::leak(Box::new(process)))
}

/// What is to be done when the program ends, is done.
pub(crate) fn at_exit() {
    extern "C" fn exit() {
        let open = lock(&OPEN).filter(|process| process.pid == std::process::id());
        if let Some(process) = open {
            let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| process.end()));
            drop(ended);
        }
        absent::print();
    }
    static ONCE: Once = Once::new();
    // SAFETY: a function without arguments, which stays where it is: this library is not unloaded.
    ONCE.call_once(|| unsafe {
        libc::atexit(exit);
    });
}

impl Process {
    /// A poll found nothing: the program drives the device itself, as polls do.
    pub(crate) fn note_idle_poll(&self) {
        let polls = self.polls.load(Ordering::Relaxed);
        self.polls.store(polls.wrapping_add(1), Ordering::Relaxed);
    }

    /// What was asked of the device is begun, and what it said arrives.
    pub(crate) fn nudge(&self) {
        // A failure is the device's, which tells it with the next call.
        let _ = self.device.progress();
    }

    /// There is, or may soon be, a connection.
    pub(crate) fn note_connection(&self) {
        self.connected.store(true, Ordering::Relaxed);
    }

    pub(crate) fn add_announcer(&self, announcer: &Arc<Announcer>) {
        lock(&self.announcers).push(announcer.clone());
    }

    pub(crate) fn remove_announcer(&self, announcer: &Arc<Announcer>) {
        lock(&self.announcers).retain(|other| !Arc::ptr_eq(other, announcer));
    }

    /// A connection that is closing gets to its end, though the program has let go of it.
    pub(crate) fn see_out(&self, id: CmId) {
        if id.state() == CmState::Disconnecting {
            lock(&self.closing).push(id);
        }
    }

    /// Connections that the program has let go of are over, or have no more time.
    pub(crate) fn wait_for_closing(&self) {
        let until = self.until(LAST_WORDS);
        let over = || self.is_closed().then_some(());
        let waited = self.device.wait_for(Some(until), over);
        if !matches!(waited, Ok(Some(()))) {
            lock(&self.closing).clear();
        }
    }

    fn until(&self, time: Duration) -> u64 {
        self.device.now().saturating_add(time.as_nanos() as u64)
    }

    fn is_closed(&self) -> bool {
        let mut closing = lock(&self.closing);
        let (kept, over) = std::mem::take(&mut *closing)
            .into_iter()
            .partition(|id| id.state() == CmState::Disconnecting);
        *closing = kept;
        let is_closed = closing.is_empty();
        drop(closing);
        // Outside the lock: the last handle of a connection wants the device's.
        let over: Vec<CmId> = over;
        drop(over);
        is_closed
    }

    /// Drives the device as long as it works. A program that polls is left alone: its polls do it.
    fn drive(&'static self) {
        let mut seen = 0;
        while !self.ending.load(Ordering::Relaxed) {
            let polls = self.polls.load(Ordering::Relaxed);
            let is_polled = polls != seen;
            seen = polls;
            if is_polled && !lock(&self.announcers).iter().any(|a| a.is_armed()) {
                std::thread::sleep(PAUSE);
                continue;
            }
            let leave = || {
                self.deliver();
                let polled = self.polls.load(Ordering::Relaxed) != polls;
                (polled || self.ending.load(Ordering::Relaxed)).then_some(())
            };
            if self.device.wait_for(None, leave).is_err() {
                self.deliver();
                return;
            }
        }
    }

    /// Events go where the program waits for them.
    fn deliver(&self) {
        let announcers = lock(&self.announcers).clone();
        for announcer in announcers {
            announcer.deliver();
        }
        while let Some(event) = self.device.get_async_event() {
            if let Some(event) = self.translated(&event) {
                self.events.push(event);
            }
        }
        self.is_closed();
    }

    fn translated(&self, event: &AsyncEvent) -> Option<Asynchronous> {
        use crate::bindings::*;
        let of_qp = |kind, number| Some(Asynchronous::qp(kind, self.qps.get(number)?));
        match event {
            AsyncEvent::QpFatal { qp_num, .. } => of_qp(IBV_EVENT_QP_FATAL, *qp_num),
            AsyncEvent::QpAccessError { qp_num, .. } => of_qp(IBV_EVENT_QP_ACCESS_ERR, *qp_num),
            AsyncEvent::CommEstablished { qp_num } => of_qp(IBV_EVENT_COMM_EST, *qp_num),
            AsyncEvent::LastWqeReached { qp_num } => of_qp(IBV_EVENT_QP_LAST_WQE_REACHED, *qp_num),
            AsyncEvent::SrqLimitReached { srq_num } => Some(Asynchronous::srq(
                IBV_EVENT_SRQ_LIMIT_REACHED,
                self.srqs.get(*srq_num)?,
            )),
            AsyncEvent::DeviceFatal(_) => Some(Asynchronous::device(IBV_EVENT_DEVICE_FATAL)),
            _ => None,
        }
    }

    /// The program ends: connections are closed in order, within a limit.
    fn end(&self) {
        self.ending.store(true, Ordering::Relaxed);
        if !self.connected.load(Ordering::Relaxed) {
            return;
        }
        for id in self.ids.all() {
            if id.disconnect().is_ok() {
                self.see_out(id);
            }
        }
        self.wait_for_closing();
        let _ = self
            .device
            .wait_for(Some(self.until(LINGER)), || None::<()>);
    }
}
