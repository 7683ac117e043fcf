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
//!        │ cm · qp · region · mpa · rdmap · stream · tcp · arp · terminate │
//!        └─────────────────────────────────────────────────────────────────┘
//!                  │ Port: jobs, frames, tables             ▲ on_report, on_timer
//!                  ▼                                        │
//!                                   card
//! ```
#![no_std]

extern crate alloc;

pub mod acceptance;
mod arp;
mod atomics;
mod attach;
pub mod batch;
pub mod budget;
mod bytes;
mod card_times;
mod clock;
mod cm;
pub mod commands;
mod config;
mod conn;
mod conn_info;
mod deadlines;
mod due;
mod ecn;
mod ending;
mod engine;
mod error;
mod flow_key;
mod frames;
pub mod handover;
mod host_stack;
mod input;
mod joined;
mod limits;
mod link;
mod negotiation;
pub mod on_card;
mod output;
mod part;
mod port;
pub mod posted;
mod qp;
mod random;
mod raw_ring;
mod raw_slots;
mod rdmap;
mod region;
mod replay;
mod rung;
mod send_queue;
pub mod services;
mod share;
mod shared_receive;
mod srq;
mod startup;
mod stats;
mod stream;
mod switch;
mod syn_cache;
mod timers;
mod turn;
mod usual;
mod verbs;
mod work;
mod xrc;

pub use card_times::Arrived;
pub use clock::{arrival, Clock, ARRIVAL_BITS, ARRIVAL_UNIT_LOG2};
pub use cm::{
    is_station, AcceptParams, Agreed, ConnId, ConnectFailure, ConnectParams, DisconnectReason,
    Endpoint, Event, PrivateData, Revision, Route, StartMpa, StreamHandover, BUSY,
    MAX_PRIVATE_DATA,
};
pub use config::{EngineConfig, Memory};
pub use conn_info::ConnInfo;
pub use ecn::Ecn;
pub use engine::{Engine, StreamState};
pub use error::Error;
pub use flow_key::HashSecret;
pub use handover::Kept;
pub use joined::{Carried, JoinedNews, Message, MessageKind};
pub use negotiation::MAX_READS;
pub use port::{raw_frame_job, Full, MemoryError, Port};
pub use random::Seed;
pub use raw_ring::RawRing;
pub use raw_slots::RawSlots;
pub use rung::{Duties, Rung, RungError, UnknownRung};
pub use share::Share;
pub use srq::{SrqConfig, SrqState};
pub use stats::EngineStats;
pub use verbs::{
    Access, Binding, Completion, Opcode, Payload, PdId, QpConfig, QpId, QpState, RecvWr, SendOp,
    SendWr, Sge, SrqId, StagKind, Status, MAX_INLINE, MAX_RECV_SGE, MAX_SGE,
};
pub use weft_tcp::control::Congestion;
pub use weft_tcp::handover::{Handover, Impossible, Timestamps};
pub use weft_wire::mpa::RtrKinds;
pub use weft_wire::rdmap::Atomic;
pub use weft_wire::terminate::TerminateCode;
pub use xrc::XrcdId;
