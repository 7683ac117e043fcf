//! Queues lent to another process: it posts and polls, the process that has the card does the work.
//!
//! ```text
//!   owner    Qp::share ──► two files, Terms ──► (its own way: a socket, /proc, inheritance)
//!   borrower                                   SharedQueues::open: post_send, post_recv, poll
//! ```
//!
//! The borrower names memory by STag and TO, and the engine checks each WQE against its tables, as it does the owner's own. What a borrower
//! writes that cannot be understood fails its queue pair and nothing else.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use weft_layout::Cqe;
use weft_queues::{Capacity, CompletionQueue, QueuePair, Sge, Wqe};

use super::qp::{Qp, QpCap};
use super::shared_line::{NotPosted, SharedLine};
use super::VerbsError;
use weft_card_transport::queue_memory::QueueMemory;

/// What a borrower has to know of lent queues beside their files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// The queue pair's number, which its CQEs have.
    pub qp_num: u32,
    /// WQEs of the send queue.
    pub max_send_wr: u32,
    /// Elements of the receive queue.
    pub max_recv_wr: u32,
    /// SGEs of a WQE.
    pub max_sge: u32,
    /// Inline bytes of a WQE.
    pub max_inline_data: u32,
    /// CQEs of the completion queue.
    pub cqe: u32,
}

/// Files of lent queues, and their terms.
#[derive(Debug)]
pub struct Lease<'a> {
    /// The queue pair's memory.
    pub queues: BorrowedFd<'a>,
    /// The completion queue's memory.
    pub completions: BorrowedFd<'a>,
    /// What is in them.
    pub terms: Terms,
}

impl Terms {
    fn capacity(&self) -> Capacity {
        Capacity {
            send: self.max_send_wr,
            sges: self.max_sge as usize,
            inline: self.max_inline_data as usize,
            recv: self.max_recv_wr,
        }
    }
}

impl Qp {
    /// Lends its queues: from now on another process posts to them and polls, and this process does not ([`VerbsError::Shared`]). The queue pair
    /// and its completion queue, one for both queues and of no other queue pair, were made to be lent ([`QpInit::shareable`](super::QpInit::shareable),
    /// [`Device::create_shareable_cq`](crate::Device::create_shareable_cq)).
    ///
    /// [`Device::progress`](crate::Device::progress) of this process takes what is posted: each call looks. It is not woken by a post.
    #[tracing::instrument(level = "debug", skip_all, fields(qp_num = self.qp_num()))]
    pub fn share(&self) -> Result<Lease<'_>, VerbsError> {
        let lease = self.lease()?;
        let mut state = self.device().lock();
        state.check_fault()?;
        if !self.rings().share() {
            return Err(VerbsError::Shared);
        }
        self.send_cq().inner().share();
        state.shared_flows.push(self.flow());
        Ok(lease)
    }

    /// CQEs written to its lent completion queue so far, modulo 2^32.
    pub fn completions_written(&self) -> u32 {
        self.send_cq().inner().written()
    }

    /// What there is to lend.
    pub fn lease(&self) -> Result<Lease<'_>, VerbsError> {
        let cap = self.cap();
        let one = self.send_cq().is(self.recv_cq());
        let files = self.rings().file().zip(self.send_cq().inner().file());
        let (Some((queues, completions)), true) = (files, one) else {
            return Err(VerbsError::NotShareable);
        };
        let terms = Terms {
            qp_num: self.qp_num(),
            max_send_wr: cap.max_send_wr,
            max_recv_wr: cap.max_recv_wr,
            max_sge: cap.max_send_sge as u32,
            max_inline_data: cap.max_inline_data as u32,
            cqe: self.send_cq().cqe() as u32,
        };
        Ok(Lease {
            queues,
            completions,
            terms,
        })
    }
}

/// Borrowed queues. It has no lock: one thread posts and polls.
pub struct SharedQueues {
    layout: QueuePair,
    queues: QueueMemory,
    cq_layout: CompletionQueue,
    completions: QueueMemory,
    terms: Terms,
    /// Blocks and elements posted, CQEs taken.
    send_tail: u32,
    recv_tail: u32,
    taken: u32,
    /// First blocks of the WQEs under way that complete, and those behind them: room comes back at their CQEs.
    send_head: u32,
    recv_head: u32,
    line: Option<Arc<SharedLine>>,
}

/// Bytes that a lent queue pair and its completion queue take, in files and beside them; `None`: there is none like this.
pub fn lent_bytes(cap: &QpCap, cqe: usize) -> Option<u64> {
    /// What the owner remembers of each block and each element.
    const REMEMBERED: usize = 32;
    let capacity = Capacity {
        send: cap.max_send_wr,
        sges: cap.max_send_sge,
        inline: cap.max_inline_data,
        recv: cap.max_recv_wr,
    };
    let layout = QueuePair::new(capacity)?;
    let places = layout.send_blocks() as usize + cap.max_recv_wr as usize;
    let queues = layout.bytes() + REMEMBERED * places;
    Some((queues + CompletionQueue::new(cqe)?.bytes()) as u64)
}

impl SharedQueues {
    /// Queues in these memories.
    fn over(queues: QueueMemory, completions: QueueMemory, terms: Terms) -> io::Result<Self> {
        let layout = QueuePair::new(terms.capacity());
        let cq_layout = CompletionQueue::new(terms.cqe as usize);
        let (Some(layout), Some(cq_layout)) = (layout, cq_layout) else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("no queue is like this: {terms:?}"),
            ));
        };
        queues.check_room(layout.bytes())?;
        completions.check_room(cq_layout.bytes())?;
        Ok(Self {
            layout,
            queues,
            cq_layout,
            completions,
            terms,
            send_tail: 0,
            recv_tail: 0,
            taken: 0,
            send_head: 0,
            recv_head: 0,
            line: None,
        })
    }

    /// Posts wake who lends them, and fail when that is gone.
    pub fn on(mut self, line: Arc<SharedLine>) -> Self {
        self.line = Some(line);
        self
    }

    /// Maps lent queues, from files that came from [`Qp::share`] by whatever way.
    pub fn open(queues: OwnedFd, completions: OwnedFd, terms: Terms) -> io::Result<Self> {
        let (queues, completions) = (QueueMemory::map(queues)?, QueueMemory::map(completions)?);
        Self::over(queues, completions, terms)
    }

    /// Their terms.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Posts a WQE; its number, which its CQE has.
    pub fn post_send(&mut self, wqe: &Wqe<'_>) -> Result<u32, NotPosted> {
        SharedLine::check(&self.line)?;
        let memory = self.queues.words();
        let number = self.send_tail;
        let needs = weft_queues::blocks_of(wqe);
        if number.wrapping_add(needs).wrapping_sub(self.send_head) > self.layout.send_blocks() {
            return Err(NotPosted::Full);
        }
        self.send_tail = number.wrapping_add(self.layout.put_send(memory, number, wqe));
        self.layout.ring_send(memory, self.send_tail);
        SharedLine::posted(&self.line);
        Ok(number)
    }

    /// Posts a receive element; its number.
    pub fn post_recv(&mut self, sges: &[Sge]) -> Result<u32, NotPosted> {
        SharedLine::check(&self.line)?;
        let memory = self.queues.words();
        let number = self.recv_tail;
        if number.wrapping_sub(self.recv_head) >= self.terms.max_recv_wr {
            return Err(NotPosted::Full);
        }
        self.layout.put_recv(memory, number, sges);
        self.recv_tail = number.wrapping_add(1);
        self.layout.ring_recv(memory, self.recv_tail);
        SharedLine::posted(&self.line);
        Ok(number)
    }

    /// The oldest CQE. The room of its work, and of all before it in its queue, can be used again.
    pub fn poll(&mut self) -> Option<Cqe> {
        let memory = self.completions.words();
        let cqe = self.cq_layout.get(memory, self.taken)?;
        self.taken = self.taken.wrapping_add(1);
        self.cq_layout.taken(memory, self.taken);
        if cqe.opcode() == Ok(weft_layout::CqeOpcode::Recv) {
            self.recv_head = cqe.work.wrapping_add(1);
        } else {
            // A block of it is enough: the one behind it is not overwritten before its own CQE.
            self.send_head = cqe.work.wrapping_add(1);
        }
        Some(cqe)
    }
}
