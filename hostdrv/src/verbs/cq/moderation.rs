//! Events of a completion channel that several completions share (`ibv_modify_cq`).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::Duration;

use super::{when_free, Cq, CqInner};
use crate::device::ModeratedCq;
use crate::verbs::VerbsError;

/// How many completions an event of the completion channel may wait for, and how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Moderation {
    /// An event comes at the latest with so many completions of those that were asked for; 0: by time alone.
    pub count: u16,
    /// It comes at the latest so long after the first of them. Not nothing: the last completions would never be told of.
    pub period: Duration,
}

/// What waits at a completion queue.
pub(super) struct Moderator {
    moderation: Moderation,
    /// Completions since the last event that asked for one.
    held: u16,
    /// When there is an event at the latest, as soon as the device has seen that something waits.
    due: Option<u64>,
    /// Something waits whose time nobody has: the device's.
    fresh: Arc<AtomicBool>,
}

impl Moderator {
    /// A completion asks for an event. Does that wait?
    pub(super) fn waits(&mut self, failed: bool) -> bool {
        self.held = self.held.saturating_add(1);
        let count = self.moderation.count;
        if failed || count != 0 && self.held >= count {
            (self.held, self.due) = (0, None);
            return false;
        }
        if self.due.is_none() {
            self.fresh.store(true, Ordering::Relaxed);
        }
        true
    }

    fn due(&mut self, now: u64) -> Option<u64> {
        if self.held > 0 && self.due.is_none() {
            let period = u64::try_from(self.moderation.period.as_nanos());
            self.due = Some(now.saturating_add(period.unwrap_or(u64::MAX)));
        }
        self.due
    }
}

impl ModeratedCq for CqInner {
    fn due(&self, now: u64) -> Option<u64> {
        when_free(&self.writing).moderator.as_mut()?.due(now)
    }

    fn tell(self: Arc<Self>) {
        {
            let mut writing = when_free(&self.writing);
            let Some(moderator) = &mut writing.moderator else {
                return;
            };
            (moderator.held, moderator.due) = (0, None);
            let ring = &writing.ring;
            ring.layout.disarm(ring.words());
        }
        if let Some(announced) = &self.announced {
            announced.push(Arc::downgrade(&self));
        }
    }
}

impl Cq {
    /// From now on the event that was [asked for](Self::req_notify) waits for more completions (`ibv_modify_cq`); `None`: it does not, as at
    /// first. A failed completion ends the wait. What waits is told of at once.
    #[tracing::instrument(name = "modify_cq", level = "debug", skip_all, fields(device = self.device.name(), ?moderation))]
    #[doc(alias = "ibv_modify_cq")]
    pub fn modify(&self, moderation: Option<Moderation>) -> Result<(), VerbsError> {
        if self.inner.announced.is_none() {
            return Err(VerbsError::NoChannel);
        }
        if moderation.is_some_and(|moderation| moderation.period.is_zero()) {
            return Err(VerbsError::InvalidSize {
                what: "the period of a moderation",
                given: 0,
                allowed: "more, or the last completions are never told of",
            });
        }
        let mut state = self.device.lock();
        state.check_fault()?;
        let fresh = state.moderate(&self.inner, moderation.is_some());
        let moderator = moderation.map(|moderation| Moderator {
            moderation,
            held: 0,
            due: None,
            fresh,
        });
        let waiting = {
            let mut writing = when_free(&self.inner.writing);
            let before = std::mem::replace(&mut writing.moderator, moderator);
            let waiting = before.is_some_and(|before| before.held > 0);
            if waiting {
                let ring = &writing.ring;
                ring.layout.disarm(ring.words());
            }
            waiting
        };
        drop(state);
        if let (true, Some(announced)) = (waiting, &self.inner.announced) {
            announced.push(Arc::downgrade(&self.inner));
            self.device.announce();
        }
        Ok(())
    }

    /// What was [set](Self::modify).
    pub fn moderation(&self) -> Option<Moderation> {
        let writing = when_free(&self.inner.writing);
        writing.moderator.as_ref().map(|set| set.moderation)
    }
}
