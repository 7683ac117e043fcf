//! The engine: everything of a connection that is not the movement of its bytes.
//!
//! It runs ARP and ICMP echo for the card's address, TCP in both roles, the MPA start-up, the
//! RDMAP checks and message order, the work queues and connection management. The card moves the
//! bytes: the engine tells it what to send by *jobs* and hears what arrived by *reports*
//! (`docs/card.md`).
//!
//! It has no clock, no threads and no input or output of its own: time is a number of nanoseconds
//! that the caller passes in, and what it does to its card and to its host's memory goes through
//! [`Port`]. So it runs the same in the driver, on the card's processor and under a test. Memory
//! is allocated when something is set up (engine, queue pair, connection), never when data moves.
//!
//! ```text
//!   post_send, post_recv, connect, accept ..      poll_completion, poll_event
//!                  │                                        ▲
//!                  ▼                                        │
//!        ┌──────────────────────────── Engine ────────────────────────────┐
//!        │    tcp · mpa · rdmap · handover · streaming · queues · memory   │
//!        └─────────────────────────────────────────────────────────────────┘
//!                  │ Port: jobs, frames, tables             ▲ on_report, on_timer
//!                  ▼                                        │
//!                                   card
//! ```
#![no_std]

extern crate alloc;

mod card;
mod connection;
pub mod handover;
mod interface;
mod management;
mod memory;
mod mpa;
mod queues;
mod rdmap;
mod streaming;
mod tcp;

pub use card::batch;
pub use management::{budget, commands, on_card, services, wqe_intake};
pub use tcp::acceptance;

pub use card::card_times::Arrived;
pub use card::clock::{arrival, Clock, ARRIVAL_BITS, ARRIVAL_UNIT_LOG2};
pub use card::port::{raw_frame_job, Full, MemoryError, Port};
pub use handover::raw_slots::RawSlots;
pub use handover::SlotUse;
pub use interface::cm::{
    is_station, AcceptParams, Agreed, ConnId, ConnectFailure, ConnectParams, DisconnectReason,
    Endpoint, Event, PrivateData, Revision, Route, StartMpa, StreamHandover, BUSY,
    MAX_PRIVATE_DATA, MAX_READS,
};
pub use interface::config::{Ecn, EngineConfig, Memory};
pub use interface::error::Error;
pub use interface::random::{HashSecret, Seed};
pub use interface::resource_split::ResourceSplit;
pub use interface::rung::{Duties, Rung, RungError, UnknownRung};
pub use interface::stats::EngineStats;
pub use interface::verbs::{
    Access, Binding, Completion, Opcode, Payload, PdId, QpConfig, QpId, QpState, RecvWr, SendOp,
    SendWr, Sge, SrqId, StagKind, Status, MAX_INLINE, MAX_RECV_SGE, MAX_SGE,
};
pub use management::conn_info::ConnInfo;
pub use management::engine::{Engine, StreamState};
pub use management::raw_ring::RawRing;
pub use queues::loopback::{Carried, LoopbackEvent, Message, MessageKind};
pub use queues::srq::{SrqConfig, SrqState};
pub use queues::xrc::XrcdId;
pub use weft_tcp::control as congestion;
pub use weft_tcp::control::Congestion;
pub use weft_tcp::handover::{Handover, Impossible, Timestamps};
pub use weft_wire::mpa::RtrKinds;
pub use weft_wire::rdmap::Atomic;
pub use weft_wire::terminate::TerminateCode;
