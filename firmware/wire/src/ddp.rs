//! DDP headers (RFC 5041 §4).

use crate::bytes::{array_at, u32_at, u64_at, u8_at, Writer};

/// T: tagged.
pub const TAGGED: u8 = 0x80;
/// L: last segment of its message.
pub const LAST: u8 = 0x40;
/// The version's bits, and its value.
pub const VERSION_MASK: u8 = 0x03;
/// DDP version 1.
pub const VERSION: u8 = 0x01;
/// Bytes of a tagged header.
pub const TAGGED_HEADER: usize = 14;
/// Bytes of an untagged header.
pub const UNTAGGED_HEADER: usize = 18;

/// Where the payload goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A place in a region.
    Tagged {
        /// STag.
        stag: u32,
        /// Tagged offset.
        to: u64,
    },
    /// A place in a message of a queue.
    Untagged {
        /// The RDMAP part of RsvdULP (the Invalidate STag).
        rsvd_ulp: u32,
        /// Queue number.
        qn: u32,
        /// Message sequence number.
        msn: u32,
        /// Message offset.
        mo: u32,
    },
}

/// A DDP header together with the RDMAP control byte in its RsvdULP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DdpHeader {
    /// DDP control: T, L, reserved, version.
    pub control: u8,
    /// RDMAP control: version and opcode.
    pub rdmap_control: u8,
    /// Where to.
    pub target: Target,
}

impl DdpHeader {
    /// A tagged header of version 1.
    pub fn tagged(last: bool, rdmap_control: u8, stag: u32, to: u64) -> Self {
        DdpHeader {
            control: TAGGED | if last { LAST } else { 0 } | VERSION,
            rdmap_control,
            target: Target::Tagged { stag, to },
        }
    }

    /// An untagged header of version 1.
    pub fn untagged(
        last: bool,
        rdmap_control: u8,
        rsvd_ulp: u32,
        qn: u32,
        msn: u32,
        mo: u32,
    ) -> Self {
        DdpHeader {
            control: if last { LAST } else { 0 } | VERSION,
            rdmap_control,
            target: Target::Untagged {
                rsvd_ulp,
                qn,
                msn,
                mo,
            },
        }
    }

    /// Reads the header of a ULPDU; also its payload. `None` if it is too short. Neither version
    /// is checked.
    pub fn parse(ulpdu: &[u8]) -> Option<(Self, &[u8])> {
        let control = u8_at(ulpdu, 0)?;
        let rdmap_control = u8_at(ulpdu, 1)?;
        let (target, length) = if control & TAGGED != 0 {
            let target = Target::Tagged {
                stag: u32_at(ulpdu, 2)?,
                to: u64_at(ulpdu, 6)?,
            };
            (target, TAGGED_HEADER)
        } else {
            let target = Target::Untagged {
                rsvd_ulp: u32_at(ulpdu, 2)?,
                qn: u32_at(ulpdu, 6)?,
                msn: u32_at(ulpdu, 10)?,
                mo: u32_at(ulpdu, 14)?,
            };
            (target, UNTAGGED_HEADER)
        };
        Some((
            DdpHeader {
                control,
                rdmap_control,
                target,
            },
            &ulpdu[length..],
        ))
    }

    /// T.
    pub fn is_tagged(&self) -> bool {
        self.control & TAGGED != 0
    }

    /// L.
    pub fn is_last(&self) -> bool {
        self.control & LAST != 0
    }

    /// DDP version.
    pub fn version(&self) -> u8 {
        self.control & VERSION_MASK
    }

    /// Bytes of the header.
    pub fn length(&self) -> usize {
        match self.target {
            Target::Tagged { .. } => TAGGED_HEADER,
            Target::Untagged { .. } => UNTAGGED_HEADER,
        }
    }

    /// Appends the header.
    pub fn write(&self, out: &mut Writer<'_>) {
        out.u8(self.control).u8(self.rdmap_control);
        match self.target {
            Target::Tagged { stag, to } => out.u32(stag).u64(to),
            Target::Untagged {
                rsvd_ulp,
                qn,
                msn,
                mo,
            } => out.u32(rsvd_ulp).u32(qn).u32(msn).u32(mo),
        };
    }

    /// The header as bytes: the first [`DdpHeader::length`] of them.
    pub fn to_bytes(&self) -> [u8; UNTAGGED_HEADER] {
        let mut bytes = [0; UNTAGGED_HEADER];
        self.write(&mut Writer::new(&mut bytes));
        bytes
    }
}

/// T of a ULPDU, even if the rest of its header is missing.
pub fn is_tagged(ulpdu: &[u8]) -> Option<bool> {
    array_at::<2>(ulpdu, 0).map(|[control, _]| control & TAGGED != 0)
}
