//! What a peer is like.

use std::fmt;

/// RTR kinds, as bits of both halves of the enhanced data: B, C, D.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rtr {
    /// B: the 0-byte Send.
    pub send: bool,
    /// C: the 0-byte Write.
    pub write: bool,
    /// D: the 0-byte Read.
    pub read: bool,
}

impl Rtr {
    /// None.
    pub const NONE: Rtr = Rtr {
        send: false,
        write: false,
        read: false,
    };
    /// The Write.
    pub const WRITE: Rtr = Rtr {
        write: true,
        ..Rtr::NONE
    };
    /// The Read.
    pub const READ: Rtr = Rtr {
        read: true,
        ..Rtr::NONE
    };
    /// Both.
    pub const BOTH: Rtr = Rtr {
        write: true,
        ..Rtr::READ
    };

    /// What is in both.
    pub fn and(self, other: Rtr) -> Rtr {
        Rtr {
            send: self.send && other.send,
            write: self.write && other.write,
            read: self.read && other.read,
        }
    }
}

impl fmt::Display for Rtr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = [
            (self.send, "Send"),
            (self.write, "Write"),
            (self.read, "Read"),
        ];
        let names: Vec<_> = kinds.iter().filter(|k| k.0).map(|k| k.1).collect();
        match names.as_slice() {
            [] => f.write_str("none"),
            names => f.write_str(&names.join("+")),
        }
    }
}

/// A peer, as its sources have it.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Its name.
    pub name: &'static str,
    /// Highest MPA revision it speaks.
    pub revision: u8,
    /// It sets C.
    pub crc: bool,
    /// It is peer-to-peer as initiator, and offers these RTR kinds.
    pub offers: Option<Rtr>,
    /// RTR kinds that it takes as responder, the first in common wins; [`Rtr::NONE`]: it does not look.
    pub picks: [Rtr; 2],
    /// As initiator, if the reply has several kinds, the Write is what it sends.
    pub write_first: bool,
    /// It sends only the one kind it offered: any other reply is a mismatch.
    pub exact: bool,
    /// It refuses a revision 2 request that is not peer-to-peer.
    pub insists: bool,
    /// It rejects a request for markers.
    pub no_markers: bool,
    /// Its revision 1 is peer-to-peer all the same: it sends a Read that nobody agreed on.
    pub unasked_read: bool,
    /// It tries once more with revision 1 if it is reset instead of answered.
    pub retries: bool,
    /// STags of its RTR: the Write's, and the Read's sink and source; and the TO.
    pub rtr_stags: [u32; 3],
    /// The TO of its RTR.
    pub rtr_to: u64,
    /// It refuses STag 0, even where nobody has to look at it.
    pub refuses_stag_0: bool,
    /// Its Terminate has its first octets swapped.
    pub swapped_terminate: bool,
    /// Octets of its pads.
    pub pad: u8,
    /// As responder without peer-to-peer its application may speak right behind the reply.
    pub eager: bool,
    /// IRD and ORD.
    pub reads: [u16; 2],
}

impl Profile {
    /// Linux soft-iWARP as it is.
    pub fn siw() -> Self {
        Self {
            name: "siw, stock",
            revision: 2,
            crc: false,
            offers: None,
            picks: [Rtr::WRITE, Rtr::READ],
            write_first: true,
            exact: false,
            insists: false,
            no_markers: true,
            unasked_read: false,
            retries: false,
            rtr_stags: [1, 0, 1],
            rtr_to: 0,
            refuses_stag_0: false,
            swapped_terminate: true,
            pad: 0xc3,
            eager: true,
            reads: [16, 16],
        }
    }

    /// The same, built with `peer_to_peer`.
    pub fn siw_peer_to_peer() -> Self {
        Self {
            name: "siw, peer-to-peer",
            offers: Some(Rtr::BOTH),
            ..Self::siw()
        }
    }

    /// iw_cxgb4, `peer2peer=1`.
    pub fn chelsio() -> Self {
        Self {
            name: "Chelsio (iw_cxgb4)",
            revision: 2,
            crc: true,
            offers: Some(Rtr::READ),
            picks: [Rtr::WRITE, Rtr::READ],
            write_first: true,
            exact: true,
            insists: false,
            no_markers: false,
            unasked_read: true,
            retries: true,
            rtr_stags: [1, 1, 1],
            rtr_to: 1,
            refuses_stag_0: true,
            swapped_terminate: false,
            pad: 0,
            eager: false,
            reads: [32, 32],
        }
    }

    /// irdma.
    pub fn intel() -> Self {
        Self {
            name: "Intel (irdma)",
            revision: 2,
            crc: true,
            offers: Some(Rtr::BOTH),
            picks: [Rtr::READ, Rtr::WRITE],
            write_first: false,
            exact: false,
            insists: true,
            no_markers: false,
            unasked_read: false,
            retries: true,
            rtr_stags: [0, 0xabcd, 0x1234],
            rtr_to: 0,
            refuses_stag_0: false,
            swapped_terminate: false,
            pad: 0,
            eager: false,
            reads: [64, 64],
        }
    }

    /// A peer that knows RFC 5044 alone.
    pub fn revision_1() -> Self {
        Self {
            name: "revision 1 only",
            revision: 1,
            crc: true,
            offers: None,
            picks: [Rtr::NONE; 2],
            write_first: false,
            exact: false,
            insists: false,
            no_markers: true,
            unasked_read: false,
            retries: false,
            rtr_stags: [1; 3],
            rtr_to: 0,
            refuses_stag_0: false,
            swapped_terminate: false,
            pad: 0,
            eager: false,
            reads: [0, 0],
        }
    }
}
