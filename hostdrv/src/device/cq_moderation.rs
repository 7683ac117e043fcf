//! Events that wait for more of their kind, and the time at which they do no longer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use super::State;

/// What makes events that may wait.
pub(crate) trait ModeratedCq: Send + Sync {
    /// When what waits has waited for long enough; what nobody has asked about before waits from `now` on. With the device's lock.
    fn due(&self, now: u64) -> Option<u64>;
    /// It has. With the device's lock.
    fn tell(self: Arc<Self>);
}

/// All that have events that may wait.
#[derive(Default)]
pub(super) struct Waiting {
    those: Vec<Weak<dyn ModeratedCq>>,
    /// Something waits that [`ModeratedCq::due`] was not asked about.
    fresh: Arc<AtomicBool>,
    /// When the first one has waited for long enough.
    pub(super) first_due: Option<u64>,
}

impl State {
    /// Events of `source` may wait from now on, or do not. What it has to set when one begins to.
    pub(crate) fn moderate<T: ModeratedCq + 'static>(
        &mut self,
        source: &Arc<T>,
        may_wait: bool,
    ) -> Arc<AtomicBool> {
        let waiting = &mut self.waiting;
        let source = Arc::downgrade(source);
        waiting.those.retain(|one| {
            one.strong_count() > 0 && !std::ptr::addr_eq(one.as_ptr(), source.as_ptr())
        });
        if may_wait {
            waiting.those.push(source);
        }
        waiting.fresh.clone()
    }

    /// Tells of what has waited for long enough; was there something?
    pub(super) fn tell_of_waiting(&mut self) -> bool {
        let now = self.mmio.transport.clone();
        let waiting = &mut self.waiting;
        if waiting.those.is_empty() {
            waiting.first_due = None;
            return false;
        }
        let fresh = waiting.fresh.swap(false, Ordering::Relaxed);
        if !fresh && waiting.first_due.is_none() {
            return false;
        }
        let now = now.now();
        if !fresh && waiting.first_due.is_some_and(|due| due > now) {
            return false;
        }
        let mut told = false;
        waiting.first_due = None;
        waiting.those.retain(|one| {
            let Some(one) = one.upgrade() else {
                return false;
            };
            match one.due(now) {
                Some(due) if due <= now => {
                    one.tell();
                    told = true;
                }
                Some(due) => {
                    let first = waiting.first_due.map_or(due, |first| first.min(due));
                    waiting.first_due = Some(first);
                }
                None => {}
            }
            true
        });
        told
    }
}
