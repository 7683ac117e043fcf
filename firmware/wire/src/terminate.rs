//! The Terminate message (RFC 5040 §4.8).

use core::fmt;

use crate::bytes::{u16_at, u32_at, Writer};

/// Layer, error type and error code: the first 16 bits of the Terminate control field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TerminateCode(pub u16);

impl TerminateCode {
    /// RDMAP, local catastrophic error.
    pub const RDMAP_LOCAL: Self = Self(0x0000);
    /// RDMAP, remote protection: invalid STag.
    pub const RDMAP_STAG: Self = Self(0x0100);
    /// RDMAP, remote protection: base or bounds.
    pub const RDMAP_BOUNDS: Self = Self(0x0101);
    /// RDMAP, remote protection: access rights.
    pub const RDMAP_ACCESS: Self = Self(0x0102);
    /// RDMAP, remote protection: STag not associated with the stream.
    pub const RDMAP_NOT_ASSOCIATED: Self = Self(0x0103);
    /// RDMAP, remote protection: TO wrap.
    pub const RDMAP_WRAP: Self = Self(0x0104);
    /// RDMAP, remote protection: the STag cannot be invalidated.
    pub const RDMAP_CANNOT_INVALIDATE: Self = Self(0x0109);
    /// RDMAP, remote operation: version.
    pub const RDMAP_VERSION: Self = Self(0x0205);
    /// RDMAP, remote operation: unexpected opcode.
    pub const RDMAP_OPCODE: Self = Self(0x0206);
    /// RDMAP, remote operation: catastrophic, localized to the stream.
    pub const RDMAP_CATASTROPHIC_STREAM: Self = Self(0x0207);
    /// RDMAP, remote operation: unspecified.
    pub const RDMAP_UNSPECIFIED: Self = Self(0x02ff);
    /// DDP, local catastrophic error.
    pub const DDP_LOCAL: Self = Self(0x1000);
    /// DDP, tagged: invalid STag.
    pub const DDP_STAG: Self = Self(0x1100);
    /// DDP, tagged: base or bounds.
    pub const DDP_BOUNDS: Self = Self(0x1101);
    /// DDP, tagged: STag not associated with the stream.
    pub const DDP_NOT_ASSOCIATED: Self = Self(0x1102);
    /// DDP, tagged: TO wrap.
    pub const DDP_WRAP: Self = Self(0x1103);
    /// DDP, tagged: version.
    pub const DDP_TAGGED_VERSION: Self = Self(0x1104);
    /// DDP, untagged: queue number.
    pub const DDP_QN: Self = Self(0x1201);
    /// DDP, untagged: no buffer.
    pub const DDP_NO_BUFFER: Self = Self(0x1202);
    /// DDP, untagged: MSN out of range.
    pub const DDP_MSN: Self = Self(0x1203);
    /// DDP, untagged: MO.
    pub const DDP_MO: Self = Self(0x1204);
    /// DDP, untagged: message too long for its buffer.
    pub const DDP_TOO_LONG: Self = Self(0x1205);
    /// DDP, untagged: version.
    pub const DDP_UNTAGGED_VERSION: Self = Self(0x1206);
    /// MPA: TCP connection lost.
    pub const MPA_TCP_LOST: Self = Self(0x2001);
    /// MPA: CRC.
    pub const MPA_CRC: Self = Self(0x2002);
    /// MPA: marker and ULPDU length disagree.
    pub const MPA_MARKER: Self = Self(0x2003);
    /// MPA: invalid request or reply frame.
    pub const MPA_INVALID_FRAME: Self = Self(0x2004);
    /// MPA: local catastrophic error (RFC 6581 §8).
    pub const MPA_LOCAL: Self = Self(0x2005);
    /// MPA: insufficient IRD (RFC 6581 §8).
    pub const MPA_INSUFFICIENT_IRD: Self = Self(0x2006);
    /// MPA: no matching RTR option (RFC 6581 §8).
    pub const MPA_NO_MATCHING_RTR: Self = Self(0x2007);

    /// 0 RDMAP, 1 DDP, 2 MPA.
    pub fn layer(self) -> u8 {
        (self.0 >> 12) as u8
    }

    /// Error type of the layer.
    pub fn error_type(self) -> u8 {
        (self.0 >> 8 & 15) as u8
    }

    /// Error code of the type.
    pub fn code(self) -> u8 {
        self.0 as u8
    }
}

impl fmt::Display for TerminateCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let meaning = match *self {
            Self::RDMAP_LOCAL => "RDMAP: local catastrophic error",
            Self::RDMAP_STAG => "RDMAP: invalid STag",
            Self::RDMAP_BOUNDS => "RDMAP: base or bounds violation",
            Self::RDMAP_ACCESS => "RDMAP: access rights violation",
            Self::RDMAP_NOT_ASSOCIATED => "RDMAP: STag not associated with the stream",
            Self::RDMAP_WRAP => "RDMAP: TO wrap",
            Self::RDMAP_CANNOT_INVALIDATE => "RDMAP: STag cannot be invalidated",
            Self::RDMAP_VERSION => "RDMAP: invalid version",
            Self::RDMAP_OPCODE => "RDMAP: unexpected opcode",
            Self::RDMAP_CATASTROPHIC_STREAM => "RDMAP: catastrophic error of the stream",
            Self::RDMAP_UNSPECIFIED => "RDMAP: unspecified remote operation error",
            Self::DDP_LOCAL => "DDP: local catastrophic error",
            Self::DDP_STAG => "DDP: invalid STag",
            Self::DDP_BOUNDS => "DDP: base or bounds violation",
            Self::DDP_NOT_ASSOCIATED => "DDP: STag not associated with the stream",
            Self::DDP_WRAP => "DDP: TO wrap",
            Self::DDP_TAGGED_VERSION | Self::DDP_UNTAGGED_VERSION => "DDP: invalid version",
            Self::DDP_QN => "DDP: invalid queue number",
            Self::DDP_NO_BUFFER => "DDP: no buffer for the message",
            Self::DDP_MSN => "DDP: MSN out of range",
            Self::DDP_MO => "DDP: invalid MO",
            Self::DDP_TOO_LONG => "DDP: message too long for its buffer",
            Self::MPA_TCP_LOST => "MPA: TCP connection lost",
            Self::MPA_CRC => "MPA: CRC error",
            Self::MPA_MARKER => "MPA: marker and length disagree",
            Self::MPA_INVALID_FRAME => "MPA: invalid request or reply frame",
            Self::MPA_LOCAL => "MPA: local catastrophic error",
            Self::MPA_INSUFFICIENT_IRD => "MPA: insufficient IRD",
            Self::MPA_NO_MATCHING_RTR => "MPA: no matching RTR option",
            _ => "unknown error",
        };
        write!(
            f,
            "{meaning} ({:x}/{:x}/{:02x})",
            self.layer(),
            self.error_type(),
            self.code()
        )
    }
}

/// Longest Terminate payload: control, DDP segment length, untagged DDP header, Read Request.
pub const MAX_TERMINATE: usize = 4 + 2 + 18 + 28;

const HAS_LENGTH: u32 = 1 << 15;
const HAS_DDP: u32 = 1 << 14;
const HAS_READ: u32 = 1 << 13;
const ANY_FLAG: u32 = HAS_LENGTH | HAS_DDP | HAS_READ;

/// A Terminate's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terminate<'a> {
    /// What is wrong.
    pub code: TerminateCode,
    /// Length and header of the DDP segment it is about.
    pub ddp: Option<(u16, &'a [u8])>,
    /// The Read Request's 28 bytes behind its DDP header.
    pub read_request: Option<&'a [u8]>,
    /// Came in the byte-swapped layout of Linux siw on little-endian hosts.
    pub siw_layout: bool,
}

impl<'a> Terminate<'a> {
    /// Reads a Terminate's payload (what follows the DDP header). `None` if it is shorter than
    /// its control field; a header that is cut off is left out.
    pub fn parse(payload: &'a [u8]) -> Option<Self> {
        let mut control = u32_at(payload, 0)?;
        // siw sends the bit-fields of a little-endian host: error type in the high nibble of the
        // first byte, layer in the low one, and the flags in the low bits of the third byte.
        // Which layout it is: the one in which the code exists; if it does in both, the one in
        // which the flags are where they belong, and MPA errors are those that have none.
        let swapped = swap_siw(control);
        let rfc = is_known(TerminateCode((control >> 16) as u16));
        let siw = is_known(TerminateCode((swapped >> 16) as u16));
        let flags_of_siw = control & ANY_FLAG == 0 && swapped & ANY_FLAG != 0;
        let mpa_of_siw = (control | swapped) & ANY_FLAG == 0 && swapped >> 28 == 2;
        let siw_layout = siw && (!rfc || flags_of_siw || mpa_of_siw);
        if siw_layout {
            control = swapped;
        }
        let mut rest = payload.get(4..)?;
        let mut ddp = None;
        if control & HAS_LENGTH != 0 {
            if let Some(length) = u16_at(rest, 0) {
                rest = &rest[2..];
                if control & HAS_DDP != 0 {
                    let header = match rest.first() {
                        Some(first) if first & 0x80 != 0 => rest.get(..14),
                        Some(_) => rest.get(..18),
                        None => None,
                    };
                    if let Some(header) = header {
                        rest = &rest[header.len()..];
                        ddp = Some((length, header));
                    }
                }
            }
        }
        let read_request = if control & HAS_READ != 0 {
            rest.get(..28)
        } else {
            None
        };
        Some(Terminate {
            code: TerminateCode((control >> 16) as u16),
            ddp,
            read_request,
            siw_layout,
        })
    }

    /// Writes the payload; its length, or `None` if `out` is too short ([`MAX_TERMINATE`] is
    /// always enough).
    pub fn write(&self, out: &mut [u8]) -> Option<usize> {
        let mut control = u32::from(self.code.0) << 16;
        if self.ddp.is_some() {
            control |= HAS_LENGTH | HAS_DDP;
        }
        if self.read_request.is_some() {
            control |= HAS_READ;
        }
        let mut writer = Writer::new(out);
        writer.u32(control);
        if let Some((length, header)) = self.ddp {
            writer.u16(length).put(header);
        }
        if let Some(request) = self.read_request {
            writer.put(request);
        }
        writer.finish()
    }
}

/// The layout of siw turned into the RFC's.
fn swap_siw(control: u32) -> u32 {
    let [first, code, flags, _] = control.to_be_bytes();
    let flags = (flags & 1) << 7 | (flags & 2) << 5 | (flags & 4) << 3;
    u32::from_be_bytes([first.rotate_left(4), code, flags, 0])
}

/// True if the codes of RFC 5040 §4.8, RFC 5041 §7, RFC 5044 §8 or RFC 6581 §8 have it.
fn is_known(code: TerminateCode) -> bool {
    match (code.layer(), code.error_type(), code.code()) {
        (0, 0, 0) => true,
        (0, 1, c) => matches!(c, 0..=4 | 9 | 0xff),
        (0, 2, c) => matches!(c, 5..=9 | 0xff),
        (1, 0, _) => true,
        (1, 1, c) => c <= 4,
        (1, 2, c) => matches!(c, 1..=6),
        (2, 0, c) => matches!(c, 1..=7),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip_with_all_headers() {
        let ddp = crate::ddp::DdpHeader::untagged(true, 0x41, 0, 1, 5, 0).to_bytes();
        let request = [7; 28];
        let terminate = Terminate {
            code: TerminateCode::RDMAP_BOUNDS,
            ddp: Some((46, &ddp)),
            read_request: Some(&request),
            siw_layout: false,
        };
        let mut bytes = [0; MAX_TERMINATE];
        assert_eq!(terminate.write(&mut bytes), Some(MAX_TERMINATE));
        assert_eq!(bytes[..4], [0x01, 0x01, 0xe0, 0x00]);
        assert_eq!(Terminate::parse(&bytes), Some(terminate));
        // Cut off anywhere, the code is still there.
        for length in 4..MAX_TERMINATE {
            let cut = Terminate::parse(&bytes[..length]).unwrap();
            assert_eq!(cut.code, terminate.code);
        }
        assert_eq!(Terminate::parse(&bytes[..3]), None);
    }

    #[test]
    fn both_layouts() {
        for (bytes, code, siw) in [
            ([0x20, 0x07, 0, 0], 0x2007, false),
            ([0x02, 0x07, 0, 0], 0x2007, true),
            ([0x02, 0x02, 0, 0], 0x2002, true),
            ([0x11, 0x01, 0xc0, 0], 0x1101, false),
            ([0x21, 0x02, 0x03, 0], 0x1202, true),
            ([0x12, 0x02, 0xc0, 0], 0x1202, false),
            ([0x10, 0x02, 0x03, 0], 0x0102, true),
            ([0x01, 0x02, 0xc0, 0], 0x0102, false),
            ([0x02, 0x06, 0xc0, 0], 0x0206, false),
        ] {
            let found = Terminate::parse(&bytes).unwrap();
            assert_eq!(
                (found.code.0, found.siw_layout),
                (code, siw),
                "{bytes:02x?}"
            );
        }
    }
}
