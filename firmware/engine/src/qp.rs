//! Queue pairs: the two work queues, the message numbers, the Reads in both directions.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use weft_wire::checks::Position;
use weft_wire::rdmap::{Atomic, AtomicRequest, ReadRequest};

use crate::cm::ConnId;
use crate::error::Error;
use crate::output::software::SendBuffer;
use crate::part::{copy_out, gather, Data};
use crate::region::{Piece, RegionRef, Regions};
use crate::rung::Rung;
use crate::verbs::{
    Access, Binding, Completion, Opcode, PdId, QpConfig, QpId, QpState, Sge, SrqId, Status,
    MAX_INLINE, MAX_RECV_SGE, MAX_SGE,
};
use crate::xrc::XrcdId;

/// What a send-queue entry does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// A Send with this opcode; what RsvdULP has: the STag to invalidate, the peer's shared receive queue, or 0.
    Send { opcode: u8, rsvd_ulp: u32 },
    /// A Write.
    Write { stag: u32, to: u64 },
    /// A Read into the entry's SGEs.
    Read { stag: u32, to: u64 },
    /// An atomic, whose old value goes to the entry's SGE.
    Atomic { stag: u32, to: u64, atomic: Atomic },
    /// A memory window is bound.
    Bind(Binding),
    /// A region gets its memory.
    FastRegister(Binding),
    /// An STag is invalidated.
    LocalInvalidate { stag: u32 },
}

impl Action {
    fn opcode(self) -> Opcode {
        match self {
            Action::Send { .. } => Opcode::Send,
            Action::Write { .. } => Opcode::Write,
            Action::Read { .. } => Opcode::Read,
            Action::Atomic { atomic, .. } => match atomic {
                Atomic::FetchAdd { .. } => Opcode::FetchAdd,
                Atomic::CmpSwap { .. } => Opcode::CmpSwap,
            },
            Action::Bind(_) => Opcode::Bind,
            Action::FastRegister(_) => Opcode::FastRegister,
            Action::LocalInvalidate { .. } => Opcode::LocalInvalidate,
        }
    }

    /// STags that work which sends nothing needs.
    fn operands(self) -> [Option<u32>; 2] {
        match self {
            Action::Bind(binding) | Action::FastRegister(binding) => {
                [Some(binding.stag), Some(binding.region)]
            }
            Action::LocalInvalidate { stag } => [Some(stag), None],
            _ => [None; 2],
        }
    }

    /// The right that its pieces of memory need.
    pub fn needs(self) -> Access {
        match self {
            Action::Read { .. } => Access::READ_SINK,
            Action::Atomic { .. } => Access::LOCAL_WRITE,
            _ => Access::NONE,
        }
    }
}

/// A piece of a region that a work request names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Local {
    /// Its STag.
    pub stag: u32,
    /// Bytes; never 0 in a list.
    pub length: u32,
    /// Its TO; of a Send or Write that has begun its IOVA.
    pub at: u64,
}

/// The payload of a work request.
#[derive(Clone, Copy, Debug)]
pub enum Payload {
    /// Its first so many pieces.
    Pieces([Local; MAX_SGE], u8),
    /// These bytes.
    Inline([u8; MAX_INLINE]),
}

impl Payload {
    /// The pieces.
    pub fn pieces(&self) -> &[Local] {
        match self {
            Payload::Pieces(list, count) => &list[..usize::from(*count)],
            Payload::Inline(_) => &[],
        }
    }

    /// What one job can have of `length` bytes from `offset` on, and how many bytes that are.
    pub fn slice(&self, offset: u32, length: u32) -> (Data, u32) {
        let piece = |local: &Local| Piece {
            iova: local.at,
            length: local.length,
        };
        match self {
            Payload::Pieces(..) => gather(self.pieces().iter().map(piece), offset, length),
            Payload::Inline(bytes) => copy_out(bytes, offset, length),
        }
    }
}

/// An entry of the send queue.
#[derive(Clone, Copy, Debug)]
pub struct SendEntry {
    /// The application's number.
    pub id: u64,
    /// What to do.
    pub action: Action,
    /// Its payload; a Read's sinks.
    pub payload: Payload,
    /// Bytes of the message.
    pub length: u32,
    /// Complete on success too.
    pub signalled: bool,
    /// Wait for earlier Reads.
    pub fence: bool,
    /// Its turn has come: its memory was found, and is held.
    pub begun: bool,
    /// The STags of its operands are counted.
    pub operands: [bool; 2],
    /// Bytes sent (Send, Write).
    pub sent: u32,
    /// Read Requests sent.
    pub requested: u8,
    /// Bytes asked for by them.
    pub requested_bytes: u64,
    /// Read Responses still missing.
    pub missing: u8,
    /// How it ended.
    pub outcome: Option<Status>,
}

impl SendEntry {
    /// Where the Read Response goes that is asked for next; `None`: all were asked for. A Read of no bytes has one that is nowhere.
    pub fn next_sink(&self) -> Option<Local> {
        let sinks = self.payload.pieces();
        let none = (sinks.is_empty() && self.requested == 0).then(Local::default);
        sinks.get(usize::from(self.requested)).copied().or(none)
    }

    /// It is posted: what it names stays registered.
    fn post(&mut self, pd: PdId, regions: &mut Regions) {
        for piece in self.payload.pieces() {
            regions.post(piece.stag);
        }
        let counted = |stag: Option<u32>| stag.is_some_and(|stag| regions.post_if_of(pd, stag));
        self.operands = self.action.operands().map(counted);
    }

    /// Its turn has come: finds its memory, and holds it. Nothing is held of one that fails.
    fn begin(&mut self, pd: PdId, regions: &mut Regions) -> Result<(), Error> {
        let needs = self.action.needs();
        let mut places = [Piece::default(); MAX_SGE];
        for (place, piece) in places.iter_mut().zip(self.payload.pieces()) {
            *place = regions.local(pd, piece.stag, piece.at, piece.length, needs)?;
        }
        if let Payload::Pieces(list, count) = &mut self.payload {
            for (piece, place) in list.iter_mut().zip(places).take(usize::from(*count)) {
                regions.hold(piece.stag);
                if needs == Access::NONE {
                    piece.at = place.iova;
                }
            }
        }
        self.begun = true;
        Ok(())
    }

    /// It is completed: all that it named is free.
    fn end(&self, regions: &mut Regions) {
        for piece in self.payload.pieces() {
            if self.begun {
                regions.let_go(piece.stag);
            }
            regions.complete(piece.stag);
        }
        let operands = self.action.operands().into_iter().zip(self.operands);
        for (stag, _) in operands.filter(|(_, counted)| *counted) {
            stag.into_iter().for_each(|stag| regions.complete(stag));
        }
    }
}

/// The send queue: entries `completed..started` are under way, `started..posted` wait. The numbers
/// only grow.
#[derive(Debug)]
pub struct SendQueue {
    ring: Vec<Option<SendEntry>>,
    depth: u32,
    /// Entries whose completion is done.
    pub completed: u32,
    /// First entry not wholly sent.
    pub started: u32,
    /// Entries posted.
    pub posted: u32,
    /// Entries from here on are not sent any more (orderly close).
    pub limit: Option<u32>,
}

impl SendQueue {
    fn new(depth: u32) -> Self {
        SendQueue {
            ring: vec![None; depth.next_power_of_two() as usize],
            depth,
            completed: 0,
            started: 0,
            posted: 0,
            limit: None,
        }
    }

    fn index(&self, number: u32) -> usize {
        number as usize & (self.ring.len() - 1)
    }

    /// No room for one more.
    pub fn is_full(&self) -> bool {
        self.posted.wrapping_sub(self.completed) >= self.depth
    }

    /// Nothing is left to send.
    pub fn is_drained(&self) -> bool {
        self.started == self.limit.unwrap_or(self.posted)
    }

    /// Appends an entry of a queue pair of this domain; the caller has looked for room.
    pub fn push(&mut self, mut entry: SendEntry, pd: PdId, regions: &mut Regions) {
        entry.post(pd, regions);
        let at = self.index(self.posted);
        self.ring[at] = Some(entry);
        self.posted = self.posted.wrapping_add(1);
    }

    /// An entry.
    pub fn get_mut(&mut self, number: u32) -> Option<&mut SendEntry> {
        let at = self.index(number);
        self.ring[at].as_mut()
    }

    /// The entry to send next, if there is one.
    pub fn next(&self) -> Option<&SendEntry> {
        if self.is_drained() {
            return None;
        }
        self.ring[self.index(self.started)].as_ref()
    }
}

/// An entry of the receive queue.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecvEntry {
    /// The application's number.
    pub id: u64,
    /// Where the message goes; the first without length ends the list.
    pub sges: [Sge; MAX_RECV_SGE],
    /// Bytes of all.
    pub length: u32,
    /// It failed as it was posted: this is how it ends.
    pub fault: Option<Status>,
}

impl RecvEntry {
    /// It is posted: what it names stays registered.
    pub fn post(&self, regions: &mut Regions) {
        let sges = self.sges.iter().filter(|sge| sge.length > 0);
        sges.for_each(|sge| regions.post(sge.stag));
    }

    /// It is completed, or gone.
    pub fn end(&self, regions: &mut Regions) {
        let sges = self.sges.iter().filter(|sge| sge.length > 0);
        sges.for_each(|sge| regions.complete(sge.stag));
    }
}

/// The receive queue; element `n` (from 0) takes the Send with MSN `n + 1 + shift`.
#[derive(Debug)]
pub struct RecvQueue {
    ring: Vec<RecvEntry>,
    /// IOVA of the elements that the card reads.
    pub iova: u64,
    /// Elements posted.
    pub posted: u32,
    /// Elements completed.
    pub completed: u32,
    /// 1 if the peer's first Send is its RTR, which takes no element.
    pub shift: u32,
}

impl RecvQueue {
    /// log2 of the elements.
    pub fn log2(&self) -> u8 {
        self.ring.len().trailing_zeros() as u8
    }

    /// How many elements it holds.
    pub fn capacity(&self) -> usize {
        self.ring.len()
    }

    /// No room for one more.
    pub fn is_full(&self) -> bool {
        self.posted.wrapping_sub(self.completed) as usize >= self.ring.len()
    }

    /// Appends an element; the caller has looked for room. Its number.
    pub fn push(&mut self, entry: RecvEntry) -> u32 {
        let number = self.posted;
        let at = number as usize & (self.ring.len() - 1);
        self.ring[at] = entry;
        self.posted = number.wrapping_add(1);
        number
    }

    /// An element that is posted and not completed.
    pub fn get(&self, number: u32) -> Option<&RecvEntry> {
        let ahead = number.wrapping_sub(self.completed);
        if ahead >= self.posted.wrapping_sub(self.completed) {
            return None;
        }
        self.ring.get(number as usize & (self.ring.len() - 1))
    }

    /// The slot of the card's ring that an element lies in.
    pub fn slot(&self, number: u32) -> u32 {
        number.wrapping_add(self.shift) & (self.ring.len() as u32 - 1)
    }

    /// What RQ_TAIL must say.
    pub fn tail(&self) -> u32 {
        self.posted.wrapping_add(self.shift)
    }
}

/// What a receive has got.
#[derive(Clone, Copy, Debug)]
pub struct Arrived {
    /// Bytes.
    pub byte_len: u32,
    /// The sender asks for an event.
    pub solicited: bool,
    /// The STag that the message has invalidated.
    pub invalidated: Option<u32>,
    /// Its Immediate Data.
    pub immediate: Option<u64>,
    /// How it ended.
    pub status: Status,
}

impl Arrived {
    /// Nothing: the queue pair has failed.
    const FLUSHED: Arrived = Arrived {
        byte_len: 0,
        solicited: false,
        invalidated: None,
        immediate: None,
        status: Status::Flushed,
    };
}

/// A Read of this side that is under way.
#[derive(Clone, Copy, Debug)]
pub struct PendingRead {
    /// The send-queue entry; `None`: the RTR.
    pub entry: Option<u32>,
    /// Sink STag.
    pub stag: u32,
    /// Next byte expected.
    pub to: u64,
    /// Bytes still missing.
    pub left: u32,
    /// The sink's region is open for it.
    pub open: bool,
    /// It is an atomic: its answer is an Atomic Response.
    pub atomic: bool,
}

impl PendingRead {
    /// What an Atomic Request has as its identifier.
    pub fn identifier(&self) -> u32 {
        self.entry.unwrap_or(0)
    }
}

/// A Read or an atomic of the peer's that is to be answered.
#[derive(Clone, Copy, Debug)]
pub struct PendingResponse {
    /// Its MSN.
    pub msn: u32,
    /// The region that it is about; `None` if no byte is asked for.
    pub region: Option<RegionRef>,
    /// What it asked for.
    pub asked: Asked,
}

/// What a peer asked for.
#[derive(Clone, Copy, Debug)]
pub enum Asked {
    /// Bytes.
    Read {
        /// As it came.
        request: ReadRequest,
        /// IOVA of the first of them.
        iova: u64,
        /// How many were sent.
        sent: u32,
    },
    /// An atomic.
    Atomic {
        /// As it came.
        request: AtomicRequest,
        /// What was there before: it is done.
        before: Option<u64>,
    },
}

impl Asked {
    /// A Read Request, moved on by what was sent of it (RFC 5040 §4.8, "Terminated RDMA Header").
    pub fn rest(&self) -> Option<ReadRequest> {
        match *self {
            Asked::Read { request, sent, .. } => Some(ReadRequest {
                sink_to: request.sink_to.wrapping_add(u64::from(sent)),
                size: request.size - sent,
                source_to: request.source_to.wrapping_add(u64::from(sent)),
                ..request
            }),
            Asked::Atomic { .. } => None,
        }
    }
}

/// What a queue pair has that is joined to another one inside the host.
#[derive(Clone, Copy, Debug)]
pub struct Joined {
    /// The connection's name.
    pub conn: ConnId,
    /// The peer takes Reads.
    pub reads: bool,
    /// Who moves its messages knows that there are some.
    pub told: bool,
    /// What is next waits until a region is let go.
    pub waits: bool,
}

/// Where the receives of a queue pair come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receives {
    /// Its own queue.
    Own,
    /// A shared queue, one at a time.
    Shared(SrqId),
    /// The shared queue of this domain that the peer's Send names; the one that the last Send named.
    Domain(XrcdId, Option<SrqId>),
    /// There are none: it is an XRC initiator.
    Nowhere,
}

impl Receives {
    /// A queue that others have as well, or may have: its elements are not the queue pair's.
    pub fn are_shared(self) -> bool {
        matches!(self, Receives::Shared(_) | Receives::Domain(..))
    }

    /// An XRC initiator's, or a target's.
    pub fn is_xrc(self) -> bool {
        matches!(self, Receives::Domain(..) | Receives::Nowhere)
    }

    /// The shared queue of an XRC domain that the element in hand came from.
    pub fn of_domain(self) -> Option<SrqId> {
        match self {
            Receives::Domain(_, srq) => srq,
            _ => None,
        }
    }
}

/// A queue pair.
#[derive(Debug)]
pub struct Qp {
    /// Its name.
    pub id: QpId,
    /// As asked for.
    pub config: QpConfig,
    /// State.
    pub state: QpState,
    /// Its rung.
    pub rung: Rung,
    /// Software makes its FPDUs, here, and takes them; `None`: the card does.
    pub software: Option<SendBuffer>,
    /// Its connection.
    pub conn: Option<u16>,
    /// Its connection, if it is one inside the host.
    pub joined: Option<Joined>,
    /// Where it takes its receives from.
    pub receives: Receives,
    /// Send queue.
    pub sq: SendQueue,
    /// Receive queue.
    pub rq: RecvQueue,
    /// MSN of the next Send.
    pub send_msn: u32,
    /// MSN of the next Read Request.
    pub read_msn: u32,
    /// What is expected of the peer's next Send.
    pub expected: Position,
    /// MSN expected of the peer's next Read Request or Atomic Request.
    pub read_request_msn: u32,
    /// The job that sends the last of a Read Response, until it is known to be done: an atomic behind it waits.
    pub response_job: Option<u32>,
    /// MSN of the next Atomic Response, and the one expected of the peer's.
    pub atomic_msn: u32,
    pub expected_atomic_msn: u32,
    /// Reads under way, oldest first.
    pub reads: VecDeque<PendingRead>,
    /// Reads to answer, oldest first.
    pub responses: VecDeque<PendingResponse>,
    /// A Read Response was sent last: it is the send queue's turn.
    pub send_turn: bool,
}

impl Qp {
    /// Fresh; `iova` is its receive queue's memory.
    pub fn new(
        id: QpId,
        config: QpConfig,
        iova: u64,
        rung: Rung,
        software: Option<SendBuffer>,
    ) -> Self {
        Qp {
            id,
            config,
            rung,
            software,
            state: QpState::Idle,
            conn: None,
            joined: None,
            receives: Receives::Own,
            sq: SendQueue::new(config.send_depth),
            rq: RecvQueue {
                ring: vec![RecvEntry::default(); config.recv_depth.next_power_of_two() as usize],
                iova,
                posted: 0,
                completed: 0,
                shift: 0,
            },
            send_msn: 1,
            read_msn: 1,
            expected: Position { msn: 1, mo: 0 },
            read_request_msn: 1,
            response_job: None,
            atomic_msn: 1,
            expected_atomic_msn: 1,
            reads: VecDeque::new(),
            responses: VecDeque::new(),
            send_turn: false,
        }
    }

    /// Room for the Reads of a connection.
    pub fn reserve_reads(&mut self, ird: u16, ord: u16) {
        self.reads.reserve(usize::from(ord).min(1024) + 1);
        self.responses.reserve(usize::from(ird).min(1024) + 1);
    }

    /// The turn of the send queue's next entry has come: finds its memory, and holds it until it is completed.
    pub fn begin_next(&mut self, regions: &mut Regions) -> Result<(), Error> {
        let (pd, number) = (self.config.pd, self.sq.started);
        match self.sq.get_mut(number) {
            Some(entry) => entry.begin(pd, regions),
            None => Ok(()),
        }
    }

    /// Reads and atomics of its entries are under way: a fence waits for them.
    pub fn has_reads(&self) -> bool {
        self.reads.iter().any(|read| read.entry.is_some())
    }

    /// The oldest request of the peer's is answered, or never will be.
    pub fn pop_response(&mut self, regions: &mut Regions) -> Option<PendingResponse> {
        let response = self.responses.pop_front()?;
        regions.answered(response.region);
        Some(response)
    }

    /// Completes the send queue's entries that have an outcome, in order.
    pub fn complete_sends(
        &mut self,
        regions: &mut Regions,
        completions: &mut VecDeque<Completion>,
    ) {
        while self.sq.completed != self.sq.posted {
            let at = self.sq.index(self.sq.completed);
            let Some(status) = self.sq.ring[at].as_ref().and_then(|entry| entry.outcome) else {
                return;
            };
            let Some(entry) = self.sq.ring[at].take() else {
                return;
            };
            self.sq.completed = self.sq.completed.wrapping_add(1);
            entry.end(regions);
            if entry.signalled || status != Status::Success {
                completions.push_back(Completion {
                    qp: self.id,
                    wr_id: entry.id,
                    opcode: entry.action.opcode(),
                    status,
                    byte_len: entry.length,
                    solicited: false,
                    invalidated: None,
                    immediate: None,
                    srq: None,
                });
            }
        }
    }

    /// Completes the oldest receive.
    pub fn complete_recv(
        &mut self,
        arrived: &Arrived,
        regions: &mut Regions,
        completions: &mut VecDeque<Completion>,
    ) {
        let Some(entry) = self.rq.get(self.rq.completed) else {
            return;
        };
        entry.end(regions);
        completions.push_back(Completion {
            qp: self.id,
            wr_id: entry.id,
            opcode: Opcode::Recv,
            status: entry.fault.unwrap_or(arrived.status),
            byte_len: arrived.byte_len,
            solicited: arrived.solicited,
            invalidated: arrived.invalidated,
            immediate: arrived.immediate,
            srq: self.receives.of_domain(),
        });
        self.rq.completed = self.rq.completed.wrapping_add(1);
    }

    /// Completes everything that is left; `first` is the status of the oldest send, if it is the
    /// one at fault.
    pub fn flush(
        &mut self,
        first: Option<Status>,
        regions: &mut Regions,
        completions: &mut VecDeque<Completion>,
    ) {
        let mut status = first.unwrap_or(Status::Flushed);
        let mut number = self.sq.completed;
        while number != self.sq.posted {
            if let Some(entry) = self.sq.get_mut(number) {
                if entry.outcome.is_none() {
                    entry.outcome = Some(status);
                    status = Status::Flushed;
                }
            }
            number = number.wrapping_add(1);
        }
        self.sq.started = self.sq.posted;
        self.sq.limit = None;
        self.complete_sends(regions, completions);
        while self.rq.completed != self.rq.posted {
            self.complete_recv(&Arrived::FLUSHED, regions, completions);
        }
        self.reads.clear();
        for response in self.responses.drain(..) {
            regions.answered(response.region);
        }
        self.state = QpState::Error;
    }
}
