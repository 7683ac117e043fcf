//! The state of a connection on its way from one stack to another.

use std::net::SocketAddrV4;

use weft_engine::{Endpoint, StreamHandover};

/// An established connection: addresses, numbers, windows, what the handshake agreed on, and the bytes that no user has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectionState {
    stream: StreamHandover,
}

impl ConnectionState {
    pub(crate) fn of_engine(state: StreamHandover) -> Self {
        Self { stream: state }
    }

    pub(crate) fn engine(&self) -> &StreamHandover {
        &self.stream
    }

    /// This side.
    pub fn local(&self) -> SocketAddrV4 {
        address(self.stream.local)
    }

    /// The other side.
    pub fn remote(&self) -> SocketAddrV4 {
        address(self.stream.remote)
    }

    /// Bytes that the peer has not acknowledged, in order: those that were sent, and behind them those that were not.
    pub fn unacknowledged(&self) -> (&[u8], &[u8]) {
        let tcp = &self.stream.tcp;
        let sent = (tcp.flight() as usize).min(tcp.unacknowledged.len());
        tcp.unacknowledged.split_at(sent)
    }

    /// Bytes that were acknowledged, and that nobody has read.
    pub fn unread(&self) -> &[u8] {
        &self.stream.tcp.unread
    }

    /// The peer's FIN has come.
    pub fn peer_closed(&self) -> bool {
        self.stream.tcp.peer_closed
    }
}

pub(super) fn address(end: Endpoint) -> SocketAddrV4 {
    SocketAddrV4::new(end.ip.into(), end.port)
}
