//! The device of this process. It drives itself ([`Device::drive`]), and hands on what happens as it comes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use weft_hostdrv::verbs::AsyncEvent;
use weft_hostdrv::{transport, Device, DeviceError};

use crate::asynchronous::Asynchronous;
use crate::bindings::{ibv_qp, ibv_srq};
use crate::calls::{log, refuse, Answer, Log};
use crate::cm::Ids;
use crate::device::Context;
use crate::events::{Ends, Events};
use crate::memory::Regions;
use crate::{absent, broker, settings};

/// The open device, and what there is on it. It lives as long as the process.
pub(crate) struct Process {
    pub(crate) device: Device,
    pub(crate) context: Context,
    pub(crate) regions: Regions,
    pub(crate) events: Events<Asynchronous>,
    pub(crate) ids: Ids,
    /// Queue pairs and shared receive queues by number.
    pub(crate) qps: Handles<ibv_qp>,
    pub(crate) srqs: Handles<ibv_srq>,
    /// Completion channels, which end with the device.
    channels: Mutex<Channels>,
    pid: u32,
}

/// What ends with the device.
#[derive(Default)]
struct Channels {
    all: Vec<Weak<dyn Ends>>,
    ended: bool,
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

    /// The first of several handles is the one that events are told of.
    pub(crate) fn add_if_new(&self, number: u32, handle: *mut T) {
        let mut handles = lock(&self.0);
        handles.entry(number).or_insert(AtomicPtr::new(handle));
    }

    pub(crate) fn remove(&self, number: u32, handle: *mut T) {
        let mut handles = lock(&self.0);
        let there = handles
            .get(&number)
            .map(|there| there.load(Ordering::Relaxed));
        if there == Some(handle) {
            handles.remove(&number);
        }
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
    let made = begin(device()?)?;
    // As long as the process: whatever the program does, or does not.
    std::mem::forget(made.device.drive()?);
    *open = Some(made);
    at_exit();
    Ok(made)
}

/// The device that the environment names.
fn device() -> Answer<Device> {
    let name = settings::device()?;
    let opened = match broker::socket(&name) {
        Some(socket) => match broker::open(socket) {
            Ok(device) => return settings::check_lent(device),
            Err(why) => Err(why),
        },
        None => transport::open(&name).map_err(|error| error.to_string()),
    };
    match opened {
        Ok(transport) => Ok(Device::open(transport, settings::config()?)?),
        Err(why) => {
            if log() >= Log::Refused {
                eprintln!("weft-rdma: {why}");
            }
            refuse(libc::ENODEV, "the card cannot be opened")
        }
    }
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
        qps: Handles::default(),
        srqs: Handles::default(),
        channels: Mutex::default(),
        pid: std::process::id(),
        device,
    };
    let process: &'static Process = Box::leak(Box::new(process));
    process.device.handle_async_events(|event| {
        if let Some(event) = process.translated(&event) {
            process.events.push(event);
        }
        if let AsyncEvent::DeviceFatal(error) = &event {
            process.device_ends(error);
        }
    });
    Ok(process)
}

/// When the program ends its connections are closed, before the driver, whose own handler was there first, lets what is closing get to its end.
fn at_exit() {
    extern "C" fn exit() {
        let open = lock(&OPEN).filter(|process| process.pid == std::process::id());
        if let Some(process) = open {
            let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| process.end()));
            drop(ended);
        }
    }
    // SAFETY: a function without arguments, which stays where it is: this library is not unloaded.
    unsafe { libc::atexit(exit) };
    absent::at_exit();
}

impl Process {
    /// These events end with the device: who waits for them is told.
    pub(crate) fn end_with_device(&self, events: &Arc<impl Ends + 'static>) {
        let mut channels = lock(&self.channels);
        if channels.ended {
            events.end();
        }
        channels.all.retain(|channel| channel.strong_count() > 0);
        let events: Weak<dyn Ends> = Arc::downgrade(events) as Weak<dyn Ends>;
        channels.all.push(events);
    }

    /// Said always, and once: a program does not ask for the reason.
    fn device_ends(&self, error: &DeviceError) {
        eprintln!("weft-rdma: the card is gone: {error}; start the program anew when it is there");
        self.events.end();
        let mut channels = lock(&self.channels);
        channels.ended = true;
        let all = channels.all.iter().filter_map(Weak::upgrade);
        all.for_each(|channel| channel.end());
    }

    /// What was asked of the device is begun, and what it said arrives; then the program may sleep.
    pub(crate) fn nudge(&self) {
        // A failure is the device's, which tells it with the next call.
        let _ = self.device.progress();
        self.device.leave_to_driver();
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

    /// The program ends: connections are closed in order.
    fn end(&self) {
        for id in self.ids.all() {
            // One that is none, or is over, has nothing to close.
            let _ = id.disconnect();
        }
    }
}
