//! Connections to await: each with a channel of its own, so that no task has the events of another.

use std::fmt;
use std::net::SocketAddrV4;
use std::ops::Deref;

use super::channel::EventChannel;
use super::connection::Connection;
use super::event::{CmEvent, CmEventType};
use super::id::CmId;
use super::param::ConnParam;
use super::CmError;
use crate::device::{Awaited, Device};
use crate::verbs::{Pd, QpInit, RecvWr};

/// Events to await.
struct Events {
    channel: EventChannel,
    file: Awaited,
}

impl Events {
    fn new(device: &Device) -> Result<Self, CmError> {
        let channel = device.create_event_channel();
        let file = Awaited::new(channel.readiness()?)?;
        Ok(Self { channel, file })
    }

    async fn next(&self) -> Result<CmEvent, CmError> {
        loop {
            if let Some(event) = self.channel.try_get_event()? {
                return Ok(event);
            }
            self.file.readable().await?;
        }
    }

    /// The next one, which has to be this.
    async fn expect(&self, wanted: CmEventType) -> Result<CmEvent, CmError> {
        let event = self.next().await?;
        match event.event == wanted {
            true => Ok(event),
            false => Err(CmError::Unexpected {
                wanted,
                came: Some((event.event, event.status)),
            }),
        }
    }
}

/// A connection that stands, whose end can be awaited, in any runtime (feature `async`). It is a [`Connection`] to everything else.
#[must_use = "a connection that is dropped is aborted"]
pub struct AsyncConnection {
    connection: Connection,
    events: Events,
}

/// Who listens, to await requests. When it is dropped nobody new is let in.
pub struct AsyncListener {
    listener: CmId,
    events: Events,
}

impl Deref for AsyncConnection {
    type Target = Connection;
    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl fmt::Debug for AsyncConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.connection.fmt(f)
    }
}

impl fmt::Debug for AsyncListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.listener.fmt(f)
    }
}

impl Device {
    /// Connects with a new queue pair, and waits until the connection stands.
    pub async fn connect_async(
        &self,
        to: SocketAddrV4,
        pd: &Pd,
        init: &QpInit,
        param: &ConnParam,
    ) -> Result<AsyncConnection, CmError> {
        let events = Events::new(self)?;
        let id = events.channel.create_id();
        id.resolve_addr(to)?;
        events.expect(CmEventType::AddrResolved).await?;
        id.resolve_route()?;
        events.expect(CmEventType::RouteResolved).await?;
        let qp = id.create_qp(pd, init)?;
        id.connect(param)?;
        let stands = events.expect(CmEventType::Established).await?;
        let connection = Connection::new(&events.channel, qp, stands);
        Ok(AsyncConnection { connection, events })
    }

    /// Listens at a port.
    pub fn listen_async(&self, port: u16, backlog: usize) -> Result<AsyncListener, CmError> {
        let events = Events::new(self)?;
        let listener = events.channel.listen(port, backlog)?;
        Ok(AsyncListener { listener, events })
    }
}

impl AsyncListener {
    /// Waits for a request, gives it a queue pair with these receives, accepts it, and waits until the connection stands.
    pub async fn accept<'a>(
        &self,
        pd: &Pd,
        init: &QpInit,
        receives: impl IntoIterator<Item = RecvWr<'a>>,
        param: &ConnParam,
    ) -> Result<AsyncConnection, CmError> {
        let request = self.events.expect(CmEventType::ConnectRequest).await?;
        let (id, events) = (request.id, Events::new(self.listener.device())?);
        id.migrate(&events.channel)?;
        let qp = id.create_qp(pd, init)?;
        // They have to be there before the peer may send.
        qp.post_recv_list(receives).map_err(|(_, error)| error)?;
        id.accept(param)?;
        let stands = events.expect(CmEventType::Established).await?;
        let connection = Connection::new(&events.channel, qp, stands);
        Ok(AsyncConnection { connection, events })
    }
}

impl AsyncConnection {
    /// Closes it in order: what is posted is done first. Waits until the peer has closed as well.
    pub async fn close(self) -> Result<(), CmError> {
        // The peer may be first; what is wrong with the device, the wait says.
        let _ = self.id().disconnect();
        self.closed().await.map(|_| ())
    }

    /// Waits until the peer has closed it, or it came to another end: [`CmEvent::reason`].
    pub async fn closed(self) -> Result<CmEvent, CmError> {
        self.events.expect(CmEventType::Disconnected).await
    }
}
