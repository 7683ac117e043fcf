//! Connection parameters.

use std::sync::atomic::{AtomicU8, Ordering};

use weft_engine::{ConnectParams, Endpoint, Revision, RtrKinds};

use super::host_config::HostConfig;
use super::CmError;

// Environment (programs): `WEFT_PEER_TO_PEER`: peer-to-peer start-up (RFC 6581) where a program does not say: `on` or `off`. Without it: on.
/// The environment variable that says whether connections are peer-to-peer unless the program does.
pub const PEER_TO_PEER_VARIABLE: &str = "WEFT_PEER_TO_PEER";

/// How to connect or accept (`rdma_conn_param`, and what iWARP has beyond it).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnParam {
    /// For the peer's application: at most 508 bytes with MPA revision 2, 512 with 1. Towards Linux siw
    /// stay below 252.
    pub private_data: Vec<u8>,
    /// Reads of the peer that this side takes at a time: IRD.
    pub responder_resources: u16,
    /// Reads of this side under way at a time: ORD.
    pub initiator_depth: u16,
    /// Either side may send first: an RTR follows the start-up (RFC 6581). Off: the client has to send first,
    /// the wire is RFC 5044's. `None`: the process default. When accepting, the request decides;
    /// `Some(true)` then refuses a request without it.
    pub peer_to_peer: Option<bool>,
    /// RTR kinds to offer, or when accepting to be content with. `None`: what suits every known peer.
    pub rtr: Option<RtrKinds>,
    /// Ask for CRC32C; it is on if either side asks.
    pub crc: bool,
    /// Ask the peer to put markers into what it sends.
    pub markers: bool,
    /// Ask that each segment of either side begin with an FPDU, or grant it when accepting: a card with islands then places messages behind a lost segment at
    /// once, without markers. A peer that does not grant it goes on without, as all do that are not Weft's; and `private_data` has four bytes less. Needs
    /// revision 2 and `crc`. For ways without boxes that make segments anew: where one begins inside an FPDU, CRC32C alone tells that from an FPDU.
    pub aligned: bool,
    /// MPA revision to ask for. Peer-to-peer by default is off with revision 1, which has none. When
    /// accepting, the request decides.
    pub mpa_revision: Revision,
    /// If the peer closes the connection instead of replying, try once more with revision 1.
    pub fall_back: bool,
}

impl ConnParam {
    /// The default, and this for the peer's application.
    pub fn with_private_data(private_data: impl Into<Vec<u8>>) -> Self {
        Self {
            private_data: private_data.into(),
            ..Self::default()
        }
    }
}

impl Default for ConnParam {
    fn default() -> Self {
        Self {
            private_data: Vec::new(),
            responder_resources: 16,
            initiator_depth: 16,
            peer_to_peer: None,
            rtr: None,
            crc: true,
            markers: false,
            aligned: false,
            mpa_revision: Revision::Rev2,
            fall_back: false,
        }
    }
}

impl ConnParam {
    /// What it says for the start-up of a connection that this side begins; of the connection itself nothing.
    pub(super) fn start_up(&self) -> Result<ConnectParams<'_>, CmError> {
        Ok(ConnectParams {
            remote: Endpoint::default(),
            local_port: None,
            private_data: &self.private_data,
            ird: self.responder_resources,
            ord: self.initiator_depth,
            peer_to_peer: self.peer_to_peer()?,
            rtr: self.rtr_or(RtrKinds::READ.union(RtrKinds::WRITE))?,
            crc: self.crc,
            markers: self.markers,
            aligned: self.aligned,
            revision: self.mpa_revision,
            fall_back: false,
            route: None,
            tos: 0,
        })
    }

    /// RTR kinds: its own, else the host's, else these.
    pub(super) fn rtr_or(&self, usual: RtrKinds) -> Result<RtrKinds, CmError> {
        match self.rtr {
            Some(kinds) => Ok(kinds),
            None => Ok(HostConfig::of_host()?.rtr.unwrap_or(usual)),
        }
    }

    /// Is the connection to be peer-to-peer?
    pub(super) fn peer_to_peer(&self) -> Result<bool, CmError> {
        match self.peer_to_peer {
            Some(on) => Ok(on),
            None if self.mpa_revision == Revision::Rev1 => Ok(false),
            None => default_peer_to_peer(),
        }
    }
}

const UNSET: u8 = 0;
const OFF: u8 = 1;
const ON: u8 = 2;
static DEFAULT: AtomicU8 = AtomicU8::new(UNSET);

/// Sets what `ConnParam::peer_to_peer: None` means in this process; `None`: what the environment variable
/// says, else the host's configuration, else on.
pub fn set_default_peer_to_peer(on: Option<bool>) {
    let value = match on {
        None => UNSET,
        Some(false) => OFF,
        Some(true) => ON,
    };
    DEFAULT.store(value, Ordering::Relaxed);
}

/// What `ConnParam::peer_to_peer: None` means now: what the program set, else the environment
/// variable, else the host's configuration ([`HostConfig`]), else on.
pub fn default_peer_to_peer() -> Result<bool, CmError> {
    match DEFAULT.load(Ordering::Relaxed) {
        OFF => Ok(false),
        ON => Ok(true),
        _ => match std::env::var_os(PEER_TO_PEER_VARIABLE) {
            None => Ok(HostConfig::of_host()?.peer_to_peer.unwrap_or(true)),
            Some(value) => parse(&value.to_string_lossy()),
        },
    }
}

fn parse(value: &str) -> Result<bool, CmError> {
    match value.trim().to_ascii_lowercase().as_str() {
        "1" | "on" | "true" | "yes" => Ok(true),
        "0" | "off" | "false" | "no" => Ok(false),
        _ => Err(CmError::Environment(value.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_is_read_strictly() {
        for on in ["1", "on", "TRUE", " yes "] {
            assert_eq!(parse(on), Ok(true), "{on}");
        }
        for off in ["0", "Off", "false", "no"] {
            assert_eq!(parse(off), Ok(false), "{off}");
        }
        for nonsense in ["", "2", "peer"] {
            assert_eq!(
                parse(nonsense),
                Err(CmError::Environment(nonsense.to_owned()))
            );
        }
    }

    #[test]
    fn the_nearest_setting_wins() {
        let explicit = |on| ConnParam {
            peer_to_peer: Some(on),
            ..ConnParam::default()
        };
        set_default_peer_to_peer(Some(false));
        assert_eq!(default_peer_to_peer(), Ok(false));
        assert_eq!(ConnParam::default().peer_to_peer(), Ok(false));
        assert_eq!(explicit(true).peer_to_peer(), Ok(true));
        set_default_peer_to_peer(Some(true));
        assert_eq!(ConnParam::default().peer_to_peer(), Ok(true));
        assert_eq!(explicit(false).peer_to_peer(), Ok(false));
        let old = ConnParam {
            mpa_revision: Revision::Rev1,
            ..ConnParam::default()
        };
        assert_eq!(old.peer_to_peer(), Ok(false));
        set_default_peer_to_peer(None);
    }
}
