//! The rules that a stream can break.

use thiserror::Error;

/// A rule that was broken, and how.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Rule {
    /// RFC 5044 §4.2.
    #[error("a marker should stand here, its reserved half is {found:#06x}")]
    MarkerReserved {
        /// What stands where zeroes should.
        found: u16,
    },
    /// RFC 5044 §4.3.
    #[error("the marker's FPDUPTR is {found}, the FPDU begins {expected} octets before it")]
    MarkerPointer {
        /// The distance.
        expected: u64,
        /// What the marker says.
        found: u16,
    },
    /// RFC 5044 §4.4.
    #[error("CRC32C of the FPDU is {found:08x}, should be {expected:08x}")]
    Crc {
        /// Computed.
        expected: u32,
        /// In the FPDU.
        found: u32,
    },
    /// RFC 5041 §4: no room for the header.
    #[error("ULPDU of {length} octets, shorter than its DDP header")]
    Length {
        /// The length field.
        length: u16,
    },
    /// RFC 5044 §4.5, §5.1: we send whole FPDUs.
    #[error("a segment of {length} octets begins or ends inside an FPDU")]
    CutFpdu {
        /// Octets of the segment.
        length: usize,
    },
    /// RFC 5044 §4.1.
    #[error("pad octets are not zero")]
    Pad,
    /// The stream ends in order, inside an FPDU.
    #[error("FIN inside an FPDU: {missing} octets are missing")]
    Incomplete {
        /// How many.
        missing: u64,
    },
    /// RFC 9293: the same sequence numbers, the same octets.
    #[error("a retransmission says other octets than the first time")]
    Retransmission,
    /// RFC 5044 §7.1.2: one start-up frame.
    #[error("octets that are no MPA start-up frame, or behind a rejection")]
    StartUp,
    /// RFC 5041 §4, RFC 5040 §4.1.
    #[error("{layer} version {found}, should be {expected}")]
    Version {
        /// DDP or RDMAP.
        layer: &'static str,
        /// As the revision says.
        expected: u8,
        /// In the header.
        found: u8,
    },
    /// RFC 5040 §4.3, figure 4.
    #[error("RDMAP opcode {opcode} in {place}")]
    Opcode {
        /// The opcode.
        opcode: u8,
        /// Tagged, or which queue.
        place: String,
    },
    /// RFC 5041 §5.3.
    #[error("queue {queue}: MSN {found}, should be {expected}")]
    Msn {
        /// Its number.
        queue: u32,
        /// Next in sequence.
        expected: u32,
        /// In the header.
        found: u32,
    },
    /// RFC 5041 §5.3.
    #[error("queue {queue}: MO {found}, should be {expected}")]
    Mo {
        /// Its number.
        queue: u32,
        /// Next in sequence.
        expected: u32,
        /// In the header.
        found: u32,
    },
    /// The segments of a tagged message follow each other.
    #[error("tagged segment for STag {stag:#010x}, TO {to:#x}, but the message goes on at STag {expected_stag:#010x}, TO {expected_to:#x}")]
    Tagged {
        /// In the header.
        stag: u32,
        /// In the header.
        to: u64,
        /// Of the message.
        expected_stag: u32,
        /// Next in sequence.
        expected_to: u64,
    },
    /// A new message begins before the last segment of another of the same kind.
    #[error("opcode {found} inside a message of opcode {expected}")]
    Interleaved {
        /// Of the message under way.
        expected: u8,
        /// In the header.
        found: u8,
    },
    /// RFC 5040 §4.4, RFC 7306.
    #[error("opcode {opcode} with {length} octets")]
    MessageLength {
        /// The opcode.
        opcode: u8,
        /// Of the message.
        length: u64,
    },
    /// RFC 5040 §5.2: in the order of the requests, and as they say.
    #[error("Read Response of {length} octets to STag {stag:#010x}, TO {to:#x}: {why}")]
    ReadResponse {
        /// Where to.
        stag: u32,
        /// Where to.
        to: u64,
        /// Octets.
        length: u64,
        /// What should have come.
        why: String,
    },
    /// RFC 6581 §9.2.
    #[error("the first FPDU is not the RTR that was agreed: {what}")]
    Rtr {
        /// What it is.
        what: String,
    },
    /// RFC 5044 §7.1.2: the responder waits for the initiator's first FPDU.
    #[error("the responder sends an FPDU before it has received one")]
    ResponderFirst,
    /// RFC 5040 §4.8: nothing behind it.
    #[error("an FPDU behind a Terminate")]
    AfterTerminate,
}
