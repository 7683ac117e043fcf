//! Devices in a child made by `fork`: they have failed, with one error.
//!
//! No thread is inside a device while the process is copied: the child finds each state whole and its lock free, and dropping what it
//! inherited hangs on nothing.

use std::cell::RefCell;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError, Weak};

use weft_card_transport::TransportError;

use super::{Shared, State};

/// All devices of this process.
static DEVICES: Mutex<Vec<Weak<Shared>>> = Mutex::new(Vec::new());

/// A device that nobody else is in.
struct Stopped {
    // In this order: the lock goes before what it is in.
    state: MutexGuard<'static, State>,
    shared: Arc<Shared>,
}

struct AllStopped {
    devices: Vec<Stopped>,
    list: MutexGuard<'static, Vec<Weak<Shared>>>,
}

thread_local! {
    static HELD: RefCell<Option<AllStopped>> = const { RefCell::new(None) };
}

/// A child finds the device failed.
pub(super) fn watch(device: &Arc<Shared>) {
    static ONCE: Once = Once::new();
    // Memory is mapped with a device's lock held: this one's handlers stop devices before the transport's hold the list of mappings.
    weft_card_transport::fork::watch();
    // SAFETY: the handlers are functions of this program, and do what a child may do.
    ONCE.call_once(|| unsafe {
        if libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) != 0 {
            tracing::warn!("no memory to notice forks: a child must not touch a device");
        }
    });
    let mut list = list();
    list.retain(|device| device.strong_count() > 0);
    list.push(Arc::downgrade(device));
}

fn list() -> MutexGuard<'static, Vec<Weak<Shared>>> {
    DEVICES.lock().unwrap_or_else(PoisonError::into_inner)
}

extern "C" fn before() {
    let list = list();
    let stop = |shared: Arc<Shared>| {
        let state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the guard is dropped before the device that it is kept with.
        let state = unsafe {
            std::mem::transmute::<MutexGuard<'_, State>, MutexGuard<'static, State>>(state)
        };
        Stopped { state, shared }
    };
    let devices = list.iter().filter_map(Weak::upgrade).map(stop).collect();
    let all = AllStopped { devices, list };
    let _ = HELD.try_with(|held| *held.borrow_mut() = Some(all));
}

extern "C" fn in_parent() {
    let all = HELD.try_with(|held| held.borrow_mut().take());
    drop(all);
}

extern "C" fn in_child() {
    let all = HELD.try_with(|held| held.borrow_mut().take());
    let Some(AllStopped { devices, mut list }) = all.ok().flatten() else {
        return;
    };
    list.clear();
    for Stopped { mut state, shared } in devices {
        let device = shared.name.clone();
        state.fault = Some(TransportError::Inherited { device }.into());
        shared.failed.store(true, Ordering::Release);
        for entry in state.qps.values() {
            entry.queues.fail();
        }
        drop(state);
        // Its end is not a handler's work.
        std::mem::forget(shared);
    }
}
