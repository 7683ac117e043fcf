//! The resolver service: answers, over a Unix socket, so that whoever connects asks nobody on the wire. It knows what a cluster's table says,
//! what the system's names say, what the devices of this host tell, and what the resolvers of other hosts answer.

mod cache;
mod peers;
mod service;
mod sources;

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::{Path, PathBuf};

use serde::Serialize;
use thiserror::Error;

pub use service::Resolver;
use sources::by_system;
pub use sources::Lookup;
use weft_hostdrv::cm::TableError;

/// Why there is no service.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ResolverError {
    /// The table's file.
    #[error("cannot read the table {path}: {error}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// What is in it.
    #[error("{path}: {error}")]
    Table {
        /// Which.
        path: PathBuf,
        /// Why.
        error: TableError,
    },
    /// The socket.
    #[error("cannot listen at {path}: {error}")]
    Socket {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Somebody answers there already.
    #[error("another resolver answers at {0}")]
    InUse(PathBuf),
    /// Where the peers ask.
    #[error("cannot be asked by peers at {at}: {error}")]
    Peers {
        /// Which address and port.
        at: SocketAddrV4,
        /// Why.
        error: io::Error,
    },
}

/// What a resolver answers from, and where.
pub struct ResolverConfig {
    socket: PathBuf,
    table: Option<PathBuf>,
    peers_at: Option<SocketAddrV4>,
    lookup: Box<Lookup>,
}

impl ResolverConfig {
    /// One without a table, which looks names up as the system does, at this socket.
    pub fn new(socket: &Path) -> Self {
        Self {
            socket: socket.to_owned(),
            table: None,
            peers_at: None,
            lookup: Box::new(by_system),
        }
    }

    /// The file of a [`Table`](weft_hostdrv::cm::Table), which is read again when it changes.
    pub fn table(mut self, path: &Path) -> Self {
        self.table = Some(path.to_owned());
        self
    }

    /// The resolvers that the table names as peers are answered at this UDP port.
    pub fn peers_at(mut self, at: SocketAddrV4) -> Self {
        self.peers_at = Some(at);
        self
    }

    /// Names are looked up so.
    pub fn lookup(
        mut self,
        lookup: impl Fn(&str) -> Vec<Ipv4Addr> + Send + Sync + 'static,
    ) -> Self {
        self.lookup = Box::new(lookup);
        self
    }
}

/// What it did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ResolverReport {
    /// Questions that were answered with a way, of which peers knew [`by_peers`](Self::by_peers).
    pub known: u64,
    /// Questions that nobody could answer.
    pub unknown: u64,
    /// Messages that were no question, or did not come in time.
    pub nonsense: u64,
    /// Askers beyond 64 at a time.
    pub turned_away: u64,
    /// Times that the table was read anew.
    pub reloads: u64,
    /// Announcements by devices of this host.
    pub announced: u64,
    /// Announcements by a user who is neither root nor the resolver's: not believed.
    pub not_believed: u64,
    /// Answers that came from a peer.
    pub by_peers: u64,
    /// Questions of peers that were answered, with a way or without.
    pub for_peers: u64,
    /// Datagrams of hosts that are no peers.
    pub strangers: u64,
}
