//! The host's policy: who may connect to which port, by what name, how often. Asked before any program is.

mod at_work;
mod rate;
mod rules;

use std::net::Ipv4Addr;

use super::TransportKind;

pub use at_work::{HostPolicy, POLICY_FILE, POLICY_VARIABLE};
pub use rules::{Policy, PolicyError};

/// Private data of a request that was rejected because too many wait, or came: the peer may try again.
pub const REJECTED_BUSY: &[u8] = weft_engine::BUSY;
/// Private data of a request that the host's policy rejected without saying why.
pub const REJECTED_BY_POLICY: &[u8] = b"weft: not allowed";

/// What the policy is asked about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PolicyDirection {
    /// A request that comes to a port of this host.
    #[default]
    In,
    /// A connection that a client of a broker asks for. Where no rule fits it may.
    Out,
    /// A port that a client of a broker listens on. Where no rule fits it may.
    Listen,
}

/// What is known of a request when the policy is asked.
#[derive(Clone, Copy, Debug)]
pub struct Asker<'a> {
    /// What is to be done.
    pub direction: PolicyDirection,
    /// Who asks; [`Out`](PolicyDirection::Out): who is asked.
    pub from: Ipv4Addr,
    /// The port that is listened on.
    pub port: u16,
    /// The user of this host whose port or connection it is, where it is a client's of a broker.
    pub user: Option<u32>,
    /// By what way.
    pub transport: TransportKind,
    /// What the peer's application sent along: its identity, if it begins with one.
    pub private_data: &'a [u8],
}

/// What the policy says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// The listener may be asked.
    Approved,
    /// Rejected, with this private data.
    Rejected(Vec<u8>),
}
