//! Work requests as posted: their checks, and what the queues keep of them.

use weft_layout::{ReceiveElement, WqeOpcode};
use weft_queues::{Carries, Message, Operation};
use weft_wire::rdmap::IMMEDIATE;

use crate::interface::error::Error;
use crate::interface::verbs::{
    Access, Payload, PdId, RecvWr, SendOp, SendWr, Sge, Status, MAX_INLINE, MAX_RECV_SGE, MAX_SGE,
};
use crate::memory::region::Regions;
use crate::queues::qp::{Qp, Receives, RecvEntry};
use crate::queues::send_queue::{rights, Action, NewWork, WorkPayload, MAX_OPERANDS};

/// Does such a queue pair do this?
fn is_of_kind(receives: Receives, operation: &Operation) -> bool {
    match receives {
        Receives::Domain(..) => false,
        Receives::Nowhere => operation.is_of(true),
        Receives::Own | Receives::Shared(_) => operation.is_of(false),
    }
}

/// What the queue keeps of what is to be done.
fn action(op: &SendOp, operation: &Operation) -> Action {
    match *op {
        SendOp::Write { stag, to } => Action::Write { stag, to },
        SendOp::Read { stag, to } => Action::Read { stag, to },
        SendOp::Atomic { stag, to, atomic } => Action::Atomic { stag, to, atomic },
        SendOp::Bind(binding) => Action::Bind(binding),
        SendOp::FastRegister(binding) => Action::FastRegister(binding),
        SendOp::LocalInvalidate { stag } => Action::LocalInvalidate { stag },
        // A message to the peer's receive queue.
        _ => Action::Send {
            opcode: operation.wire(op.flags()).unwrap_or(0),
            rsvd_ulp: op.rsvd_ulp(),
        },
    }
}

/// Checks a send work request and makes the queue's work of it.
pub fn new_work<'a>(qp: &Qp, regions: &Regions, wr: &SendWr<'a>) -> Result<NewWork<'a>, Error> {
    let operation = wr.op.operation();
    if !is_of_kind(qp.receives, operation) {
        return Err(Error::WrongQpKind);
    }
    let mut work = NewWork {
        id: wr.id,
        action: action(&wr.op, operation),
        carried: WorkPayload::Sges(&[]),
        length: 0,
        signalled: wr.signalled,
        fence: wr.fence,
        outcome: None,
    };
    let has_payload = !matches!(wr.payload, Payload::Sges([]) | Payload::Inline([]));
    let is_bare = operation.message == Message::None || operation.carries == Carries::Value;
    if is_bare && has_payload {
        return Err(Error::NoPayloadAllowed);
    }
    if let Some(value) = wr.op.value() {
        work.carried = WorkPayload::Value(value);
        work.length = IMMEDIATE as u32;
        return Ok(work);
    }
    match wr.payload {
        Payload::Inline(_) if operation.is_request() => return Err(Error::InlineRead),
        Payload::Inline(bytes) if bytes.len() > MAX_INLINE => {
            return Err(Error::InlineTooLong(bytes.len()));
        }
        Payload::Inline(bytes) => {
            work.carried = WorkPayload::Inline(bytes);
            work.length = bytes.len() as u32;
        }
        Payload::Sges(sges) => {
            let max = usize::from(qp.config.max_sge).min(MAX_SGE);
            let needs = rights(operation.needs);
            let may = |sge: &Sge| regions.check_posted(qp.config.pd, sge, needs);
            let mut count = 0;
            work.length = check(sges, max, may, |_| count += 1)?;
            work.carried = WorkPayload::Sges(sges);
            let is_atomic = matches!(wr.op, SendOp::Atomic { .. });
            if is_atomic && (count, work.length) != (1, 8) {
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

/// Work that fails when it is issued.
pub fn failed_send(id: u64, opcode: WqeOpcode, status: Status) -> NewWork<'static> {
    NewWork {
        id,
        action: Action::put_together(opcode, 0, [0; MAX_OPERANDS]),
        carried: WorkPayload::Sges(&[]),
        length: 0,
        signalled: true,
        fence: false,
        outcome: Some(status),
    }
}

/// An element that fails when it is taken: it takes no byte.
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
