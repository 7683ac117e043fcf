//! Work requests as posted: their checks, and what the queues keep of them.

use weft_layout::ReceiveElement;
use weft_wire::rdmap::{opcode, IMMEDIATE};

use crate::error::Error;
use crate::part::Data;
use crate::qp::{Action, Qp, RecvEntry, SendEntry};
use crate::region::{Piece, Regions};
use crate::verbs::{
    Access, Opcode, Payload, RecvWr, SendOp, SendWr, Sge, Status, MAX_INLINE, MAX_SGE,
};

/// An entry of which nothing is done yet, without payload.
fn new_entry(id: u64, action: Action) -> SendEntry {
    SendEntry {
        id,
        action,
        data: Data::Gather([Piece::default(); MAX_SGE]),
        sinks: [Sge::default(); MAX_SGE],
        sink_count: 0,
        length: 0,
        signalled: true,
        fence: false,
        sent: 0,
        requested: 0,
        requested_bytes: 0,
        missing: 0,
        outcome: None,
    }
}

/// Checks a send work request and makes the queue's entry of it.
pub fn send_entry(qp: &Qp, regions: &Regions, wr: &SendWr<'_>) -> Result<SendEntry, Error> {
    let action = match wr.op {
        SendOp::Send {
            solicited,
            invalidate,
        } => Action::Send {
            opcode: match (solicited, invalidate.is_some()) {
                (false, false) => opcode::SEND,
                (false, true) => opcode::SEND_INVALIDATE,
                (true, false) => opcode::SEND_SE,
                (true, true) => opcode::SEND_SE_INVALIDATE,
            },
            invalidate: invalidate.unwrap_or(0),
        },
        SendOp::Immediate { solicited, .. } => Action::Send {
            opcode: match solicited {
                false => opcode::IMMEDIATE,
                true => opcode::IMMEDIATE_SE,
            },
            invalidate: 0,
        },
        SendOp::Write { stag, to } => Action::Write { stag, to },
        SendOp::Read { stag, to } => Action::Read { stag, to },
    };
    let is_read = matches!(action, Action::Read { .. });
    let mut entry = SendEntry {
        signalled: wr.signalled,
        fence: wr.fence,
        ..new_entry(wr.id, action)
    };
    if let SendOp::Immediate { data, .. } = wr.op {
        if !matches!(wr.payload, Payload::Sges([]) | Payload::Inline([])) {
            return Err(Error::ImmediatePayload);
        }
        let mut copy = [0; MAX_INLINE];
        copy[..IMMEDIATE].copy_from_slice(&data.to_be_bytes());
        entry.data = Data::Inline(copy);
        entry.length = IMMEDIATE as u32;
        return Ok(entry);
    }
    match wr.payload {
        Payload::Inline(_) if is_read => return Err(Error::InlineRead),
        Payload::Inline(bytes) => {
            let mut copy = [0; MAX_INLINE];
            let room = copy
                .get_mut(..bytes.len())
                .ok_or(Error::InlineTooLong(bytes.len()))?;
            room.copy_from_slice(bytes);
            entry.data = Data::Inline(copy);
            entry.length = bytes.len() as u32;
        }
        Payload::Sges(sges) => {
            let needs = if is_read {
                Access::READ_SINK
            } else {
                Access::NONE
            };
            let (list, total) = check(qp, regions, sges, needs)?;
            entry.length = total;
            let mut pieces = [Piece::default(); MAX_SGE];
            let used = list.iter().take_while(|(sge, _)| sge.length > 0);
            for (index, (sge, piece)) in used.enumerate() {
                pieces[index] = *piece;
                entry.sinks[index] = *sge;
                entry.sink_count += 1;
            }
            entry.data = Data::Gather(pieces);
        }
    }
    Ok(entry)
}

/// Checks a receive work request and makes the queue's entry of it.
pub fn recv_entry(qp: &Qp, regions: &Regions, wr: &RecvWr<'_>) -> Result<RecvEntry, Error> {
    let (list, length) = check(qp, regions, wr.sges, Access::LOCAL_WRITE)?;
    Ok(RecvEntry {
        id: wr.id,
        sges: list.map(|(sge, _)| sge),
        length,
        fault: None,
    })
}

/// An entry that fails in its turn.
pub fn failed_send(id: u64, opcode: Opcode, status: Status) -> SendEntry {
    let (stag, to) = (0, 0);
    let action = match opcode {
        Opcode::Write => Action::Write { stag, to },
        Opcode::Read => Action::Read { stag, to },
        Opcode::Send | Opcode::Recv => Action::Send {
            opcode: opcode::SEND,
            invalidate: 0,
        },
    };
    SendEntry {
        outcome: Some(status),
        ..new_entry(id, action)
    }
}

/// An element that fails in its turn: it takes no byte.
pub fn failed_recv(id: u64, status: Status) -> RecvEntry {
    RecvEntry {
        id,
        fault: Some(status),
        ..RecvEntry::default()
    }
}

/// SGEs with their memory, those without length left out, and all their bytes.
type Checked = ([(Sge, Piece); MAX_SGE], u32);

fn check(qp: &Qp, regions: &Regions, sges: &[Sge], needs: Access) -> Result<Checked, Error> {
    if sges.len() > usize::from(qp.config.max_sge).min(MAX_SGE) {
        return Err(Error::TooManySges(sges.len()));
    }
    let mut list = [(Sge::default(), Piece::default()); MAX_SGE];
    let mut total = 0u32;
    let used = sges.iter().filter(|sge| sge.length > 0);
    for (place, sge) in list.iter_mut().zip(used) {
        let piece = regions.local(qp.config.pd, sge.stag, sge.to, sge.length, needs)?;
        total = total.checked_add(sge.length).ok_or(Error::MessageTooLong)?;
        *place = (*sge, piece);
    }
    Ok((list, total))
}

/// The card's form of a receive element.
pub fn element(entry: &RecvEntry) -> ReceiveElement {
    let [a, b, c, d] = entry.sges;
    ReceiveElement {
        sge0_to: a.to,
        sge0_length: a.length,
        sge0_stag: a.stag,
        sge1_to: b.to,
        sge1_length: b.length,
        sge1_stag: b.stag,
        sge2_to: c.to,
        sge2_length: c.length,
        sge2_stag: c.stag,
        sge3_to: d.to,
        sge3_length: d.length,
        sge3_stag: d.stag,
    }
}
