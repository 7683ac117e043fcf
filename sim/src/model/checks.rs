//! The checks of an FPDU, in the order of `docs/card.md`, and where its payload goes.

use weft_layout::{AttachRow, Counter, FlowRxRow, ReceiveElement, StagRow};

use super::mpa::Fpdu;
use super::tables::Tables;
use crate::iommu::HostMemory;

/// An FPDU that calls for a Terminate: its code, and the counter.
pub type Error = (u16, Counter);

/// A DDP header (RFC 5041 §4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// T bit.
    pub tagged: bool,
    /// DDP control byte.
    pub ddp_control: u8,
    /// RDMAP control byte.
    pub rdmap_control: u8,
    /// STag or queue number.
    pub stag_or_qn: u32,
    /// MSN, untagged.
    pub msn: u32,
    /// TO or MO.
    pub to_or_mo: u64,
    /// RDMAP's part of RsvdULP, untagged.
    pub rsvd_ulp: u32,
    /// Bytes of the header.
    pub len: usize,
}

impl Header {
    /// Reads it, if the ULPDU is long enough.
    pub fn read(ulpdu: &[u8]) -> Option<Self> {
        let be32 = |at: usize| {
            u32::from_be_bytes([ulpdu[at], ulpdu[at + 1], ulpdu[at + 2], ulpdu[at + 3]])
        };
        let tagged = ulpdu.first()? & 0x80 != 0;
        let len = if tagged { 14 } else { 18 };
        if ulpdu.len() < len {
            return None;
        }
        let common = Self {
            tagged,
            ddp_control: ulpdu[0],
            rdmap_control: ulpdu[1],
            len,
            ..Self::default()
        };
        Some(if tagged {
            Self {
                stag_or_qn: be32(2),
                to_or_mo: u64::from(be32(6)) << 32 | u64::from(be32(10)),
                ..common
            }
        } else {
            Self {
                rsvd_ulp: be32(2),
                stag_or_qn: be32(6),
                msn: be32(10),
                to_or_mo: be32(14).into(),
                ..common
            }
        })
    }

    fn opcode(&self) -> u8 {
        self.rdmap_control & 15
    }
}

/// A run of payload and where it goes.
pub type Piece = (u64, std::ops::Range<usize>);

/// What a good FPDU asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Placement of the ULPDU's bytes.
    Place(Vec<Piece>),
    /// A message of queue 1 to 3.
    Engine,
}

/// Checks an FPDU against its flow's position. `header` is what [`Header::read`] says.
pub fn check(
    fpdu: &Fpdu,
    header: Option<&Header>,
    flow: usize,
    position: &AttachRow,
    tables: &Tables,
    memory: &mut dyn HostMemory,
) -> Result<Action, Error> {
    let row = &tables.rx[flow];
    if row.markers() && !fpdu.markers_good {
        return Err((0x2003, Counter::RxErrorMarker));
    }
    if row.crc() && !fpdu.crc_good {
        return Err((0x2002, Counter::RxErrorCrc));
    }
    let header = header
        .filter(|_| fpdu.ulpdu.len() >= 2)
        .ok_or((0x1000, Counter::RxErrorUlpdu))?;
    if header.ddp_control & 3 != 1 {
        return Err((
            if header.tagged { 0x1104 } else { 0x1206 },
            Counter::RxErrorDdpVersion,
        ));
    }
    if header.rdmap_control >> 6 != 1 {
        return Err((0x0205, Counter::RxErrorRdmapVersion));
    }
    if !header.tagged && header.stag_or_qn > 3 {
        return Err((0x1201, Counter::RxErrorQn));
    }
    let known = match (header.tagged, header.stag_or_qn) {
        (true, _) => matches!(header.opcode(), 0 | 2),
        (false, 0) => matches!(header.opcode(), 3..=6 | 8 | 9),
        (false, 1) => matches!(header.opcode(), 1 | 0xa),
        (false, 2) => header.opcode() == 7,
        (false, _) => header.opcode() == 0xb,
    };
    if !known {
        return Err((0x0206, Counter::RxErrorOpcode));
    }
    let payload = header.len..fpdu.ulpdu.len();
    if header.tagged {
        return tagged(header, payload, row, tables).map(Action::Place);
    }
    if header.stag_or_qn != 0 {
        return Ok(Action::Engine);
    }
    untagged(header, payload, flow, position, tables, memory).map(Action::Place)
}

fn tagged(
    header: &Header,
    payload: std::ops::Range<usize>,
    row: &FlowRxRow,
    tables: &Tables,
) -> Result<Vec<Piece>, Error> {
    if payload.is_empty() {
        return Ok(Vec::new());
    }
    let right = if header.opcode() == 0 {
        StagRow::REMOTE_WRITE
    } else {
        StagRow::READ_SINK
    };
    let iova = region(
        tables,
        header.stag_or_qn,
        header.to_or_mo,
        payload.len() as u64,
        row.pd,
        right,
    )?;
    Ok(vec![(iova, payload)])
}

/// Checks one access to a region, and answers its IOVA.
fn region(tables: &Tables, stag: u32, to: u64, len: u64, pd: u32, right: u8) -> Result<u64, Error> {
    let index = (stag >> 8) as usize;
    let row: &StagRow = tables
        .stags
        .get(index)
        .filter(|r| index != 0 && r.valid() && r.key == stag as u8)
        .ok_or((0x1100, Counter::RxErrorStag))?;
    let (start, end) = (u128::from(to), u128::from(to) + u128::from(len));
    if end > 1 << 64 {
        return Err((0x1103, Counter::RxErrorWrap));
    }
    if row.pd != pd {
        return Err((0x1102, Counter::RxErrorPd));
    }
    if row.access & right == 0 {
        return Err((0x0102, Counter::RxErrorAccess));
    }
    if start < u128::from(row.base) || end > u128::from(row.base) + u128::from(row.length) {
        return Err((0x1101, Counter::RxErrorBounds));
    }
    Ok(row.iova.wrapping_add(to.wrapping_sub(row.base)))
}

fn untagged(
    header: &Header,
    payload: std::ops::Range<usize>,
    flow: usize,
    position: &AttachRow,
    tables: &Tables,
    memory: &mut dyn HostMemory,
) -> Result<Vec<Piece>, Error> {
    let row = &tables.rx[flow];
    if header.msn != position.msn {
        return Err((0x1203, Counter::RxErrorMsn));
    }
    if header.to_or_mo != u64::from(position.mo) {
        return Err((0x1204, Counter::RxErrorMo));
    }
    // MSN n is posted when the tail is n or more; the difference is taken modulo 2^32.
    if (tables.rq_tail[flow].wrapping_sub(header.msn) as i32) < 0 {
        return Err((0x1202, Counter::RxErrorNoBuffer));
    }
    let unusable = (0x1000, Counter::RxErrorElement);
    let mask = 1u32
        .checked_shl(row.rq_log2.into())
        .unwrap_or(0)
        .wrapping_sub(1);
    let slot = u64::from(header.msn.wrapping_sub(1) & mask);
    let mut bytes = [0; ReceiveElement::SIZE];
    memory
        .read(row.rq_base + 64 * slot, &mut bytes)
        .map_err(|_| unusable)?;
    let sges = sges(&ReceiveElement::from_bytes(&bytes));
    let room: u64 = sges.iter().map(|s| u64::from(s.1)).sum();
    if header.to_or_mo + payload.len() as u64 > room {
        return Err((0x1205, Counter::RxErrorTooLong));
    }
    // Walk the scatter list to MO, then take what each SGE has.
    let (mut skip, mut at) = (header.to_or_mo, payload.start);
    let mut pieces = Vec::new();
    for (to, len, stag) in sges {
        let len = u64::from(len);
        if skip >= len {
            skip -= len;
            continue;
        }
        let n = (len - skip).min((payload.end - at) as u64);
        if n == 0 {
            break;
        }
        let iova = region(
            tables,
            stag,
            to.wrapping_add(skip),
            n,
            row.pd,
            StagRow::LOCAL_WRITE,
        )
        .map_err(|_| unusable)?;
        pieces.push((iova, at..at + n as usize));
        at += n as usize;
        skip = 0;
    }
    Ok(pieces)
}

/// The SGEs before the first one with length 0: TO, length, STag.
fn sges(e: &ReceiveElement) -> Vec<(u64, u32, u32)> {
    [
        (e.sge0_to, e.sge0_length, e.sge0_stag),
        (e.sge1_to, e.sge1_length, e.sge1_stag),
        (e.sge2_to, e.sge2_length, e.sge2_stag),
        (e.sge3_to, e.sge3_length, e.sge3_stag),
    ]
    .into_iter()
    .take_while(|s| s.1 != 0)
    .collect()
}
