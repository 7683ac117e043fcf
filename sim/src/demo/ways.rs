//! The twelve ways to connect.

use weft_hostdrv::cm::{ConnParam, Revision, RtrKinds};

/// A way to connect.
#[derive(Clone, Debug)]
pub struct Way {
    /// What it is called.
    pub name: &'static str,
    /// The initiator's parameters.
    pub connect: ConnParam,
    /// The responder's.
    pub accept: ConnParam,
}

impl Way {
    fn new(name: &'static str, rtr: Option<RtrKinds>, crc: bool, markers: [bool; 2]) -> Self {
        let connect = ConnParam {
            peer_to_peer: Some(rtr.is_some()),
            rtr,
            crc,
            markers: markers[0],
            ..ConnParam::default()
        };
        let accept = ConnParam {
            peer_to_peer: None,
            crc,
            markers: markers[1],
            ..ConnParam::default()
        };
        Self {
            name,
            connect,
            accept,
        }
    }

    /// Either side may send first.
    pub fn peer_to_peer(&self) -> bool {
        self.connect.peer_to_peer == Some(true)
    }

    /// Each RTR kind and none, markers off and on in either direction, CRC off and on, both revisions.
    pub fn all() -> Vec<Self> {
        let (read, write, send) = (
            Some(RtrKinds::READ),
            Some(RtrKinds::WRITE),
            Some(RtrKinds::SEND),
        );
        let (no, both) = ([false; 2], [true; 2]);
        let mut old = Self::new("revision 1", None, true, no);
        old.connect.mpa_revision = Revision::Rev1;
        vec![
            Self::new("RTR by Read", read, true, no),
            Self::new("RTR by Write", write, true, no),
            Self::new("RTR by Send", send, true, no),
            Self::new("client first", None, true, no),
            old,
            Self::new("markers to initiator", read, true, [true, false]),
            Self::new("markers to responder", read, true, [false, true]),
            Self::new("markers both ways", write, true, both),
            Self::new("no CRC", read, false, no),
            Self::new("no CRC, by Send", send, false, no),
            Self::new("no CRC, markers", read, false, both),
            Self::new("client first, markers", None, true, both),
        ]
    }
}
