//! What another process may do by its control rings: listen on a port, ask for a connection, be asked for one.

use std::net::{Ipv4Addr, SocketAddrV4};

/// Decides for one process. Called without any lock; an error is what the other side is told, private data of a rejection.
pub trait Gate: Send + Sync {
    /// May it listen on this port? 0: on one of the device's choice.
    fn listens(&self, port: u16) -> Result<(), Vec<u8>>;
    /// May it ask for a connection to there, with this private data?
    fn connects(&self, to: SocketAddrV4, private_data: &[u8]) -> Result<(), Vec<u8>>;
    /// May somebody's request come to its port?
    fn request(&self, request: &Knock<'_>) -> Result<(), Vec<u8>>;
}

/// A request at a port of another process.
#[derive(Clone, Copy, Debug)]
pub struct Knock<'a> {
    /// Whose it is.
    pub from: SocketAddrV4,
    /// The port.
    pub port: u16,
    /// It comes from inside the host.
    pub inside: bool,
    /// What came with it.
    pub private_data: &'a [u8],
}

/// Allows everything: for processes that are trusted as much as this one.
#[derive(Clone, Copy, Debug)]
pub struct Open;

impl Gate for Open {
    fn listens(&self, _: u16) -> Result<(), Vec<u8>> {
        Ok(())
    }

    fn connects(&self, _: SocketAddrV4, _: &[u8]) -> Result<(), Vec<u8>> {
        Ok(())
    }

    fn request(&self, _: &Knock<'_>) -> Result<(), Vec<u8>> {
        Ok(())
    }
}

/// An address of a command or an event.
pub(super) fn address(ip: [u8; 4], port: u16) -> SocketAddrV4 {
    SocketAddrV4::new(Ipv4Addr::from(ip), port)
}
