//! What the tools ask for when they connect, and what was agreed.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use thiserror::Error;

use crate::cm::{Agreed, CmError, CmEvent, ConnParam, ConnectFailure, Revision, RtrKinds};
use crate::error::DeviceError;
use crate::verbs::{AsyncEvent, TerminateCode, VerbsError, WcStatus};

/// How a tool connects or accepts. What is `None` is left to the tool, or to the peer's request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// Either side may send first (an RTR follows the start-up).
    pub peer_to_peer: Option<bool>,
    /// RTR kinds to offer or to be content with.
    pub rtr: Option<RtrKinds>,
    /// Do not ask for CRC32C.
    pub no_crc: bool,
    /// Ask the peer for markers.
    pub markers: bool,
    /// MPA revision to ask for.
    pub revision: Revision,
    /// Try once more with revision 1 if the peer closes the connection.
    pub fall_back: bool,
    /// Reads of the peer at a time.
    pub ird: Option<u16>,
    /// Reads of this side at a time.
    pub ord: Option<u16>,
    /// For the peer's application.
    pub private_data: Vec<u8>,
}

/// Reads at a time if the peer's request leaves it open, as rdma-core's tools have it.
const READS: u16 = 1;
/// Reads at a time that are accepted without being asked to.
const MOST_READS: u16 = 16;

impl Terms {
    /// The parameters of a connect.
    pub fn connect(&self) -> ConnParam {
        self.param(self.ird.unwrap_or(READS), self.ord.unwrap_or(READS))
    }

    /// The parameters of an accept: like librdmacm's without parameters, what the request has.
    pub fn accept(&self, request: &CmEvent) -> ConnParam {
        let from = |offer: Option<u16>| offer.unwrap_or(READS).clamp(1, MOST_READS);
        self.param(
            self.ird.unwrap_or(from(request.responder_resources)),
            self.ord.unwrap_or(from(request.initiator_depth)),
        )
    }

    fn param(&self, ird: u16, ord: u16) -> ConnParam {
        ConnParam {
            private_data: self.private_data.clone(),
            responder_resources: ird,
            initiator_depth: ord,
            peer_to_peer: self.peer_to_peer,
            rtr: self.rtr,
            crc: !self.no_crc,
            markers: self.markers,
            mpa_revision: self.revision,
            fall_back: self.fall_back,
        }
    }
}

/// A set of RTR kinds as people write it: `read,write`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtrList(pub RtrKinds);

const RTR_NAMES: [(&str, RtrKinds); 3] = [
    ("read", RtrKinds::READ),
    ("write", RtrKinds::WRITE),
    ("send", RtrKinds::SEND),
];

impl FromStr for RtrList {
    type Err = String;

    fn from_str(list: &str) -> Result<Self, String> {
        let mut kinds = RtrKinds::NONE;
        for name in list.split(',') {
            let (_, kind) = RTR_NAMES
                .iter()
                .find(|(known, _)| *known == name.trim())
                .ok_or_else(|| {
                    format!("no RTR is called `{name}`: there are read, write and send")
                })?;
            kinds = kinds.union(*kind);
        }
        Ok(Self(kinds))
    }
}

impl fmt::Display for RtrList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = RTR_NAMES
            .iter()
            .filter(|(_, kind)| self.0.contains(*kind))
            .map(|(name, _)| *name)
            .collect();
        f.write_str(&names.join(","))
    }
}

impl Serialize for RtrList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What a connection came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Negotiated {
    /// MPA revision.
    pub mpa_revision: u8,
    /// CRC32C is sent and checked.
    pub crc: bool,
    /// Markers are in what this side sends.
    pub markers_sent: bool,
    /// Markers are in what this side receives.
    pub markers_received: bool,
    /// The RTR, if the connection is peer-to-peer.
    pub rtr: Option<RtrList>,
    /// Reads of the peer at a time.
    pub ird: u16,
    /// Reads of this side at a time.
    pub ord: u16,
}

impl From<Agreed> for Negotiated {
    fn from(agreed: Agreed) -> Self {
        Self {
            mpa_revision: agreed.revision,
            crc: agreed.crc,
            markers_sent: agreed.markers_sent,
            markers_received: agreed.markers_received,
            rtr: agreed.rtr.map(RtrList),
            ird: agreed.ird,
            ord: agreed.ord,
        }
    }
}

impl fmt::Display for Negotiated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let markers = match (self.markers_sent, self.markers_received) {
            (false, false) => "off",
            (true, false) => "sent",
            (false, true) => "received",
            (true, true) => "both ways",
        };
        write!(
            f,
            "MPA revision {}, CRC {}, markers {markers}, IRD {}, ORD {}, ",
            self.mpa_revision,
            if self.crc { "on" } else { "off" },
            self.ird,
            self.ord
        )?;
        match self.rtr {
            Some(rtr) => write!(f, "peer-to-peer: {rtr}"),
            None => f.write_str("not peer-to-peer"),
        }
    }
}

/// Why a tool did not come to its end.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PeerError {
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A verb was refused.
    #[error(transparent)]
    Verbs(#[from] VerbsError),
    /// The connection manager refused.
    #[error(transparent)]
    Cm(#[from] CmError),
    /// The connection did not come about.
    #[error("{event}, status {status}: {why}")]
    NotConnected {
        /// librdmacm's name of the event.
        event: &'static str,
        /// 0 or a negative errno.
        status: i32,
        /// In words.
        why: String,
    },
    /// The peer, or the network, ended the connection before everything was done.
    #[error("the connection ended {when}: {why}")]
    Ended {
        /// What was being done.
        when: &'static str,
        /// In words.
        why: String,
    },
    /// Work completed with an error.
    #[error("a {work} completed with {status:?}{}", terminate_note(.terminate))]
    Completion {
        /// What was posted.
        work: &'static str,
        /// How it ended.
        status: WcStatus,
        /// The Terminate that ended the connection, and whether the peer sent it.
        terminate: Option<(TerminateCode, bool)>,
    },
    /// A message has not the size that the protocol has.
    #[error("the peer sent a message of {got} bytes where {expected} belong: it does not speak this protocol")]
    MessageSize {
        /// Received.
        got: u32,
        /// The protocol's.
        expected: u32,
    },
    /// The peer advertised a buffer that cannot be used.
    #[error(
        "the peer advertised {got} bytes, {allowed} are possible: give both sides the same size"
    )]
    Advertised {
        /// Its length.
        got: u32,
        /// What would be right.
        allowed: String,
    },
    /// Data are not what they should be.
    #[error("data mismatch in {what} {number}: byte {offset} is {got:#04x}, it should be {expected:#04x} ({wrong} of {length} bytes are wrong)")]
    Mismatch {
        /// "ping" or "message".
        what: &'static str,
        /// Which, from 0.
        number: u64,
        /// The first wrong byte.
        offset: usize,
        /// What is there.
        got: u8,
        /// What should be.
        expected: u8,
        /// How many are wrong.
        wrong: usize,
        /// Of how many.
        length: usize,
    },
    /// Nothing came for too long.
    #[error("nothing happened for {waited_ms} ms while {waiting_for}; is the peer there, and does it speak the same protocol?")]
    Silence {
        /// How long.
        waited_ms: u64,
        /// What was waited for.
        waiting_for: &'static str,
    },
    /// A setting is out of range.
    #[error("{setting} is {value}, it must be {allowed}")]
    Setting {
        /// Its name.
        setting: &'static str,
        /// Its value.
        value: u64,
        /// What is possible.
        allowed: String,
    },
}

impl Serialize for PeerError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

fn terminate_note(terminate: &Option<(TerminateCode, bool)>) -> String {
    match terminate {
        None => String::new(),
        Some((code, received)) => format!(
            " (Terminate {:#06x} {})",
            code.0,
            if *received {
                "from the peer"
            } else {
                "sent by this side"
            }
        ),
    }
}

impl PeerError {
    /// From an event that says that the connection did not come about.
    pub(super) fn not_connected(event: &CmEvent) -> Self {
        let why = match event.failure {
            Some(failure) => format!("{failure:?}: {}", explain(failure)),
            None if event.private_data.is_empty() => "the peer's application said no".to_owned(),
            None => format!(
                "the peer's application said no, with \"{}\"",
                event.private_data.escape_ascii()
            ),
        };
        Self::NotConnected {
            event: event.event.name(),
            status: event.status,
            why,
        }
    }

    /// From a DISCONNECTED.
    pub(super) fn ended(event: &CmEvent, when: &'static str) -> Self {
        let why = event
            .reason
            .map_or("for no given reason".to_owned(), |reason| {
                format!("{reason:?}")
            });
        Self::Ended { when, why }
    }

    /// Where `got` differs from `expected`, if it does.
    pub(super) fn mismatch(
        what: &'static str,
        number: u64,
        expected: &[u8],
        got: &[u8],
    ) -> Option<Self> {
        let differs = |(e, g): (&u8, &u8)| e != g;
        let offset = expected.iter().zip(got).position(differs)?;
        Some(Self::Mismatch {
            what,
            number,
            offset,
            got: got[offset],
            expected: expected[offset],
            wrong: expected
                .iter()
                .zip(got)
                .filter(|pair| differs(*pair))
                .count(),
            length: expected.len(),
        })
    }
}

/// What it means that a connection did not come about, and where to look.
fn explain(failure: ConnectFailure) -> &'static str {
    match failure {
        ConnectFailure::Unreachable => {
            "nobody answers ARP or SYN; is the address right and in this network, is the link up? --capture shows what leaves and arrives"
        }
        ConnectFailure::Refused => "nobody listens on the port",
        ConnectFailure::TimedOut => "TCP answers, MPA does not; is the listener an iWARP one?",
        ConnectFailure::Closed => {
            "the peer closed the connection during MPA start-up; an old one may want --mpa-rev 1 (or --fall-back)"
        }
        ConnectFailure::InvalidReply => "the MPA reply is malformed; --capture shows it",
        ConnectFailure::NoMatchingRtr => "the peer allows none of the RTR kinds offered; see --rtr",
        ConnectFailure::InsufficientReads => "the peer takes fewer Reads at a time than asked for; see --ord",
        ConnectFailure::NoResources => "the card has no flow left",
        ConnectFailure::NoRtr => "the first message was not one that may be first, or the RTR never came",
        _ => "see the capture",
    }
}

/// The Terminate of a queue pair among the device's asynchronous events; the others' are dropped.
pub(super) fn terminate_of(
    device: &crate::device::Device,
    qp_num: u32,
) -> Option<(TerminateCode, bool)> {
    std::iter::from_fn(|| device.get_async_event()).find_map(|event| match event {
        AsyncEvent::QpFatal {
            qp_num: number,
            terminate,
            received,
        } if number == qp_num => terminate.map(|code| (code, received)),
        AsyncEvent::QpFatal { .. } => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rtr_lists_are_read_and_written() {
        let list: RtrList = "send,read".parse().expect("both exist");
        assert_eq!(list.0, RtrKinds::READ.union(RtrKinds::SEND));
        assert_eq!(list.to_string(), "read,send");
        assert!("push".parse::<RtrList>().is_err());
        assert!("".parse::<RtrList>().is_err());
    }

    #[test]
    fn a_mismatch_names_its_first_byte() {
        assert_eq!(PeerError::mismatch("ping", 3, b"abc", b"abc"), None);
        let Some(PeerError::Mismatch {
            offset,
            got,
            expected,
            wrong,
            ..
        }) = PeerError::mismatch("ping", 3, b"abcd", b"aXcY")
        else {
            panic!("they differ");
        };
        assert_eq!((offset, got, expected, wrong), (1, b'X', b'b', 2));
    }
}
