//! What is wrong with a message, as a Terminate says it (RFC 5040 §4.8).

use weft_wire::ddp::{DdpHeader, UNTAGGED_HEADER};
use weft_wire::rdmap::ReadRequest;
use weft_wire::terminate::TerminateCode;

/// An error that calls for a Terminate, with what the Terminate says about it.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// What is wrong.
    pub code: TerminateCode,
    /// DDP segment length and header.
    pub ddp: Option<(u16, [u8; UNTAGGED_HEADER], u8)>,
    /// The Read Request.
    pub read_request: Option<[u8; ReadRequest::SIZE]>,
}

impl Fault {
    /// Without a segment (MPA errors).
    pub fn of(code: TerminateCode) -> Self {
        Fault {
            code,
            ddp: None,
            read_request: None,
        }
    }

    /// About a segment.
    pub fn about(code: TerminateCode, ulpdu: usize, header: &DdpHeader) -> Self {
        Fault {
            code,
            ddp: Some((ulpdu as u16, header.to_bytes(), header.length() as u8)),
            read_request: None,
        }
    }
}
