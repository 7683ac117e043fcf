//! What an engine on the card's processor takes of memory at most: each structure is bounded by its constant where it grows, and their sum is
//! less than the heap, or the firmware is not built (`firmware/card/src/heap.rs`, `card.ld`).
//!
//! What is not granted is refused (queue pairs, work, connections, domains, listeners, Reads) or dropped and counted (payload beyond gaps, SYNs, segments).

use alloc::boxed::Box;

use weft_tcp::pages::{Page, Pool};
use weft_tcp::scoreboard::Run;
use weft_wire::mpa::{MAX_FRAME, MAX_PRIVATE_DATA};

use crate::card::flow_key::FlowKeys;
use crate::connection::conn::Conn;
use crate::connection::in_flight::InFlight;
use crate::connection::outbox::EVENTS;
use crate::interface::cm::Event;
use crate::interface::config::Memory;
use crate::interface::verbs::Completion;
use crate::management::engine::Engine;
use crate::management::on_card::{
    CONNECTIONS, FLOWS, HALF_OPEN, MAX_MTU, MEMORY, REASSEMBLY, STAGS, WINDOW, WORK,
};
use crate::memory::region::Regions;
use crate::queues::qp::{PendingRead, PendingResponse, Qp, RecvEntry};
use crate::queues::send_queue::SendEntry;
use crate::queues::srq::Srqs;
use crate::rdmap::{early, passing};
use crate::tcp::syn_cache::HalfOpen;

/// The heap that the firmware has at least: the linker asserts it.
pub const HEAP: usize = 680 << 10;

const CONNS: usize = CONNECTIONS as usize;
const EACH: usize = MEMORY.each as usize;

/// The engine, and its tables of flows and STags.
const TABLES: usize = size_of::<Engine>()
    + FLOWS as usize * (size_of::<Option<Box<Qp>>>() + 2 + 2 + 1)
    + FlowKeys::bytes(FLOWS as usize)
    + Regions::bytes(STAGS as usize);

/// Scratch: an FPDU, its ULPDU, a frame.
const SCRATCH: usize = 2 * MEMORY.longest as usize + MAX_MTU as usize + 14;

/// Work requests, and their completions. What is no send is a receive.
const QUEUES: usize = MEMORY.sends_or(WORK) as usize * size_of::<SendEntry>()
    + MEMORY.words_or(0) as usize * size_of::<u64>()
    + (WORK - MEMORY.sends_or(WORK)) as usize * size_of::<RecvEntry>()
    + WORK as usize * size_of::<Completion>()
    + EACH * (size_of::<Qp>() + Srqs::BYTES);

/// Reads and answers in flight, and one of each for an RTR.
const READS: usize =
    CONNS * (MEMORY.reads as usize + 1) * (size_of::<PendingRead>() + size_of::<PendingResponse>());

/// What cards have placed beyond gaps: of receives, Reads and islands.
const EARLY: usize = ((WORK - MEMORY.sends_or(WORK)) as usize
    + CONNS * (MEMORY.reads as usize + 1 + passing::CUTS))
    * size_of::<early::Run>();

/// Connections, with their places in lists, and half-open ones.
const STATES: usize = CONNS * (size_of::<Option<Box<Conn>>>() + size_of::<Conn>() + 64)
    + HALF_OPEN as usize * size_of::<HalfOpen>();

/// What is in flight of each connection, what came beyond gaps, and the tables of its pages.
const IN_FLIGHT: usize = CONNS
    * (MEMORY.in_flight as usize * size_of::<InFlight>()
        + MEMORY.runs as usize * size_of::<Run>()
        + MEMORY.gaps as usize * 8
        + TABLE * size_of::<Option<Page>>());

const TABLE: usize = Pool::table(
    REASSEMBLY as usize,
    MEMORY.reserve as usize,
    WINDOW as usize,
);

/// Pages: the reserves of all connections, and what they share.
const PAGES: usize = Pool::bytes_with_all(REASSEMBLY as usize, MEMORY.reserve as usize, CONNS);

/// Events, and what peers and programs say at the start.
const TOLD: usize = CONNS * (EVENTS * size_of::<Event>() + MAX_FRAME + MAX_PRIVATE_DATA);

/// Domains, listeners, Terminates, lists that grow, and what the allocator has between pieces.
const SMALL: usize = 10 << 10;

/// All of the engine's. The firmware's own is beside it.
pub const NEEDED: usize =
    TABLES + SCRATCH + QUEUES + READS + EARLY + STATES + IN_FLIGHT + PAGES + TOLD + SMALL;

impl Memory {
    const fn words_or(&self, none: u32) -> u32 {
        match self.words {
            Some(words) => words,
            None => none,
        }
    }

    /// Sends of all queues together, of so many work requests.
    const fn sends_or(&self, work: u32) -> u32 {
        match self.sends {
            Some(sends) => sends,
            None => work,
        }
    }
}
