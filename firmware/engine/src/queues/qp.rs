//! Queue pairs: the two work queues, the message numbers, the Reads in both directions.

use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

use weft_queues::Operation;
use weft_wire::checks::Position;
use weft_wire::rdmap::{AtomicRequest, ReadRequest};

use crate::interface::cm::ConnId;
use crate::interface::rung::Rung;
use crate::interface::verbs::{
    Completion, Opcode, QpConfig, QpId, QpState, Sge, SrqId, Status, MAX_RECV_SGE,
};
use crate::memory::region::{RegionRef, Regions};
use crate::queues::send_buffer::SendBuffer;
use crate::queues::send_queue::SendQueue;
use crate::queues::xrc::XrcdId;

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
pub struct Received {
    /// Bytes.
    pub byte_len: u32,
    /// The sender asks for an event.
    pub solicited: bool,
    /// The STag that the message has invalidated.
    pub invalidated: Option<u32>,
    /// What its completion has of it (RFC 7306 §6).
    pub immediate: Option<u64>,
    /// How it ended.
    pub status: Status,
}

impl Received {
    /// Nothing: the queue pair has failed.
    const FLUSHED: Received = Received {
        byte_len: 0,
        solicited: false,
        invalidated: None,
        immediate: None,
        status: Status::Flushed,
    };
}

/// A Read of this side that is in flight.
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

/// What a queue pair has on the loopback: its connection is to another one of the host.
#[derive(Clone, Copy, Debug)]
pub struct Loopback {
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
    pub loopback: Option<Loopback>,
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
    /// Reads in flight, oldest first.
    pub reads: VecDeque<PendingRead>,
    /// Reads to answer, oldest first.
    pub responses: VecDeque<PendingResponse>,
    /// A Read Response was sent last: the send queue is next.
    pub send_queue_next: bool,
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
            loopback: None,
            receives: Receives::Own,
            sq: SendQueue::new(config.send_depth, config.max_sge),
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
            send_queue_next: false,
        }
    }

    /// Room for the Reads of a connection.
    pub fn reserve_reads(&mut self, ird: u16, ord: u16) {
        self.reads.reserve(usize::from(ord).min(1024) + 1);
        self.responses.reserve(usize::from(ird).min(1024) + 1);
    }

    /// Reads and atomics of its entries are in flight: a fence waits for them.
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
        while let Some((entry, status)) = self.sq.complete(regions) {
            if entry.signalled || status != Status::Success {
                completions.push_back(Completion {
                    qp: self.id,
                    wr_id: entry.id,
                    opcode: Operation::of(entry.opcode).completes,
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
        arrived: &Received,
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
            self.complete_recv(&Received::FLUSHED, regions, completions);
        }
        self.reads.clear();
        for response in self.responses.drain(..) {
            regions.answered(response.region);
        }
        self.state = QpState::Error;
    }
}
