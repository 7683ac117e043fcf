//! The checks of an FPDU on the card's tables, and where its payload goes. What is checked, and in which order, says
//! [`weft_wire::checks`].

use std::ops::Range;

use weft_layout::{AttachRow, Counter, FlowRxRow, ReceiveElement, StagRow};
use weft_wire::checks::{ask, fit, scatter, Ask, Position, Region, Right, Violation};
use weft_wire::ddp::DdpHeader;

use super::tables::Tables;
use crate::iommu::HostMemory;

/// The counter of an error.
pub fn counter(violation: Violation) -> Counter {
    match violation {
        Violation::Marker => Counter::RxErrorMarker,
        Violation::Crc => Counter::RxErrorCrc,
        Violation::Header => Counter::RxErrorUlpdu,
        Violation::DdpVersion { .. } => Counter::RxErrorDdpVersion,
        Violation::RdmapVersion => Counter::RxErrorRdmapVersion,
        Violation::Queue => Counter::RxErrorQn,
        Violation::Opcode => Counter::RxErrorOpcode,
        Violation::Msn => Counter::RxErrorMsn,
        Violation::Mo => Counter::RxErrorMo,
        Violation::NoBuffer => Counter::RxErrorNoBuffer,
        Violation::TooLong => Counter::RxErrorTooLong,
        Violation::Element => Counter::RxErrorElement,
        Violation::Stag => Counter::RxErrorStag,
        Violation::Wrap => Counter::RxErrorWrap,
        Violation::Domain => Counter::RxErrorPd,
        Violation::Access => Counter::RxErrorAccess,
        Violation::Bounds => Counter::RxErrorBounds,
    }
}

/// A run of payload and where it goes.
pub type Piece = (u64, Range<usize>);

/// What a good FPDU asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Placement of the payload's bytes.
    Place(Vec<Piece>),
    /// Nothing: a message of queue 1 to 3, or of a flow whose FPDUs are only checked.
    Engine,
}

/// Checks a segment of `payload` bytes against its flow's position.
pub fn check(
    header: &DdpHeader,
    payload: usize,
    flow: usize,
    position: &AttachRow,
    tables: &Tables,
    memory: &mut dyn HostMemory,
) -> Result<Action, Violation> {
    let row = &tables.rx[flow];
    let asked = ask(header, payload)?;
    if row.check_only() {
        return Ok(Action::Engine);
    }
    let pd = row.pd;
    match asked {
        Ask::Nothing => Ok(Action::Place(Vec::new())),
        Ask::Engine => Ok(Action::Engine),
        Ask::Tagged { stag, to, right } => {
            let right = match right {
                Right::RemoteWrite => StagRow::REMOTE_WRITE,
                Right::ReadSink => StagRow::READ_SINK,
            };
            let iova = region(tables, stag, right)?.place(pd, to, payload as u64)?;
            Ok(Action::Place(vec![(iova, 0..payload)]))
        }
        Ask::Send { msn, mo } => {
            position_of(position).expect(msn, mo)?;
            // MSN n is posted when the tail is n or more; the difference is taken modulo 2^32.
            if (tables.rq_tail[flow].wrapping_sub(msn) as i32) < 0 {
                return Err(Violation::NoBuffer);
            }
            let sges = element(&tables.rx[flow], msn, memory)?;
            let lengths = sges.iter().map(|sge| sge.1);
            fit(mo, payload, lengths.clone().map(u64::from).sum())?;
            let pieces = scatter(lengths, mo, payload).map(|run| {
                let (to, _, stag) = sges[run.sge];
                let to = to.wrapping_add(run.offset.into());
                let region = region(tables, stag, StagRow::LOCAL_WRITE)?;
                Ok((region.place(pd, to, run.bytes.len() as u64)?, run.bytes))
            });
            let pieces: Result<_, Violation> = pieces.collect();
            pieces.map(Action::Place).map_err(|_| Violation::Element)
        }
    }
}

/// Queue 0 of a flow.
pub fn position_of(row: &AttachRow) -> Position {
    Position {
        msn: row.msn,
        mo: row.mo,
    }
}

/// The region that an STag names.
fn region(tables: &Tables, stag: u32, right: u8) -> Result<Region, Violation> {
    let index = (stag >> 8) as usize;
    let row = tables
        .stags
        .get(index)
        .filter(|row| index != 0 && row.valid() && row.key == stag as u8)
        .ok_or(Violation::Stag)?;
    Ok(Region {
        domain: row.pd,
        allowed: row.access & right != 0,
        base: row.base,
        length: row.length,
        iova: row.iova,
    })
}

/// The SGEs of a message's receive element before the first one with length 0: TO, length, STag.
fn element(
    row: &FlowRxRow,
    msn: u32,
    memory: &mut dyn HostMemory,
) -> Result<Vec<(u64, u32, u32)>, Violation> {
    let mask = 1u32
        .checked_shl(row.rq_log2.into())
        .unwrap_or(0)
        .wrapping_sub(1);
    let slot = u64::from(msn.wrapping_sub(1) & mask);
    let mut bytes = [0; ReceiveElement::SIZE];
    memory
        .read(row.rq_base + 64 * slot, &mut bytes)
        .map_err(|_| Violation::Element)?;
    let e = ReceiveElement::from_bytes(&bytes);
    let sges = [
        (e.sge0_to, e.sge0_length, e.sge0_stag),
        (e.sge1_to, e.sge1_length, e.sge1_stag),
        (e.sge2_to, e.sge2_length, e.sge2_stag),
        (e.sge3_to, e.sge3_length, e.sge3_stag),
    ];
    Ok(sges.into_iter().take_while(|sge| sge.1 != 0).collect())
}
