//! What the two sides of a connection agree on in the MPA start-up (RFC 5044 §7.1, RFC 6581 §9),
//! as functions of the frames.

use weft_wire::mpa::{Enhanced, Extensions, FrameKind, RtrKinds, StartupFrame};
use weft_wire::terminate::TerminateCode;

use crate::interface::cm::{Agreed, Revision};

/// What an initiator asks for.
#[derive(Clone, Copy, Debug)]
pub struct Proposal {
    /// Revision.
    pub revision: Revision,
    /// M.
    pub markers: bool,
    /// C.
    pub crc: bool,
    /// RTR kinds; empty: not peer-to-peer.
    pub rtr: RtrKinds,
    /// IRD.
    pub ird: u16,
    /// ORD.
    pub ord: u16,
    /// Beyond the RFC.
    pub extensions: Extensions,
}

/// What the initiator sends behind the reply where that was agreed on.
pub const RTR_FRAME: StartupFrame<'static> = StartupFrame {
    kind: FrameKind::Rtr,
    markers: false,
    crc: false,
    reject: false,
    revision: 2,
    enhanced: None,
    private_data: &[],
};

impl Proposal {
    /// The request.
    pub fn request<'a>(&self, private_data: &'a [u8]) -> StartupFrame<'a> {
        // With the Read as RTR an ORD of 0 would leave siw without an IRD (peers.md).
        let ord = if self.rtr.contains(RtrKinds::READ) {
            self.ord.max(1)
        } else {
            self.ord
        };
        StartupFrame {
            kind: FrameKind::Request,
            markers: self.markers,
            crc: self.crc,
            reject: false,
            revision: match self.revision {
                Revision::Rev1 => 1,
                Revision::Rev2 => 2,
            },
            enhanced: (self.revision == Revision::Rev2).then_some(Enhanced {
                peer_to_peer: !self.rtr.is_empty(),
                rtr: self.rtr,
                ird: self.ird,
                ord,
                extensions: self.extensions,
            }),
            private_data,
        }
    }
}

/// What an initiator makes of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyVerdict {
    /// Connected; `rtr` in it is the one kind to send.
    Accepted(Agreed),
    /// Rejected by the peer's application.
    Rejected,
    /// Not an answer to the request: close TCP.
    Invalid,
    /// Of a revision that is not spoken here: close TCP (RFC 5044 §7.1.1).
    Unsupported,
    /// Connected, but to be ended by this Terminate.
    Terminate(Agreed, TerminateCode),
}

/// Reads the reply to a proposal.
pub fn judge(proposal: &Proposal, reply: &StartupFrame<'_>) -> ReplyVerdict {
    if reply.kind != FrameKind::Reply {
        return ReplyVerdict::Invalid;
    }
    if reply.reject {
        return ReplyVerdict::Rejected;
    }
    if reply.revision == 0 {
        return ReplyVerdict::Unsupported;
    }
    let mut agreed = Agreed {
        revision: reply.revision,
        crc: proposal.crc || reply.crc,
        markers_sent: reply.markers,
        markers_received: proposal.markers,
        ird: proposal.ird,
        ord: proposal.ord,
        rtr: None,
        aligned: false,
    };
    let enhanced = match (proposal.revision, reply.enhanced) {
        (Revision::Rev2, Some(enhanced)) => enhanced,
        // An enhanced request gets an enhanced reply.
        (Revision::Rev2, None) => return ReplyVerdict::Invalid,
        (Revision::Rev1, _) => return ReplyVerdict::Accepted(agreed),
    };
    if enhanced.ird != Enhanced::UNSPECIFIED {
        agreed.ord = agreed.ord.min(enhanced.ird);
    }
    // Nothing that was not asked for is granted.
    if !proposal.extensions.contains(enhanced.extensions) {
        return ReplyVerdict::Invalid;
    }
    agreed.aligned = enhanced.extensions.contains(Extensions::ALIGNED);
    // Without XRC nothing goes on, without the others all does.
    let xrc = |extensions: Extensions| extensions.contains(Extensions::XRC);
    if xrc(proposal.extensions) && !xrc(enhanced.extensions) {
        return ReplyVerdict::Terminate(agreed, TerminateCode::MPA_INVALID_FRAME);
    }
    if !proposal.rtr.is_empty() {
        let common = proposal.rtr.intersection(enhanced.rtr);
        if !enhanced.peer_to_peer || common.is_empty() {
            return ReplyVerdict::Terminate(agreed, TerminateCode::MPA_NO_MATCHING_RTR);
        }
        agreed.rtr = Some(common.preferred());
    }
    // "The initiator MUST set its IRD at least to the responder ORD": it cannot go above what it
    // offered, which a correct responder respects.
    if enhanced.ord != Enhanced::UNSPECIFIED
        && proposal.ird != Enhanced::UNSPECIFIED
        && enhanced.ord > proposal.ird
    {
        return ReplyVerdict::Terminate(agreed, TerminateCode::MPA_INSUFFICIENT_IRD);
    }
    ReplyVerdict::Accepted(agreed)
}

/// What a responder is willing to do.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// M.
    pub markers: bool,
    /// C.
    pub crc: bool,
    /// RTR kinds.
    pub rtr: RtrKinds,
    /// IRD.
    pub ird: u16,
    /// ORD.
    pub ord: u16,
    /// Each segment of either side begins with an FPDU, if the request asks for it and there is a CRC.
    pub aligned: bool,
}

/// What a responder needs to know of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Revision.
    pub revision: u8,
    /// M.
    pub markers: bool,
    /// C.
    pub crc: bool,
    /// The enhanced data.
    pub enhanced: Option<Enhanced>,
}

impl Request {
    /// From the frame; `None` if it is not a request.
    pub fn of(frame: &StartupFrame<'_>) -> Option<Self> {
        (frame.kind == FrameKind::Request && !frame.reject).then_some(Request {
            revision: frame.revision,
            markers: frame.markers,
            crc: frame.crc,
            enhanced: frame.enhanced,
        })
    }

    /// What is asked for beyond the RFC.
    pub fn extensions(&self) -> Extensions {
        let enhanced = self.enhanced;
        enhanced.map_or(Extensions::NONE, |enhanced| enhanced.extensions)
    }

    /// The RTR kinds offered, if an RTR will come.
    pub fn rtr(&self) -> Option<RtrKinds> {
        self.enhanced
            .filter(|enhanced| enhanced.peer_to_peer)
            .map(|enhanced| enhanced.rtr)
    }

    /// What is granted of it, where a CRC is agreed on or not.
    fn granted(&self, terms: &Terms, crc: bool) -> Extensions {
        let aligned = match terms.aligned && crc {
            true => Extensions::ALIGNED,
            false => Extensions::NONE,
        };
        self.extensions()
            .intersection(Extensions::XRC.union(aligned))
    }

    /// The reply to it, and what is agreed then. What it asks for beyond the RFC is granted, segments that begin with an FPDU where the terms have them.
    pub fn accept<'a>(&self, terms: &Terms, private_data: &'a [u8]) -> (StartupFrame<'a>, Agreed) {
        let crc = self.crc || terms.crc;
        let granted = self.granted(terms, crc);
        let mut agreed = Agreed {
            revision: self.revision,
            crc,
            markers_sent: self.markers,
            markers_received: terms.markers,
            // A Read may come as an RTR that nobody negotiated (peers.md, iw_cxgb4).
            ird: terms.ird.max(1),
            ord: terms.ord,
            rtr: None,
            aligned: granted.contains(Extensions::ALIGNED),
        };
        let enhanced = self.enhanced.map(|theirs| {
            let mut ours = Enhanced {
                ord: Enhanced::UNSPECIFIED,
                ird: Enhanced::UNSPECIFIED,
                extensions: granted,
                ..Enhanced::default()
            };
            if theirs.ird != Enhanced::UNSPECIFIED {
                agreed.ord = agreed.ord.min(theirs.ird);
                ours.ord = agreed.ord;
            }
            if theirs.peer_to_peer {
                ours.rtr = name_rtr(&theirs, terms.rtr);
                ours.peer_to_peer = true;
                agreed.rtr = Some(ours.rtr);
            }
            if theirs.ord != Enhanced::UNSPECIFIED {
                ours.ird = agreed.ird;
            }
            ours
        });
        let reply = StartupFrame {
            kind: FrameKind::Reply,
            markers: agreed.markers_received,
            crc: agreed.crc,
            reject: false,
            revision: self.revision,
            enhanced,
            private_data,
        };
        (reply, agreed)
    }

    /// The reply that rejects it.
    pub fn reject<'a>(&self, private_data: &'a [u8]) -> StartupFrame<'a> {
        StartupFrame {
            kind: FrameKind::Reply,
            markers: false,
            crc: self.crc,
            reject: true,
            // To a revision that is not spoken here, the one that is (RFC 5044 §C.2.1).
            revision: self.revision.max(1),
            enhanced: self.enhanced.map(|theirs| Enhanced {
                ird: theirs.ord,
                ord: theirs.ird,
                peer_to_peer: theirs.peer_to_peer,
                // What this side would take, as in the reply that accepts; without A none (RFC 6581 §9.2).
                rtr: if theirs.peer_to_peer {
                    name_rtr(&theirs, RtrKinds::ALL)
                } else {
                    RtrKinds::NONE
                },
                extensions: Extensions::NONE,
            }),
            private_data,
        }
    }
}

/// The RTR kind that a responder names: one of those offered, or, if it takes none of them, one that it takes.
fn name_rtr(theirs: &Enhanced, taken: RtrKinds) -> RtrKinds {
    let common = theirs.rtr.intersection(taken);
    match (common.is_empty(), taken.is_empty()) {
        (false, _) => common.preferred(),
        (true, false) => taken.preferred(),
        (true, true) => RtrKinds::READ,
    }
}
