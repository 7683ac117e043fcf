//! Work requests as posted: their checks, and what the queues keep of them.

use weft_layout::ReceiveElement;
use weft_wire::rdmap::{opcode, Atomic, IMMEDIATE};

use crate::error::Error;
use crate::qp::{Qp, Receives, RecvEntry};
use crate::region::Regions;
use crate::send_queue::{Action, Carried, NewWork};
use crate::verbs::{
    Access, Binding, Opcode, Payload, PdId, RecvWr, SendOp, SendWr, Sge, Status, MAX_INLINE,
    MAX_RECV_SGE, MAX_SGE,
};

/// Does such a queue pair do this?
fn is_of_kind(receives: Receives, op: &SendOp) -> bool {
    match (receives, op) {
        (Receives::Domain(..), _) => false,
        (Receives::Nowhere, SendOp::Send { .. } | SendOp::Immediate { .. }) => false,
        (Receives::Nowhere, _) => true,
        (_, SendOp::XrcSend { .. }) => false,
        _ => true,
    }
}

/// Checks a send work request and makes the queue's work of it.
pub fn new_work<'a>(qp: &Qp, regions: &Regions, wr: &SendWr<'a>) -> Result<NewWork<'a>, Error> {
    if !is_of_kind(qp.receives, &wr.op) {
        return Err(Error::WrongQpKind);
    }
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
            rsvd_ulp: invalidate.unwrap_or(0),
        },
        SendOp::XrcSend { solicited, srq } => Action::Send {
            opcode: match solicited {
                false => opcode::SEND,
                true => opcode::SEND_SE,
            },
            rsvd_ulp: srq,
        },
        SendOp::Immediate { solicited, .. } => Action::Send {
            opcode: match solicited {
                false => opcode::IMMEDIATE,
                true => opcode::IMMEDIATE_SE,
            },
            rsvd_ulp: 0,
        },
        SendOp::Write { stag, to } => Action::Write { stag, to },
        SendOp::Read { stag, to } => Action::Read { stag, to },
        SendOp::Atomic { stag, to, atomic } => Action::Atomic { stag, to, atomic },
        SendOp::Bind(binding) => Action::Bind(binding),
        SendOp::FastRegister(binding) => Action::FastRegister(binding),
        SendOp::LocalInvalidate { stag } => Action::LocalInvalidate { stag },
    };
    let mut work = NewWork {
        id: wr.id,
        action,
        carried: Carried::Sges(&[]),
        length: 0,
        signalled: wr.signalled,
        fence: wr.fence,
        outcome: None,
    };
    let has_payload = !matches!(wr.payload, Payload::Sges([]) | Payload::Inline([]));
    match wr.op {
        SendOp::Immediate { .. }
        | SendOp::Bind(_)
        | SendOp::FastRegister(_)
        | SendOp::LocalInvalidate { .. }
            if has_payload =>
        {
            return Err(Error::ImmediatePayload);
        }
        SendOp::Immediate { data, .. } => {
            work.carried = Carried::Value(data);
            work.length = IMMEDIATE as u32;
            return Ok(work);
        }
        _ => {}
    }
    let needs = action.needs();
    match wr.payload {
        Payload::Inline(_) if needs != Access::NONE => return Err(Error::InlineRead),
        Payload::Inline(bytes) if bytes.len() > MAX_INLINE => {
            return Err(Error::InlineTooLong(bytes.len()));
        }
        Payload::Inline(bytes) => {
            work.carried = Carried::Inline(bytes);
            work.length = bytes.len() as u32;
        }
        Payload::Sges(sges) => {
            let max = usize::from(qp.config.max_sge).min(MAX_SGE);
            let may = |sge: &Sge| regions.check_posted(qp.config.pd, sge, needs);
            let mut count = 0;
            work.length = check(sges, max, may, |_| count += 1)?;
            work.carried = Carried::Sges(sges);
            if matches!(action, Action::Atomic { .. }) && (count, work.length) != (1, 8) {
                return Err(Error::AtomicPayload);
            }
        }
    }
    Ok(work)
}

/// Checks a receive work request and makes the queue's entry of it.
pub fn recv_entry(
    pd: PdId,
    max_sge: u8,
    regions: &Regions,
    wr: &RecvWr<'_>,
) -> Result<RecvEntry, Error> {
    let mut sges = [Sge::default(); MAX_RECV_SGE];
    let mut places = sges.iter_mut();
    let max = usize::from(max_sge).min(MAX_RECV_SGE);
    let may = |sge: &Sge| {
        let needs = Access::LOCAL_WRITE;
        let place = regions.local(pd, sge.stag, sge.to, sge.length, needs);
        place.map(|_| ())
    };
    let length = check(wr.sges, max, may, |sge| {
        if let Some(place) = places.next() {
            *place = sge;
        }
    })?;
    Ok(RecvEntry {
        id: wr.id,
        sges,
        length,
        fault: None,
    })
}

/// What work that fails in its turn would bind.
const NOTHING: Binding = Binding {
    stag: 0,
    base_to: 0,
    region: 0,
    region_to: 0,
    length: 0,
    access: Access::NONE,
};

/// Work that fails in its turn.
pub fn failed_send(id: u64, opcode: Opcode, status: Status) -> NewWork<'static> {
    let (stag, to) = (0, 0);
    let action = match opcode {
        Opcode::Write => Action::Write { stag, to },
        Opcode::Read => Action::Read { stag, to },
        Opcode::FetchAdd => Action::Atomic {
            stag,
            to,
            atomic: Atomic::FetchAdd { add: 0, mask: 0 },
        },
        Opcode::CmpSwap => Action::Atomic {
            stag,
            to,
            atomic: Atomic::CmpSwap {
                compare: 0,
                compare_mask: 0,
                swap: 0,
                swap_mask: 0,
            },
        },
        Opcode::Bind => Action::Bind(NOTHING),
        Opcode::FastRegister => Action::FastRegister(NOTHING),
        Opcode::LocalInvalidate => Action::LocalInvalidate { stag },
        Opcode::Send | Opcode::Recv => Action::Send {
            opcode: opcode::SEND,
            rsvd_ulp: 0,
        },
    };
    NewWork {
        id,
        action,
        carried: Carried::Sges(&[]),
        length: 0,
        signalled: true,
        fence: false,
        outcome: Some(status),
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

/// Checks SGEs, of which a work request of this kind has `max` at most, and gives those with bytes to `take`; all their bytes.
fn check(
    sges: &[Sge],
    max: usize,
    may: impl Fn(&Sge) -> Result<(), Error>,
    mut take: impl FnMut(Sge),
) -> Result<u32, Error> {
    if sges.len() > max {
        return Err(Error::TooManySges(sges.len()));
    }
    let mut total = 0u32;
    for sge in sges.iter().filter(|sge| sge.length > 0) {
        may(sge)?;
        total = total.checked_add(sge.length).ok_or(Error::MessageTooLong)?;
        take(*sge);
    }
    Ok(total)
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
