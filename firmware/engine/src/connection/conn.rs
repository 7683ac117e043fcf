//! A connection: its TCP state, how far its start-up has come, and what the card knows of it.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use weft_wire::ethernet::Mac;
use weft_wire::fpdu::Markers;
use weft_wire::mpa::MAX_FRAME;
use weft_wire::terminate::TerminateCode;

use crate::connection::in_flight::InFlight;
pub use crate::connection::owed::{AckState, Ended, OutgoingTerminate, Startup};
pub use crate::connection::phase::{Phase, Role, TcpState, TeardownReport};
pub use crate::connection::sizes::{
    own_scale, segment_size, sender_settings, window_size, DEFAULT_MSS, MIN_SEGMENT,
    MIN_STREAM_SEGMENT,
};
use crate::connection::timers::{Timer, Timers};
use crate::handover::flow::FlowHandover;
use crate::interface::cm::{Agreed, ConnId, Endpoint};
use crate::interface::config::EngineConfig;
use crate::interface::random::Secrets;
use crate::mpa::negotiation::{Proposal, Request};
use crate::rdmap::early::Early;
use crate::streaming::ring::ByteStream;
use crate::tcp::acceptance::Position;
use crate::tcp::ecn::EcnState;
use crate::tcp::limits::Limit;
use weft_tcp::reassembly::Reassembly;
use weft_tcp::sender::{Counts, Sender};
use weft_tcp::seq;

/// Which path the reports of a connection may take ([`crate::tcp::fast_path`]). It is found out whenever it has taken the slow one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReportPath {
    /// Step by step.
    #[default]
    Slow,
    /// The fast path, where a report fits it.
    Fast,
    /// The same, and there is nothing to send, and nothing that was sent is waited for.
    FastIdle,
}

/// A timestamp older than this means nothing: the peer's clock may have gone half round (RFC 7323 §5.5). That takes 24 days at the
/// RFC's fastest clock, and this time at one of microseconds, as Linux may have since 6.7. No old duplicate lives as long.
pub const TS_LIFE: u64 = (1 << 31) * 1_000;

/// So many ticks behind what the peer has said, the card is told.
const TS_BEHIND: i32 = 1 << 30;

/// The end of a Send waits for this part of the time that an acknowledgment may wait: long enough for a program that answers at once.
const SEND_PART: u64 = 10;

/// When TS.Recent was taken that is not known.
pub const NEVER: u64 = u64::MAX;

/// What the card knows of the peer's timestamps.
#[derive(Clone, Copy, Debug, Default)]
pub struct CardStamp {
    /// Its TS.Recent, as far as it is known here.
    pub ts_recent: u32,
    /// When that was taken.
    pub ts_recent_at: u64,
}

/// A connection.
#[derive(Debug)]
pub struct Conn {
    /// Its name.
    pub id: ConnId,
    /// Who began.
    pub role: Role,
    /// This side.
    pub local: Endpoint,
    /// The other side.
    pub remote: Endpoint,
    /// Address of the next station on the way; its own, where there is no way.
    pub hop: [u8; 4],
    /// Next station on the way.
    pub remote_mac: Mac,
    /// That it has changed was told, and nobody has taken it.
    pub move_told: bool,
    /// Whoever connected said which: it was not asked for.
    pub routed: bool,
    /// Largest IPv4 packet on the way.
    pub mtu: u16,
    /// IPv4 type of service of its packets, without ECN.
    pub tos: u8,
    /// TCP's state.
    pub tcp: TcpState,
    /// How far it has come.
    pub phase: Phase,
    /// The queue pair's flow.
    pub qp: Option<u16>,
    /// The port it was accepted on.
    pub listener: u16,

    /// Sending half.
    pub sender: Sender,
    /// What of its counts is in the engine's statistics.
    pub counted: Counts,
    /// Receiving half.
    pub reassembly: Reassembly,
    /// What of it waits for its turn.
    pub early: Early,
    /// Shift of the peer's window field.
    pub peer_scale: u8,
    /// Shift of our window field.
    pub scale: u8,
    /// Both sides permit SACK.
    pub sack: bool,
    /// Marks of congestion.
    pub ecn: EcnState,
    /// Both sides send timestamps.
    pub timestamps: bool,
    /// What our timestamps begin with.
    pub ts_offset: u32,
    /// TS.Recent (RFC 7323 §4.3).
    pub ts_recent: u32,
    /// When it was taken.
    pub ts_recent_at: u64,
    /// Answers to unacceptable segments.
    pub challenges: Limit,
    /// Answers to probes.
    pub answers: Limit,
    /// Right edge of the window as last told.
    pub edge: u32,
    /// A stream of bytes whose reader has made less room than is worth telling: the right edge does not move.
    pub frozen: bool,
    /// How often a window that stood still and has opened is still to be told.
    pub window_told: u8,
    /// Acknowledgments owed.
    pub ack: AckState,
    /// Sequence number of the peer's FIN, if it was seen.
    pub peer_fin: Option<u32>,
    /// All before it was received.
    pub peer_fin_done: bool,
    /// A FIN is to be sent after everything else.
    pub fin_queued: bool,
    /// It was sent here.
    pub fin_seq: Option<u32>,
    /// Ours went out before the peer's came.
    pub closed_first: bool,
    /// The SYN or SYN-ACK was sent again because of its timer.
    pub syn_lost: bool,
    /// SYNs sent, or probes without answer.
    pub tries: u8,
    /// Window probes since data was sent last.
    pub probes: u8,

    /// The initiator's request.
    pub proposal: Option<Proposal>,
    /// Its private data: the initiator keeps them for a second try, the responder until the application hears of them. At the end the
    /// peer's, if it said no.
    pub private_data: Vec<u8>,
    /// The application has heard of it.
    pub known: bool,
    /// Try once more with revision 1.
    pub fall_back: bool,
    /// The peer's request.
    pub request: Request,
    /// What was agreed.
    pub agreed: Agreed,
    /// Our start-up frame.
    pub startup: Startup,
    /// FPDUs may be sent.
    pub may_send: bool,
    /// The RTR is still to be sent.
    pub rtr_pending: bool,
    /// `Established` was reported.
    pub reported: bool,
    /// The start-up is through: the queue pair cannot be used again.
    pub committed: bool,
    /// Markers in what is received.
    pub rx_markers: Markers,
    /// Markers in what is sent.
    pub tx_markers: Markers,
    /// The Terminate to be sent next.
    pub terminate: Option<Box<OutgoingTerminate>>,
    /// A Terminate was sent or received.
    pub terminated: Option<TerminateCode>,
    /// The status of the oldest send at the end.
    pub first_status: Option<crate::interface::verbs::Status>,
    /// What to tell at the end.
    pub teardown_report: TeardownReport,

    /// Sent and not acknowledged.
    pub in_flight: VecDeque<InFlight>,
    /// Of these, at most.
    pub most_in_flight: u16,
    /// In stream mode: no start-up, no messages.
    pub byte_stream: Option<Box<ByteStream>>,
    /// Who has the received stream.
    pub handover: FlowHandover,
    /// What the card knows of the peer's timestamps.
    pub card: CardStamp,
    /// Timers.
    pub timers: Timers,
    /// Which path its reports may take.
    pub path: ReportPath,
}

impl Conn {
    /// As many segments are in flight as may be.
    #[inline]
    pub fn in_flight_is_full(&self) -> bool {
        self.in_flight.len() >= usize::from(self.most_in_flight)
    }

    /// The type of service of what is sent from now on, as far as it is not ECN's (RFC 3168 §5).
    pub fn set_tos(&mut self, tos: u8) {
        self.tos = tos & !3;
    }

    /// A new connection.
    pub fn new(
        id: ConnId,
        role: Role,
        local: Endpoint,
        remote: Endpoint,
        now: u64,
        (config, secrets, hop): (&EngineConfig, &Secrets, [u8; 4]),
    ) -> Self {
        let iss = secrets.initial_sequence(now, local, remote);
        let mut reassembly = Reassembly::new(window_size(config), config.memory.gaps);
        // A stranger's start-up frame, and no more (RFC 5044 §7.1).
        reassembly.grant(MAX_FRAME as u32);
        Conn {
            id,
            role,
            local,
            remote,
            hop,
            remote_mac: [0; 6],
            move_told: false,
            routed: false,
            mtu: config.mtu,
            tos: 0,
            tcp: TcpState::Closed,
            phase: Phase::Handshake,
            qp: None,
            listener: 0,
            sender: Sender::new(iss, &sender_settings(config)),
            counted: Counts::default(),
            reassembly,
            early: Early::default(),
            peer_scale: 0,
            scale: own_scale(config),
            sack: false,
            ecn: EcnState::default(),
            timestamps: false,
            ts_offset: secrets.timestamp_offset(local, remote),
            ts_recent: 0,
            ts_recent_at: 0,
            challenges: Limit::default(),
            answers: Limit::default(),
            edge: 0,
            frozen: false,
            window_told: 0,
            ack: AckState::default(),
            peer_fin: None,
            peer_fin_done: false,
            fin_queued: false,
            fin_seq: None,
            closed_first: false,
            syn_lost: false,
            tries: 0,
            probes: 0,
            proposal: None,
            private_data: Vec::new(),
            known: role == Role::Initiator,
            fall_back: false,
            request: Request::default(),
            agreed: Agreed::default(),
            startup: Startup::default(),
            may_send: false,
            rtr_pending: false,
            reported: false,
            committed: false,
            rx_markers: Markers::OFF,
            tx_markers: Markers::OFF,
            terminate: None,
            terminated: None,
            first_status: None,
            teardown_report: TeardownReport::Silent,
            in_flight: VecDeque::new(),
            most_in_flight: config.memory.in_flight,
            byte_stream: None,
            handover: FlowHandover::default(),
            card: CardStamp::default(),
            timers: Timers::new(),
            path: ReportPath::Slow,
        }
    }

    /// All that is left of it is its time to wait: its queue pair has left it, and its user has read everything.
    pub fn only_waits(&self) -> bool {
        self.tcp == TcpState::TimeWait && self.qp.is_none()
    }

    /// RCV.NXT.
    #[inline]
    pub fn rcv_nxt(&self) -> u32 {
        self.reassembly
            .next()
            .wrapping_add(u32::from(self.peer_fin_done))
    }

    /// What decides about the next segment.
    pub fn position(&self, now: u64) -> Position {
        Position {
            rcv_nxt: self.rcv_nxt(),
            window: self.reassembly.capacity(),
            timestamps: self.timestamps,
            ts_recent: self.ts_is_valid(now).then_some(self.ts_recent),
        }
    }

    /// TS.Recent is not too old to mean anything.
    pub fn ts_is_valid(&self, now: u64) -> bool {
        self.ts_recent_at != NEVER && now.saturating_sub(self.ts_recent_at) < TS_LIFE
    }

    /// The card's TS.Recent goes on with what the card walks, and this side's with what acknowledges as well. It is behind by so much, or
    /// taken so long ago, that the peer's next timestamp might look old.
    pub fn is_card_behind(&self, now: u64) -> bool {
        let card = &self.card;
        let age = now.saturating_sub(card.ts_recent_at);
        let ticks = seq::diff(self.ts_recent, card.ts_recent);
        self.timestamps && self.handover.is_attached() && (age >= TS_LIFE / 2 || ticks >= TS_BEHIND)
    }

    /// The right edge that may be told now.
    #[inline]
    pub fn right_edge(&self) -> u32 {
        if self.frozen || self.handover.edge_stands() {
            seq::max(self.edge, self.rcv_nxt())
        } else {
            seq::max(self.reassembly.limit(), self.edge)
        }
    }

    /// One segment more is to be acknowledged: soon, or as soon as all that has come is handled.
    #[inline]
    pub fn owe_ack(&mut self, now: u64, delayed: u64) {
        self.ack.pending = self.ack.pending.saturating_add(1);
        let ended = core::mem::take(&mut self.ack.ended);
        self.ack.urgent |= ended == Ended::Write;
        let wait = match ended {
            Ended::Nothing => delayed,
            Ended::Send => delayed / SEND_PART,
            Ended::Write => 0,
        };
        let at = now.saturating_add(wait);
        if at < self.timers.expires_at(Timer::DelayedAck) {
            self.timers.set(Timer::DelayedAck, Some(at));
        }
    }

    /// The window field for a segment with this right edge.
    #[inline]
    pub fn window_field(&self) -> u16 {
        let window = seq::diff(self.right_edge(), self.rcv_nxt()).max(0) as u32;
        (window >> self.scale).min(0xffff) as u16
    }

    /// It is to end, and has not told the peer yet, or has not heard from it.
    pub fn is_closing(&self) -> bool {
        match self.phase {
            Phase::Closing | Phase::Finishing => self.tcp != TcpState::TimeWait,
            Phase::Finished => self.tcp == TcpState::Open,
            _ => false,
        }
    }

    /// Our FIN is acknowledged.
    pub fn fin_acked(&self) -> bool {
        self.fin_seq
            .is_some_and(|fin| seq::lt(fin, self.sender.una))
    }
}
