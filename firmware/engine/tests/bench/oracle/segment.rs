//! DDP segments (RFC 5041 §4) and what their headers may say, as `docs/card.md` has it ("Checks").

use weft_wire::ddp::{DdpHeader, Target};

/// The header of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    pub tagged: bool,
    pub ddp_control: u8,
    pub rdmap_control: u8,
    /// STag or queue number.
    pub stag_or_qn: u32,
    /// Untagged.
    pub msn: u32,
    /// TO or MO.
    pub to_or_mo: u64,
    /// RDMAP's part of RsvdULP, untagged.
    pub rsvd_ulp: u32,
    /// Octets of the header.
    pub len: usize,
}

impl Segment {
    /// Reads it, if the ULPDU is long enough.
    pub fn read(ulpdu: &[u8]) -> Option<Self> {
        let be32 = |at: usize| u32::from_be_bytes(ulpdu[at..at + 4].try_into().unwrap());
        let tagged = ulpdu.first()? & 0x80 != 0;
        let len = if tagged { 14 } else { 18 };
        if ulpdu.len() < len {
            return None;
        }
        let common = Segment {
            tagged,
            ddp_control: ulpdu[0],
            rdmap_control: ulpdu[1],
            len,
            ..Segment::default()
        };
        Some(if tagged {
            Segment {
                stag_or_qn: be32(2),
                to_or_mo: u64::from(be32(6)) << 32 | u64::from(be32(10)),
                ..common
            }
        } else {
            Segment {
                rsvd_ulp: be32(2),
                stag_or_qn: be32(6),
                msn: be32(10),
                to_or_mo: be32(14).into(),
                ..common
            }
        })
    }

    /// Its octets, and those of its payload.
    pub fn with(&self, payload: &[u8]) -> Vec<u8> {
        let mut octets = vec![self.ddp_control, self.rdmap_control];
        if self.tagged {
            octets.extend(self.stag_or_qn.to_be_bytes());
            octets.extend(self.to_or_mo.to_be_bytes());
        } else {
            for field in [
                self.rsvd_ulp,
                self.stag_or_qn,
                self.msn,
                self.to_or_mo as u32,
            ] {
                octets.extend(field.to_be_bytes());
            }
        }
        octets.extend(payload);
        octets
    }

    pub fn opcode(&self) -> u8 {
        self.rdmap_control & 15
    }

    pub fn is_last(&self) -> bool {
        self.ddp_control & 0x40 != 0
    }

    /// The checks of the header alone: the Terminate code of the first that fails.
    pub fn check(&self) -> Result<(), u16> {
        if self.ddp_control & 3 != 1 {
            return Err(if self.tagged { 0x1104 } else { 0x1206 });
        }
        if self.rdmap_control >> 6 != 1 {
            return Err(0x0205);
        }
        if !self.tagged && self.stag_or_qn > 3 {
            return Err(0x1201);
        }
        let known = match (self.tagged, self.stag_or_qn) {
            (true, _) => matches!(self.opcode(), 0 | 2),
            (false, 0) => matches!(self.opcode(), 3..=6 | 8 | 9),
            (false, 1) => matches!(self.opcode(), 1 | 0xa),
            (false, 2) => self.opcode() == 7,
            (false, _) => self.opcode() == 0xb,
        };
        if known {
            Ok(())
        } else {
            Err(0x0206)
        }
    }
}

impl From<&DdpHeader> for Segment {
    fn from(header: &DdpHeader) -> Self {
        let common = Segment {
            ddp_control: header.control,
            rdmap_control: header.rdmap_control,
            ..Segment::default()
        };
        match header.target {
            Target::Tagged { stag, to } => Segment {
                tagged: true,
                stag_or_qn: stag,
                to_or_mo: to,
                len: 14,
                ..common
            },
            Target::Untagged {
                rsvd_ulp,
                qn,
                msn,
                mo,
            } => Segment {
                rsvd_ulp,
                stag_or_qn: qn,
                msn,
                to_or_mo: mo.into(),
                len: 18,
                ..common
            },
        }
    }
}
