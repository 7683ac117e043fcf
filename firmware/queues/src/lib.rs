//! The upper cut: queues in memory between verbs and whoever works for them.
//!
//! ```text
//!   who posts: WQE, element ──► queue ──► who takes        who polls ◄── CQEs ◄── who completes
//!              then a doorbell: how many                   a phase bit says which are new
//! ```
//!
//! A [`QueuePair`] lies in one run of memory: its doorbells, how far its work is, the send queue in blocks of 64 bytes, the
//! receive queue in elements of 64 bytes. A [`CompletionQueue`] is another run, and so is a [`SharedReceive`] queue. What is no work of a queue pair goes by a
//! [`CommandRing`] (create, register, connect, and the answers) and an [`EventRing`] (what happened to connections and queue pairs), in slots
//! of one size, so that a command that nobody understands is answered and the next one is taken. The two sides of a queue may be threads,
//! processes, or a host and a card: they share [`Memory`] and nothing else, and the one that takes believes nothing that it
//! finds there. Every layout is one of `rtl/pkg/card.toml`; `docs/queues.md` shows how they go together.
//!
//! Numbers of blocks, elements and CQEs count from 0 and only grow, modulo 2^32.
#![no_std]
#![forbid(unsafe_code)]

mod commands;
mod completion;
mod events;
mod frames;
mod memory;
mod operation;
mod queue_pair;
mod shared_receive;
mod slots;
mod wqe;

pub use commands::{BadTail, CommandRing, TakenCommand};
pub use completion::{CompletionQueue, PlainCqe, MAX_CQES};
pub use events::{EventRing, TakenEvent};
pub use frames::{FrameRing, MAX_FRAME};
pub use memory::Memory;
pub use operation::{Carries, Kinds, Message, Operation};
pub use queue_pair::{Capacity, QueuePair};
pub use shared_receive::SharedReceive;
pub use slots::MAX_PRIVATE_DATA;
pub use weft_layout::{Answer, Command, EventEntry};
pub use weft_layout::{Cqe, CqeOpcode, CqeStatus, SendWqe, WqeOpcode};
pub use wqe::{
    blocks_of, BadWqe, Payload, Sge, Taken, Wqe, MAX_BLOCKS, MAX_INLINE, MAX_RECV_SGE, MAX_SGE,
};

/// Bytes of a block of the send queue, and of a receive element.
pub const BLOCK: usize = 64;
/// Words of a block.
const BLOCK_WORDS: usize = BLOCK / 8;
