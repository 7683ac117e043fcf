//! A connection that stands, in one hand: its identifier, its queue pair, and what the peer said.

use std::ops::Deref;
use std::time::Duration;

use super::channel::EventChannel;
use super::event::{CmEvent, CmEventType};
use super::id::CmId;
use super::param::ConnParam;
use super::CmError;
use crate::verbs::{Pd, Qp, QpInit, RecvWr};

/// A connection that stands ([`EventChannel::connect`], [`EventChannel::accept`]). It is its queue pair, to post to. Dropped, it is aborted:
/// [`close`](Self::close) ends it in order.
#[must_use = "a connection that is dropped is aborted"]
#[derive(Debug)]
pub struct Connection {
    channel: EventChannel,
    qp: Qp,
    established: CmEvent,
}

impl Deref for Connection {
    type Target = Qp;
    #[inline(always)]
    fn deref(&self) -> &Qp {
        &self.qp
    }
}

impl Connection {
    pub(super) fn new(channel: &EventChannel, qp: Qp, established: CmEvent) -> Self {
        Self {
            channel: channel.clone(),
            qp,
            established,
        }
    }

    /// Its identifier.
    pub fn id(&self) -> &CmId {
        &self.established.id
    }

    /// Its queue pair.
    #[inline(always)]
    pub fn qp(&self) -> &Qp {
        &self.qp
    }

    /// The event that told that it stands.
    pub fn established(&self) -> &CmEvent {
        &self.established
    }

    /// What the peer's application said when it accepted.
    pub fn private_data(&self) -> &[u8] {
        &self.established.private_data
    }

    /// Closes it in order: what is posted is done first. Waits until the peer has closed as well.
    ///
    /// # Errors
    /// [`CmError::Unexpected`] if it does not in time; then it is aborted.
    pub fn close(self, timeout: Option<Duration>) -> Result<(), CmError> {
        // The peer may be first; what is wrong with the device, the wait says.
        let _ = self.id().disconnect();
        self.closed(timeout).map(|_| ())
    }

    /// Waits until the peer has closed it, or it came to another end: [`CmEvent::reason`]. Other events of the channel stay there.
    pub fn closed(self, timeout: Option<Duration>) -> Result<CmEvent, CmError> {
        let wanted = CmEventType::Disconnected;
        let ended = self.channel.wait_for_event(wanted, self.id(), timeout)?;
        ended.ok_or(CmError::Unexpected { wanted, came: None })
    }
}

impl EventChannel {
    /// Waits for the next request of its listeners, gives it a queue pair with these receives, accepts it, and waits until the connection
    /// stands. Other events of the channel stay there.
    pub fn accept<'a>(
        &self,
        pd: &Pd,
        init: &QpInit,
        receives: impl IntoIterator<Item = RecvWr<'a>>,
        param: &ConnParam,
        timeout: Option<Duration>,
    ) -> Result<Connection, CmError> {
        let wanted = CmEventType::ConnectRequest;
        let request = self.wait_for_any(|event| event.event == wanted, timeout)?;
        let id = request
            .ok_or(CmError::Unexpected { wanted, came: None })?
            .id;
        let qp = id.create_qp(pd, init)?;
        // They have to be there before the peer may send.
        qp.post_recv_list(receives).map_err(|(_, error)| error)?;
        id.accept(param)?;
        self.established(&id, qp, timeout)
    }

    /// Waits until the connection of an identifier stands; why not, if it does not.
    pub(super) fn established(
        &self,
        id: &CmId,
        qp: Qp,
        timeout: Option<Duration>,
    ) -> Result<Connection, CmError> {
        let wanted = CmEventType::Established;
        match self.wait_for_any(|event| event.id.is(id), timeout)? {
            Some(event) if event.event == wanted => Ok(Connection::new(self, qp, event)),
            other => Err(CmError::Unexpected {
                wanted,
                came: other.map(|event| (event.event, event.status)),
            }),
        }
    }
}
