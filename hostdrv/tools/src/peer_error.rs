//! Why a tool that talks to a peer did not come to its end.

use serde::{Serialize, Serializer};
use thiserror::Error;

use weft_hostdrv::cm::{CmError, CmEvent, ConnectFailure, TakeOverError};
use weft_hostdrv::device::Device;
use weft_hostdrv::verbs::{AsyncEvent, TerminateCode, VerbsError, WcStatus};
use weft_hostdrv::DeviceError;

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
    /// The user ended it before everything was done.
    #[error("interrupted after {done} of {}", pings(*.asked))]
    Interrupted {
        /// Pings done.
        done: u64,
        /// Of so many; 0: of any number, and there was none.
        asked: u64,
    },
    /// The connection is one of the kernel's, and that did not work.
    #[error("the kernel's connection: {0}")]
    Kernel(String),
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

fn pings(asked: u64) -> String {
    match asked {
        0 => "any pings".to_owned(),
        count => format!("{count} pings"),
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
    pub(super) fn taking(error: TakeOverError) -> Self {
        Self::Kernel(error.to_string())
    }

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
        ConnectFailure::UnsupportedRevision => "the peer speaks MPA of a revision that Weft does not (0 is the RDMA Consortium's)",
        ConnectFailure::InvalidReply => "the MPA reply is malformed; --capture shows it",
        ConnectFailure::NoMatchingRtr => "the peer allows none of the RTR kinds offered; see --rtr",
        ConnectFailure::InsufficientReads => "the peer takes fewer Reads at a time than asked for; see --ord",
        ConnectFailure::NoResources => "the card has no flow left",
        ConnectFailure::SegmentTooSmall => "the peer's MSS is below 140, too small for FPDUs; see the MTU on the way",
        ConnectFailure::NoXrc => "the peer has accepted, but is no XRC target",
        ConnectFailure::NoRtr => "the first message was not one that may be first, or the RTR never came",
        _ => "see the capture",
    }
}

/// The Terminate of a queue pair among the device's asynchronous events; the others' are dropped.
pub(super) fn terminate_of(device: &Device, qp_num: u32) -> Option<(TerminateCode, bool)> {
    std::iter::from_fn(|| device.get_async_event()).find_map(|event| match event {
        AsyncEvent::QpFatal {
            qp_num: number,
            terminate,
            received,
        } if number == qp_num => terminate.map(|code| (code, received)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
