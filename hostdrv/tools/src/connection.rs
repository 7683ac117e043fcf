//! What the tools ask for when they connect, and what was agreed.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

use weft_hostdrv::cm::{Agreed, CmEvent, ConnParam, Revision, RtrKinds};

/// How a tool connects or accepts. What is `None` is left to the tool, or to the peer's request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectionTerms {
    /// Either side may send first (an RTR follows the start-up).
    pub peer_to_peer: Option<bool>,
    /// RTR kinds to offer or to be content with.
    pub rtr: Option<RtrKinds>,
    /// Do not ask for CRC32C.
    pub no_crc: bool,
    /// Ask the peer for markers.
    pub markers: bool,
    /// Ask that each segment begin with an FPDU, or grant it.
    pub aligned: bool,
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

impl ConnectionTerms {
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
            aligned: self.aligned,
            mpa_revision: self.revision,
            fall_back: self.fall_back,
        }
    }
}

/// A set of RTR kinds as people write it: `read,write`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtrList(pub RtrKinds);

const RTR_NAMES: [(&str, RtrKinds); 4] = [
    ("read", RtrKinds::READ),
    ("write", RtrKinds::WRITE),
    ("send", RtrKinds::SEND),
    ("frame", RtrKinds::FRAME),
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
                    format!("no RTR is called `{name}`: there are read, write, send and frame")
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
    /// Each segment of either side begins with an FPDU.
    pub aligned: bool,
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
            aligned: agreed.aligned,
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
            "MPA revision {}, CRC {}, markers {markers}, {}IRD {}, ORD {}, ",
            self.mpa_revision,
            if self.crc { "on" } else { "off" },
            if self.aligned { "aligned, " } else { "" },
            self.ird,
            self.ord
        )?;
        match self.rtr {
            Some(rtr) => write!(f, "peer-to-peer: {rtr}"),
            None => f.write_str("not peer-to-peer"),
        }
    }
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
}
