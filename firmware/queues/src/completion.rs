//! The memory of a completion queue: doorbells and CQEs.

use core::array;

use weft_layout::{CqDoorbell, Cqe};

use crate::memory::Memory;

const CQES: usize = CqDoorbell::SIZE / 8;
const TAKEN: usize = CqDoorbell::TAKEN_AT / 8;
const ARMED: usize = CqDoorbell::ARMED_AT / 8;
const CQE_WORDS: usize = Cqe::SIZE / 8;
/// The word with phase and flags.
const LAST: usize = CQE_WORDS - 1;
/// Where phase and flags are in the last word. Behind the flags nothing else is but the phase.
const PHASE_SHIFT: usize = 8 * (Cqe::PHASE_AT % 8);
const FLAGS_SHIFT: usize = 8 * (Cqe::FLAGS_AT % 8);
/// CQEs of a queue at most.
pub const MAX_CQES: usize = 1 << 24;

/// Where a completion queue's parts lie in its memory; the same value on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompletionQueue {
    mask: u32,
}

impl CompletionQueue {
    /// Room for so many CQEs: a power of two. `None` if that is none, or more than 2^24.
    pub fn new(cqes: usize) -> Option<Self> {
        (1..=MAX_CQES).contains(&cqes).then(|| CompletionQueue {
            mask: cqes.next_power_of_two() as u32 - 1,
        })
    }

    /// Bytes of memory that it takes, zero at first.
    pub fn bytes(&self) -> usize {
        8 * (CQES + CQE_WORDS * (self.mask as usize + 1))
    }

    /// CQEs that it holds.
    pub fn capacity(&self) -> u32 {
        self.mask + 1
    }

    #[inline(always)]
    fn at(&self, number: u32) -> usize {
        CQES + CQE_WORDS * (number & self.mask) as usize
    }

    /// The phase bit of the CQE of this number.
    #[inline(always)]
    fn phase(&self, number: u32) -> bool {
        number & (self.mask + 1) == 0
    }

    // ------------------------------------------------------------------ who completes

    /// Is there room for the CQE of this number? It may not be asked of a poller that overruns itself.
    pub fn has_room<M: Memory + ?Sized>(&self, memory: &M, number: u32) -> bool {
        number.wrapping_sub(memory.load_first(TAKEN) as u32) < self.capacity()
    }

    /// Writes the CQE of this number; the word with its phase bit last.
    pub fn put<M: Memory + ?Sized>(&self, memory: &M, number: u32, cqe: Cqe) {
        let bytes = cqe.with_phase(self.phase(number)).to_bytes();
        let mut words = bytes.chunks_exact(8).map(|bytes| {
            let mut word = [0; 8];
            word.copy_from_slice(bytes);
            u64::from_le_bytes(word)
        });
        let at = self.at(number);
        for word in 0..LAST {
            memory.store(at + word, words.next().unwrap_or(0));
        }
        memory.store_last(at + LAST, words.next().unwrap_or(0));
    }

    /// Zero memory from now on is that of a queue whose next CQE has this number: all before it were taken. That of 0 is so already.
    pub fn begin<M: Memory + ?Sized>(&self, memory: &M, number: u32) {
        for ahead in 0..self.capacity() {
            let number = number.wrapping_add(ahead);
            // What is there must not be taken for it.
            let other = match self.phase(number) {
                true => 0,
                false => u64::from(Cqe::PHASE) << PHASE_SHIFT,
            };
            memory.store_last(self.at(number) + LAST, other);
        }
        self.taken(memory, number);
    }

    /// Takes away what the poller armed ([`CqDoorbell::ANY`], [`CqDoorbell::SOLICITED`]), behind the CQE that was put before.
    pub fn disarm<M: Memory + ?Sized>(&self, memory: &M) -> u8 {
        memory.take(ARMED) as u8
    }

    // ------------------------------------------------------------------ who polls

    /// The CQE of this number, if it is there.
    #[inline(always)]
    pub fn get<M: Memory + ?Sized>(&self, memory: &M, number: u32) -> Option<Cqe> {
        let cqe = memory.part(self.at(number), CQE_WORDS)?;
        let last = cqe.load_first(LAST);
        let phase = (last >> PHASE_SHIFT) as u8 & Cqe::PHASE != 0;
        if phase != self.phase(number) {
            return None;
        }
        Some(cqe_of(array::from_fn(|word| match word {
            LAST => last,
            _ => cqe.load(word),
        })))
    }

    /// What [`get_plain`](Self::get_plain) has to find.
    #[inline(always)]
    pub fn plain(&self, number: u32) -> u32 {
        u32::from(self.phase(number)) << (PHASE_SHIFT - FLAGS_SHIFT)
    }

    /// The CQE of this number, if it is there and has no flags (so no immediate), for which its flags and phase bit are compared at once
    /// with `plain`. That is the same as long as [`is_first`](Self::is_first) says no.
    #[inline(always)]
    pub fn get_plain<'m, M: Memory + ?Sized>(
        &self,
        memory: &'m M,
        number: u32,
        plain: u32,
    ) -> Option<PlainCqe<'m, M>> {
        let words = memory.part(self.at(number), CQE_WORDS)?;
        let last = words.load_first(LAST);
        ((last >> FLAGS_SHIFT) as u32 == plain).then_some(PlainCqe { words, last })
    }

    /// Is it the first one of a pass through the ring?
    #[inline(always)]
    pub fn is_first(&self, number: u32) -> bool {
        number & self.mask == 0
    }

    /// Doorbell: so many CQEs were taken.
    #[inline(always)]
    pub fn taken<M: Memory + ?Sized>(&self, memory: &M, count: u32) {
        memory.store_last(TAKEN, count.into());
    }

    /// Asks for an event at the next CQE ([`CqDoorbell::ANY`], [`CqDoorbell::SOLICITED`]), besides what was asked for before. Look once
    /// more afterwards. Who completes gives back so what it [took away](Self::disarm) and did not use.
    pub fn arm<M: Memory + ?Sized>(&self, memory: &M, armed: u8) {
        memory.set(ARMED, armed.into());
    }
}

/// A CQE without flags. What is not in its last word is read when it is asked for.
pub struct PlainCqe<'m, M: ?Sized> {
    words: &'m M,
    last: u64,
}

impl<M: Memory + ?Sized> PlainCqe<'_, M> {
    /// The queue pair's flow.
    #[inline(always)]
    pub fn flow(&self) -> u16 {
        (self.last >> (8 * (Cqe::FLOW_AT % 8))) as u16
    }

    /// What it was ([`CqeOpcode`](crate::CqeOpcode)), and above that how it ended ([`CqeStatus`](crate::CqeStatus)): two codes, 8 bits each.
    #[inline(always)]
    pub fn what_and_how(&self) -> u16 {
        (self.last >> (8 * (Cqe::OPCODE_AT % 8))) as u16
    }

    /// The queue pair, and the number of the work.
    #[inline(always)]
    pub fn names(&self) -> (u32, u32) {
        let names = self.words.load(Cqe::QP_NUM_AT / 8);
        (names as u32, (names >> 32) as u32)
    }

    /// Bytes moved.
    #[inline(always)]
    pub fn byte_len(&self) -> u32 {
        self.words.load(Cqe::BYTE_LEN_AT / 8) as u32
    }
}

// The words as they are read by themselves.
const _: () = assert!(
    Cqe::QP_NUM_AT % 8 == 0 && Cqe::WORK_AT == Cqe::QP_NUM_AT + 4 && Cqe::BYTE_LEN_AT % 8 == 0
);
const _: () = assert!(Cqe::STATUS_AT == Cqe::OPCODE_AT + 1 && Cqe::OPCODE_AT / 8 == LAST);

/// A CQE of its words.
#[inline(always)]
fn cqe_of(words: [u64; CQE_WORDS]) -> Cqe {
    let mut bytes = [0; Cqe::SIZE];
    for (word, place) in words.iter().zip(bytes.chunks_exact_mut(8)) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    Cqe::from_bytes(&bytes)
}
