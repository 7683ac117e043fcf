//! Completion channels: where completion queues say that they have something.

use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use super::cq::{Cq, CqInner};
use super::VerbsError;
use crate::device::{Device, Events, Readiness};
use crate::error::DeviceError;

/// A completion channel. Clones are the same channel.
#[derive(Clone, Debug)]
pub struct CompChannel {
    device: Device,
    announce: Announce,
}

/// Queues that announced a completion, in the order in which they did.
type Announced = Events<Weak<CqInner>>;

/// Who is told of an announcement.
#[derive(Clone)]
pub(super) struct Announce {
    queue: Arc<Announced>,
    /// It, in place of the queue.
    function: Option<Arc<dyn Fn() + Send + Sync>>,
}

impl Announce {
    pub(super) fn push(&self, cq: Weak<CqInner>) {
        match &self.function {
            Some(function) => function(),
            None => self.queue.push(cq),
        }
    }
}

impl fmt::Debug for Announce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.queue.fmt(f)
    }
}

impl Device {
    /// A completion channel: where queues that were asked to announce their next completion do so.
    #[tracing::instrument(name = "create_comp_channel", level = "debug", skip_all, fields(device = self.name()))]
    #[doc(alias = "ibv_create_comp_channel")]
    pub fn create_comp_channel(&self) -> CompChannel {
        CompChannel {
            device: self.clone(),
            announce: Announce {
                queue: Arc::default(),
                function: None,
            },
        }
    }

    /// A completion channel whose announcements call a function, and do not wait for [`get_event`](CompChannel::get_event). It is called as they come, with the device's
    /// lock: it must neither call the device nor panic, but may write to a file or wake a thread.
    #[tracing::instrument(name = "create_callback_comp_channel", level = "debug", skip_all, fields(device = self.name()))]
    pub fn create_callback_comp_channel(
        &self,
        function: impl Fn() + Send + Sync + 'static,
    ) -> CompChannel {
        CompChannel {
            device: self.clone(),
            announce: Announce {
                queue: Arc::default(),
                function: Some(Arc::new(function)),
            },
        }
    }
}

impl CompChannel {
    /// Its device.
    pub(super) fn device(&self) -> &Device {
        &self.device
    }

    pub(super) fn announce(&self) -> &Announce {
        &self.announce
    }

    fn pop(&self) -> Option<Cq> {
        // A queue that is gone has nothing to say.
        let inner = self.announce.queue.pop(|cq| cq.upgrade())?;
        Some(Cq::of(&self.device, inner))
    }

    /// A file that is readable while a queue has announced a completion, or the device has something to do: then call
    /// [`try_get_event`](Self::try_get_event). The order is that of `ibv_req_notify_cq` and a completion channel's `fd`: ask
    /// ([`Cq::req_notify`]), poll once more, wait for the file, take the event, ask again, poll until the queue is empty.
    pub fn readiness(&self) -> Result<Readiness, DeviceError> {
        self.device.readiness_of(&self.announce.queue)
    }

    /// The queue that announced a completion, if one did. Never blocks.
    pub fn try_get_event(&self) -> Result<Option<Cq>, VerbsError> {
        if let Some(cq) = self.pop() {
            return Ok(Some(cq));
        }
        self.device.progress()?;
        Ok(self.pop())
    }

    /// The queue that announced a completion; sleeps until one does or the time is over.
    #[tracing::instrument(name = "get_cq_event", level = "debug", skip_all, fields(device = self.device.name()))]
    #[doc(alias = "ibv_get_cq_event")]
    pub fn get_event(&self, timeout: Option<Duration>) -> Result<Option<Cq>, VerbsError> {
        let found = self
            .device
            .wait_for(deadline(&self.device, timeout), || self.pop())?;
        Ok(found)
    }
}

/// A point in the device's time.
pub(crate) fn deadline(device: &Device, timeout: Option<Duration>) -> Option<u64> {
    let nanos = |t: Duration| u64::try_from(t.as_nanos()).unwrap_or(u64::MAX);
    timeout.map(|t| device.now().saturating_add(nanos(t)))
}
