//! Whose connections and listeners the engine's are, and their events on the way there.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use weft_engine::{ConnId, Event};

use super::Device;
use crate::error::DeviceError;

/// Who has a connection or a listener. Called without any lock, by one thread at a time and in the order of the events.
pub(crate) trait EventOwner: Send + Sync {
    /// An event of its connection; `last`: the connection is over.
    fn event(self: Arc<Self>, conn: ConnId, event: Event, last: bool);

    /// Somebody wants to connect to its listener: an [`Event::ConnectRequest`] of a connection that nobody has yet.
    fn request(self: Arc<Self>, conn: ConnId, event: Event) -> Result<(), DeviceError>;
}

/// The owners. It keeps nobody alive.
#[derive(Default)]
pub(crate) struct EventRouting {
    listeners: BTreeMap<u16, Weak<dyn EventOwner>>,
    connections: BTreeMap<ConnId, Weak<dyn EventOwner>>,
}

impl EventRouting {
    pub(crate) fn add_listener(&mut self, port: u16, owner: Weak<dyn EventOwner>) {
        self.listeners.insert(port, owner);
    }

    pub(crate) fn add_connection(&mut self, conn: ConnId, owner: Weak<dyn EventOwner>) {
        self.connections.insert(conn, owner);
    }

    pub(crate) fn remove_connection(&mut self, conn: ConnId) {
        self.connections.remove(&conn);
    }

    /// Has somebody this connection?
    fn knows(&self, conn: ConnId) -> bool {
        self.connections.contains_key(&conn)
    }

    /// The owner of a connection; `last`: it is over.
    fn of(&mut self, conn: ConnId, last: bool) -> Option<Arc<dyn EventOwner>> {
        let owner = self.connections.get(&conn).and_then(Weak::upgrade);
        if last || owner.is_none() {
            self.connections.remove(&conn);
        }
        owner
    }

    /// Does somebody listen on this port?
    pub(crate) fn listens(&self, port: u16) -> bool {
        let listener = self.listeners.get(&port);
        listener.is_some_and(|listener| listener.strong_count() > 0)
    }

    fn of_listener(&self, port: u16) -> Option<Arc<dyn EventOwner>> {
        self.listeners.get(&port).and_then(Weak::upgrade)
    }
}

impl Device {
    /// Hands an event on to whom it belongs. Called without any lock.
    pub(super) fn route_event(&self, event: Event) -> Result<(), DeviceError> {
        let (conn, last) = match &event {
            Event::QpFatal {
                qp,
                terminate,
                received,
            } => {
                self.lock().qp_failed(*qp, *terminate, *received);
                return Ok(());
            }
            Event::LastWqe { qp } => {
                self.lock().last_wqe(*qp);
                return Ok(());
            }
            Event::SrqLimit { srq } => {
                self.lock().srq_limit(*srq);
                return Ok(());
            }
            Event::Forgotten { conn } => {
                self.forgotten(*conn);
                return Ok(());
            }
            Event::Moved { .. } => {
                self.moved();
                return Ok(());
            }
            Event::StreamRequest { conn, .. }
            | Event::StreamEstablished { conn, .. }
            | Event::StreamClosed { conn, .. }
                if !self.lock().event_routing.knows(*conn) =>
            {
                if let Some(events) = &mut self.lock().stream_events {
                    events.push_back(event);
                }
                return Ok(());
            }
            Event::Established {
                conn, qp, agreed, ..
            } => {
                if agreed.ord == 0 {
                    self.lock().refuse_reads(*qp);
                }
                (*conn, false)
            }
            Event::ConnectRequest { conn, .. } | Event::StreamEstablished { conn, .. } => {
                (*conn, false)
            }
            Event::Rejected { conn, .. }
            | Event::ConnectError { conn, .. }
            | Event::Disconnected { conn, .. }
            | Event::StreamClosed { conn, .. } => (*conn, true),
            other => {
                tracing::debug!(event = ?other, "event for nobody");
                return Ok(());
            }
        };
        let owner = self.lock().event_routing.of(conn, last);
        match (owner, &event) {
            (Some(owner), _) => owner.event(conn, event, last),
            (None, Event::ConnectRequest { port, .. }) => {
                let listener = self.lock().event_routing.of_listener(*port);
                let Some(listener) = listener else {
                    tracing::debug!(port, "request for a listener that is gone");
                    self.refuse(conn);
                    return Ok(());
                };
                return listener.request(conn, event);
            }
            (None, _) => {}
        }
        Ok(())
    }
}
