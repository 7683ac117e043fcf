//! Why a connection cannot move.

use std::io;

use thiserror::Error;

/// Why a socket was not taken out, or a state not put back. The socket goes on as before.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Refusal {
    /// No TCP, or another one (MPTCP).
    #[error("not a socket of TCP over IPv4")]
    NotTcp,
    /// Only a connection that stands, and that this side has not closed, can be moved.
    #[error("the connection is not established (Linux' state {state}); take it after connect or accept, and before shutdown")]
    NotEstablished {
        /// Linux' number of the state (`include/net/tcp_states.h`).
        state: u8,
    },
    /// The kernel does not let this process.
    #[error(
        "TCP_REPAIR is not permitted: it needs CAP_NET_ADMIN in the socket's network namespace"
    )]
    NotPermitted,
    /// TLS or something else is between the bytes and the user.
    #[error("{name} is attached to the connection (TCP_ULP): its state is not TCP's, and bytes would be lost")]
    UpperProtocol {
        /// Its name: `tls`, `mptcp`, `smc`.
        name: String,
    },
    /// The peer has sent urgent data that were not read past.
    #[error("urgent data are pending; read them first")]
    UrgentData,
    /// Segments carry authentication (RFC 5925).
    #[error("the segments are authenticated (TCP-AO)")]
    Authenticated,
    /// Something was agreed in the handshake that is not known here.
    #[error("the connection has options that are not known here (TCPI_OPT {bits:#04x})")]
    UnknownOptions {
        /// The bits of `tcpi_options` that are not known.
        bits: u8,
    },
    /// Segments go on arriving: somebody has to hold them.
    #[error("the connection moves while its state is read; hold its frames first")]
    Moving,
    /// A socket cannot be made to have heard the peer's FIN.
    #[error("the peer has closed; Linux has no way to put that back")]
    PeerClosed,
    /// A socket cannot be made to use ECN behind the handshake.
    #[error("the connection uses ECN; Linux has no way to put that back")]
    Ecn,
    /// The state is none of a connection.
    #[error("no connection can be in this state: {0}")]
    Impossible(String),
    /// The kernel says no to something else.
    #[error("{what}: {error}")]
    Kernel {
        /// What was asked for.
        what: &'static str,
        /// Its answer.
        error: io::Error,
    },
}

impl Refusal {
    pub(super) fn impossible(why: weft_engine::Impossible) -> Self {
        Self::Impossible(why.to_string())
    }

    pub(super) fn kernel(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |error| match error.raw_os_error() {
            Some(libc::EPERM) => Refusal::NotPermitted,
            _ => Refusal::Kernel { what, error },
        }
    }
}
