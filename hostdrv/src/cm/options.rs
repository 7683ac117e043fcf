//! What may be said about an identifier before it is used (`rdma_set_option`).

use std::net::SocketAddrV4;

use weft_engine::{commands, Endpoint};

use super::id::{expect, CmId, CmState};
use super::{CmError, EventChannel};

/// A setting of one identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CmOption {
    /// A listener's: a request beyond its backlog is rejected with [`REJECTED_BUSY`](super::REJECTED_BUSY) at once instead of waiting in a line
    /// for its turn.
    AnswerBusy(bool),
    /// A listener's: what it insists on. `Some(true)`: requests without peer-to-peer are rejected, and the reason told; `Some(false)`: those
    /// with it; `None`: the request decides.
    PeerToPeer(Option<bool>),
    /// `RDMA_OPTION_ID_REUSEADDR`: `connect` from a bound port may take the place of a connection between the same addresses that is over and waits
    /// (TIME_WAIT). Its sequence numbers begin beyond the old ones (RFC 9293 §3.4.1, RFC 6528).
    ReuseAddress(bool),
    /// The connection's VLAN. None: see [`CmError::NoOption`].
    Vlan(u16),
    /// `RDMA_OPTION_ID_TOS`: the IPv4 type of service of the connection's packets. Its two low bits are ECN's, and of no effect, as Linux has it. A
    /// listener's is that of the connections it lets in, from their reply on, unless the request's identifier is told another one before `accept`.
    /// By the loop there are no packets.
    TypeOfService(u8),
}

/// What was said.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Options {
    pub(super) answer_busy: bool,
    pub(super) peer_to_peer: Option<bool>,
    pub(super) reuse_address: bool,
    pub(super) type_of_service: u8,
}

/// Requests that come in beyond a backlog to be told so.
const TOLD_BUSY: usize = 64;

impl Options {
    /// What a listener's connections have of it.
    pub(super) fn of_connection(&self) -> Self {
        Self {
            type_of_service: self.type_of_service,
            ..Self::default()
        }
    }

    /// What the engine is to let in for a listener with this backlog.
    pub(super) fn backlog(&self, backlog: usize) -> usize {
        match (self.answer_busy, backlog) {
            // Any number: none is beyond it.
            (_, 0) | (false, _) => backlog,
            (true, _) => backlog.saturating_add(TOLD_BUSY),
        }
    }
}

impl CmId {
    /// Sets an option. A listener's have to be set before `listen`, the others before `connect`, a type of service before `connect` or `accept`.
    ///
    /// # Errors
    /// [`CmError::NoOption`]: the data path has it not, and the reason; [`CmError::WrongState`]: too late.
    #[doc(alias = "rdma_set_option")]
    pub fn set_option(&self, option: CmOption) -> Result<(), CmError> {
        let mut data = self.data();
        let early = [CmState::Idle, CmState::AddrResolved, CmState::RouteResolved];
        let answered = [CmState::Requested];
        let when: &[CmState] = match option {
            CmOption::TypeOfService(_) if data.state == CmState::Requested => &answered,
            _ => &early,
        };
        expect(&data, "set_option", when)?;
        match option {
            CmOption::AnswerBusy(on) => data.options.answer_busy = on,
            CmOption::PeerToPeer(on) => data.options.peer_to_peer = on,
            CmOption::ReuseAddress(on) => data.options.reuse_address = on,
            CmOption::Vlan(id) => return Err(CmError::NoOption {
                option: "Vlan",
                given: id.into(),
                why:
                    "the card tags no frames, and takes tagged ones for the host's own stack alone",
            }),
            CmOption::TypeOfService(tos) => data.options.type_of_service = tos,
        }
        Ok(())
    }

    /// From now on its events arrive in this channel, and so do those that wait in the old one (`rdma_migrate_id`).
    ///
    /// # Errors
    /// [`CmError::WrongDevice`]: the channel is another device's.
    #[doc(alias = "rdma_migrate_id")]
    pub fn migrate(&self, to: &EventChannel) -> Result<(), CmError> {
        if !to.device().is(self.device()) {
            return Err(CmError::WrongDevice {
                what: "event channel",
            });
        }
        // Nothing is told meanwhile.
        let mut channel = self.lock_channel();
        let moved = match channel.upgrade() {
            Some(old) if old.is(to) => return Ok(()),
            Some(old) => old.take_events_of(self),
            None => Vec::new(),
        };
        *channel = to.downgrade_and_know(self);
        for event in moved {
            to.push(event);
        }
        drop(channel);
        self.device().announce();
        Ok(())
    }

    /// A connection between these addresses that is over, and waits, makes room.
    pub(super) fn reuse(&self, local_port: u16, remote: SocketAddrV4) {
        let remote = Endpoint {
            ip: remote.ip().octets(),
            port: remote.port(),
        };
        let done = self
            .device()
            .command(&commands::forget(local_port, remote), &[]);
        if !matches!(done, Ok(Ok(_))) {
            tracing::debug!(local_port, ?remote, ?done, "nothing was forgotten");
        }
    }
}
