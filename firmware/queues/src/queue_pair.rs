//! The memory of a queue pair: doorbells, progress, send queue, receive queue.

use weft_layout::{QueueDoorbell, QueueStatus, ReceiveElement};

use crate::memory::Memory;
use crate::wqe::{
    blocks, put_sge, BadWqe, Place, Sge, Taken, Wqe, MAX_BLOCKS, MAX_INLINE, MAX_RECV_SGE, MAX_SGE,
};
use crate::{BLOCK, BLOCK_WORDS};

/// Deepest queue, in work requests.
const MAX_DEPTH: u32 = 1 << 15;

/// What a queue pair is to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// WQEs in the send queue, 1 to 32768.
    pub send: u32,
    /// SGEs of a WQE, at most [`MAX_SGE`].
    pub sges: usize,
    /// Inline bytes of a WQE, at most [`MAX_INLINE`].
    pub inline: usize,
    /// Elements in the receive queue, 1 to 32768.
    pub recv: u32,
}

/// Where a queue pair's parts lie in its memory. It is the same value on both sides; memory is given with each call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuePair {
    send_mask: u32,
    recv_mask: u32,
}

const DOORBELL: usize = 0;
const STATUS: usize = DOORBELL + QueueDoorbell::SIZE / 8;
const SEND: usize = STATUS + QueueStatus::SIZE / 8;
const SEND_TAIL: usize = DOORBELL + QueueDoorbell::SEND_TAIL_AT / 8;
const RECV_TAIL: usize = DOORBELL + QueueDoorbell::RECV_TAIL_AT / 8;
const SEND_DONE: usize = STATUS + QueueStatus::SEND_DONE_AT / 8;
const RECV_DONE: usize = STATUS + QueueStatus::RECV_DONE_AT / 8;

impl QueuePair {
    /// Room for so much: rings of a power of two of blocks. `None` if the capacity is not one.
    pub fn new(capacity: Capacity) -> Option<Self> {
        let depths = 1..=MAX_DEPTH;
        let fits = depths.contains(&capacity.send)
            && depths.contains(&capacity.recv)
            && capacity.sges <= MAX_SGE
            && capacity.inline <= MAX_INLINE;
        fits.then(|| {
            let send = capacity.send * blocks(capacity.sges, capacity.inline).min(MAX_BLOCKS);
            QueuePair {
                send_mask: send.next_power_of_two() - 1,
                recv_mask: capacity.recv.next_power_of_two() - 1,
            }
        })
    }

    /// Bytes of memory that it takes.
    pub fn bytes(&self) -> usize {
        8 * SEND + BLOCK * (self.send_blocks() as usize + self.recv_mask as usize + 1)
    }

    /// Blocks of the send queue.
    #[inline(always)]
    pub fn send_blocks(&self) -> u32 {
        self.send_mask + 1
    }

    /// Elements of the receive queue.
    pub fn recv_elements(&self) -> u32 {
        self.recv_mask + 1
    }

    /// A block's place in the ring.
    #[inline(always)]
    pub fn send_at(&self, block: u32) -> usize {
        (block & self.send_mask) as usize
    }

    /// An element's place in the ring.
    #[inline(always)]
    pub fn recv_at(&self, element: u32) -> usize {
        (element & self.recv_mask) as usize
    }

    #[inline(always)]
    fn send_place(&self, block: u32) -> Place {
        Place {
            ring: SEND,
            mask: self.send_mask,
            block,
        }
    }

    #[inline(always)]
    fn element(&self, number: u32) -> usize {
        SEND + BLOCK_WORDS * (self.send_blocks() as usize + (number & self.recv_mask) as usize)
    }

    // ------------------------------------------------------------------ who posts

    /// Writes a WQE into the blocks from `block` on, which are free; how many it takes, 0: the memory has none.
    #[inline(always)]
    pub fn put_send<M: Memory + ?Sized>(&self, memory: &M, block: u32, wqe: &Wqe<'_>) -> u32 {
        self.send_place(block).put(memory, wqe)
    }

    /// Doorbell: so many blocks were posted.
    #[inline(always)]
    pub fn ring_send<M: Memory + ?Sized>(&self, memory: &M, tail: u32) {
        memory.store_last(SEND_TAIL, tail.into());
    }

    /// Writes an element of up to [`MAX_RECV_SGE`] SGEs, which is free; SGEs without length are left out. False: the memory has no such
    /// element.
    #[inline(always)]
    pub fn put_recv<M: Memory + ?Sized>(&self, memory: &M, number: u32, sges: &[Sge]) -> bool {
        let Some(element) = memory.part(self.element(number), BLOCK_WORDS) else {
            return false;
        };
        let mut used = sges.iter().filter(|sge| sge.length > 0);
        for place in 0..MAX_RECV_SGE {
            let sge = used.next().copied().unwrap_or_default();
            put_sge(element, 2 * place, sge);
        }
        true
    }

    /// Doorbell: so many elements were posted.
    #[inline(always)]
    pub fn ring_recv<M: Memory + ?Sized>(&self, memory: &M, tail: u32) {
        memory.store_last(RECV_TAIL, tail.into());
    }

    /// Blocks of the send queue whose WQEs were done successfully: those before it that make no CQE have their room back.
    #[inline]
    pub fn send_done<M: Memory + ?Sized>(&self, memory: &M) -> u32 {
        memory.load_first(SEND_DONE) as u32
    }

    /// Elements of the receive queue that were filled.
    #[inline]
    pub fn recv_done<M: Memory + ?Sized>(&self, memory: &M) -> u32 {
        memory.load_first(RECV_DONE) as u32
    }

    // ------------------------------------------------------------------ who takes

    /// Blocks posted, as the poster says: read before what they hold.
    #[inline]
    pub fn send_tail<M: Memory + ?Sized>(&self, memory: &M) -> u32 {
        memory.load_first(SEND_TAIL) as u32
    }

    /// The WQE at `block`, where the poster's tail is `tail`; `None` if there is none.
    pub fn take_send<M: Memory + ?Sized>(
        &self,
        memory: &M,
        block: u32,
        tail: u32,
    ) -> Option<Result<Taken, BadWqe>> {
        let posted = tail.wrapping_sub(block);
        match posted {
            0 => None,
            // A tail that is further away than the ring is long says nothing.
            _ if posted > self.send_blocks() => Some(Err(BadWqe::Blocks(0))),
            _ => {
                let at = self.send_at(block);
                let together = (posted as usize).min(self.send_blocks() as usize - at);
                memory.expect(SEND + BLOCK_WORDS * at, BLOCK_WORDS * together);
                Some(self.send_place(block).take(memory, posted))
            }
        }
    }

    /// Blocks of the send queue and elements that were posted, as the poster says: read before what they hold, in one access where that is one.
    #[inline]
    pub fn tails<M: Memory + ?Sized>(&self, memory: &M) -> (u32, u32) {
        let [send, recv] = memory.load_first_two(SEND_TAIL);
        (send as u32, recv as u32)
    }

    /// Elements posted, as the poster says: read before what they hold.
    #[inline]
    pub fn recv_tail<M: Memory + ?Sized>(&self, memory: &M) -> u32 {
        memory.load_first(RECV_TAIL) as u32
    }

    /// The element of this number.
    pub fn take_recv<M: Memory + ?Sized>(&self, memory: &M, number: u32) -> [Sge; MAX_RECV_SGE] {
        let at = self.element(number);
        memory.expect(at, BLOCK_WORDS);
        core::array::from_fn(|place| {
            Sge::from_words([memory.load(at + 2 * place), memory.load(at + 2 * place + 1)])
        })
    }

    /// Says that the WQEs in so many blocks were done successfully. One that fails has a CQE, and so has each one behind it.
    #[inline]
    pub fn set_send_done<M: Memory + ?Sized>(&self, memory: &M, blocks: u32) {
        memory.store_last(SEND_DONE, blocks.into());
    }

    /// Says that so many elements were filled.
    #[inline]
    pub fn set_recv_done<M: Memory + ?Sized>(&self, memory: &M, elements: u32) {
        memory.store_last(RECV_DONE, elements.into());
    }
}

const _: () = assert!(RECV_TAIL == SEND_TAIL + 1);
// An element's SGEs are laid out as `Sge::words` has them.
const _: () = assert!(
    ReceiveElement::SIZE == BLOCK
        && ReceiveElement::SGE0_LENGTH_AT == 8
        && ReceiveElement::SGE0_STAG_AT == 12
        && ReceiveElement::SGE3_TO_AT == 48
);
