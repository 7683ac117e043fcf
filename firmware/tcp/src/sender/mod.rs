//! The sending half: what may be sent, what is lost, when to try again. Losses are found by RACK-TLP (RFC 8985) where the peer
//! permits SACK, by duplicate acknowledgments (RFC 5681, 6582) where not, by the timer (RFC 6298) where nothing else does; PRR
//! (RFC 6937) meters what goes out meanwhile; F-RTO (RFC 5682) and D-SACK (RFC 3708) take back what was no loss. How large the
//! window is, is the controller's.
//!
//! ```text
//!           acknowledge            due: Reordering, Probe, Timeout
//!               │                          │
//!               ▼                          ▼
//!   scoreboard · RACK ─► phase: none, fast, after the timer ─► allowed, next_lost ─► sent, sent_again
//!               │                          ▲
//!               └──────► controller ───────┘
//! ```

mod ack_delay;
mod acknowledge;
mod handover;
mod pace;
mod probe;
mod recovery;
#[cfg(test)]
mod tests;
mod undo;

use crate::control::{Congestion, Control, Controller};
use crate::prr::Prr;
use crate::rack::{Moment, Rack};
use crate::rtt::{Granularity, Rtt};
use crate::scoreboard::{Run, Scoreboard};
use crate::seq;
use crate::spare::Spare;

use self::ack_delay::AckDelay;
use self::pace::Pacing;
use self::probe::Probe;
use self::recovery::Spurious;
use self::undo::Undo;

const DUP_THRESH: u32 = 3;

/// A timer that is not set.
const NEVER: u64 = u64::MAX;

/// Loss recovery under way; it ends when `point` is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    None,
    /// After segments were found lost.
    Fast {
        point: u32,
    },
    /// After the timer.
    Timeout {
        point: u32,
    },
}

/// What an acknowledgment did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acked {
    /// It acknowledges so many new bytes.
    New(u32),
    /// Nothing new, or old.
    Nothing,
    /// It acknowledges what was never sent, or what was acknowledged too long ago (RFC 5961 §5).
    Unacceptable,
}

/// What is to be done now that time has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// Nothing yet.
    Nothing,
    /// What is late is lost: [`Sender::look_again`].
    Reordering,
    /// The last segment may be lost: [`Sender::probe`].
    Probe,
    /// The retransmission timer expired: [`Sender::timeout`].
    Timeout,
}

/// An acknowledgment as received.
#[derive(Clone, Copy, Debug)]
pub struct Ack<'a> {
    /// Sequence number of the segment.
    pub seq: u32,
    /// Acknowledgment number.
    pub ack: u32,
    /// Window, scaled.
    pub window: u32,
    /// The segment has no data, SYN or FIN.
    pub is_pure: bool,
    /// SACK blocks; the first may tell of what arrived twice (RFC 2883).
    pub sack: &'a [(u32, u32)],
    /// The peer echoes a mark of congestion (ECE, where ECN was agreed on).
    pub echo: bool,
    /// When it came, which may be before it is handled. `None`: nobody knows, and no time is taken from it.
    pub arrived: Option<u64>,
    /// The newest byte that it acknowledges left no earlier, whenever it was handed on to be sent. 0: nothing is known.
    pub departed: u64,
}

impl Ack<'_> {
    /// Time from when something was sent to the arrival of this.
    #[inline]
    fn since(&self, sent_at: u64) -> Option<u64> {
        self.arrived.map(|at| at.saturating_sub(sent_at))
    }
}

/// Settings of a sender. Times are in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The least that the variance counts for in the retransmission timer.
    pub granularity: Granularity,
    /// Upper bound of the retransmission timer.
    pub rto_max: u64,
    /// The peer keeps an acknowledgment back no longer than this (TLP.max_ack_delay of RFC 8985 §7.2).
    pub peer_ack_delay: u64,
    /// The controller.
    pub congestion: Congestion,
    /// Pacing, where the controller wants it.
    pub pacing: bool,
    /// Runs of what is under way that are told apart at most.
    pub runs: u16,
}

/// What a sender counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Entries into fast recovery.
    pub recoveries: u64,
    /// Reductions of the window that were taken back, because nothing was lost.
    pub undone: u64,
    /// Tail loss probes.
    pub probes: u64,
    /// Reductions because of marks (RFC 3168).
    pub echoes: u64,
}

/// State of the sending half.
#[derive(Debug)]
pub struct Sender {
    /// Oldest byte not acknowledged.
    pub una: u32,
    /// Next byte to send.
    pub nxt: u32,
    /// Largest segment payload (EMSS).
    pub mss: u32,
    /// The peer's window.
    pub window: u32,
    /// The largest window seen.
    pub max_window: u32,
    /// RTT estimate.
    pub rtt: Rtt,
    /// Expiries since the last progress.
    pub retries: u8,
    /// What happened.
    pub counts: Counts,
    peer_ack_delay: u64,
    ack_delay: AckDelay,
    congestion: Congestion,
    window_seq: u32,
    window_ack: u32,
    /// The peer permits SACK.
    sack: bool,
    board: Scoreboard,
    rack: Rack,
    control: Controller,
    initial_window: u32,
    dup_acks: u32,
    phase: Phase,
    prr: Prr,
    /// The congestion window of fast recovery.
    fast_window: u32,
    /// When this fast recovery, or the last reduction in it, began.
    fast_since: u64,
    /// One segment goes again whatever the window says.
    urgent: bool,
    undo: Undo,
    spurious: Spurious,
    probe: Probe,
    pacing: Pacing,
    /// What was sent after this has arrived: a round is over.
    round_since: u64,
    /// Found lost by the clock, and not told to the controller yet.
    lost_meanwhile: u32,
    /// Marks are heeded again when this is acknowledged.
    echo_point: u32,
    /// The peer is to be told that its marks were heeded.
    cwr: bool,
    last_sent: u64,
    /// What was sent before this filled the congestion window.
    full_at: u32,
    rto_at: u64,
    reordering_at: u64,
}

impl Sender {
    /// A sender whose next byte is `iss`; the SYN counts as a byte.
    pub fn new(iss: u32, settings: &Settings) -> Self {
        Sender {
            una: iss,
            nxt: iss,
            mss: 536,
            window: 0,
            max_window: 0,
            rtt: Rtt::new(settings.granularity, settings.rto_max),
            retries: 0,
            counts: Counts::default(),
            peer_ack_delay: settings.peer_ack_delay,
            ack_delay: AckDelay::default(),
            congestion: settings.congestion,
            window_seq: 0,
            window_ack: iss,
            sack: false,
            board: Scoreboard::new(settings.runs),
            rack: Rack::default(),
            control: Controller::new(settings.congestion),
            initial_window: 536,
            dup_acks: 0,
            phase: Phase::None,
            prr: Prr::default(),
            fast_window: 0,
            fast_since: 0,
            urgent: false,
            undo: Undo::default(),
            spurious: Spurious::Unknown,
            probe: Probe::default(),
            pacing: Pacing::new(settings.pacing && settings.congestion.paces()),
            round_since: 0,
            lost_meanwhile: 0,
            echo_point: iss,
            cwr: false,
            last_sent: 0,
            full_at: iss,
            rto_at: NEVER,
            reordering_at: NEVER,
        }
    }

    /// The handshake is done: largest segment, initial window, whether the peer permits SACK, its first window.
    pub fn establish(
        &mut self,
        mss: u32,
        initial_segments: u32,
        sack: bool,
        window: u32,
        (seq, ack): (u32, u32),
    ) {
        self.mss = mss;
        self.sack = sack;
        self.initial_window = mss.saturating_mul(initial_segments.max(1));
        self.control = Controller::new(self.congestion);
        // That of a SYN is not kept back.
        self.ack_delay = AckDelay::default();
        let first = self.control.window_mut();
        first.mss = mss;
        first.set(self.initial_window);
        self.set_window(window, seq, ack);
    }

    /// Something is about to be sent: the sender gets memory to keep account of it, if it has none and there is some.
    pub fn lend(&mut self, spare: &mut Spare<Run>) {
        self.board.lend(spare);
    }

    /// If nothing is under way that memory is for others.
    pub fn give_back(&mut self, spare: &mut Spare<Run>) {
        if self.flight() == 0 {
            self.board.take_back(spare);
        }
    }

    /// Bytes sent and not acknowledged.
    #[inline]
    pub fn flight(&self) -> u32 {
        self.nxt.wrapping_sub(self.una)
    }

    /// Congestion window.
    #[inline]
    pub fn cwnd(&self) -> u32 {
        match self.phase {
            Phase::Fast { .. } => self.fast_window,
            Phase::None | Phase::Timeout { .. } => self.control.window().cwnd,
        }
    }

    /// Which controller it was made with.
    pub fn congestion(&self) -> Congestion {
        self.congestion
    }

    /// The controller.
    pub fn controller(&self) -> &Controller {
        &self.control
    }

    /// Fast recovery, or the one after the timer, is under way.
    pub fn is_recovering(&self) -> bool {
        self.phase != Phase::None
    }

    /// Bytes thought to be in the network.
    #[inline]
    pub fn pipe(&self) -> u32 {
        let pipe = self.board.pipe();
        // Without SACK each duplicate says that one more segment has left.
        if matches!(self.phase, Phase::Fast { .. }) && self.board.sacked() == 0 {
            pipe.saturating_sub(self.dup_acks.saturating_mul(self.mss))
        } else {
            pipe
        }
    }

    /// `length` new bytes are sent.
    pub fn sent(&mut self, now: u64, length: u32) {
        let from = self.nxt;
        self.nxt = self.nxt.wrapping_add(length);
        self.board.sent(now, from, self.nxt);
        self.last_sent = now;
        if matches!(self.phase, Phase::Fast { .. }) {
            self.prr.sent(length);
        }
        let two = 2 * self.mss;
        let many = self.flight() >= two && from.wrapping_sub(self.una) < two;
        if many || self.rto_at == NEVER {
            self.start_timer(now);
        }
        if self.pipe().saturating_add(self.mss) > self.cwnd() {
            self.full_at = self.nxt;
        }
        if self.pacing.is_on() {
            self.spend(now, length);
        }
        self.probe_sent(now, None);
        self.arm_probe(now);
    }

    /// `[from, end)` was sent again.
    pub fn sent_again(&mut self, now: u64, from: u32, end: u32) {
        self.board.sent_again(now, from, end);
        self.last_sent = now;
        self.urgent = false;
        let length = end.wrapping_sub(from);
        if matches!(self.phase, Phase::Fast { .. }) {
            self.prr.sent(length);
        }
        // Word of a copy that goes to ask is the probe's.
        if self.phase != Phase::None && !self.probe.is_a_copy() {
            self.undo.sent_again(length);
        }
        if self.pacing.is_on() {
            self.spend(now, length);
        }
        if !self.probe.is_to_go() {
            self.start_timer(now);
        }
        self.probe_sent(now, Some(end));
        self.arm_probe(now);
    }

    /// The SYN was sent again: what comes back is no RTT sample (Karn).
    pub fn syn_sent_again(&mut self, now: u64) {
        self.board.sent_again(now, self.una, self.nxt);
        self.start_timer(now);
    }

    /// The SYN-ACK went at `since`; `timed`: once, so that its acknowledgment is an RTT sample.
    pub fn syn_was_sent(&mut self, iss: u32, since: u64, timed: bool) {
        self.una = iss;
        self.nxt = iss.wrapping_add(1);
        (self.window_ack, self.echo_point, self.full_at) = (iss, iss, iss);
        self.board.clear();
        self.board.sent(since, iss, self.nxt);
        if !timed {
            self.board.sent_again(since, iss, self.nxt);
        }
    }

    /// Round-trip times decide how much goes.
    #[inline]
    pub fn goes_by_delay(&self) -> bool {
        self.congestion.goes_by_delay()
    }

    /// New bytes that the congestion window (and the pace, where there is one) and the peer's window allow now.
    #[inline]
    pub fn allowed(&mut self, now: u64) -> (u32, u32) {
        if self.flight() == 0 && now.saturating_sub(self.last_sent) > self.rtt.timeout() {
            // RFC 5681 §4.1: what the window was says nothing any more.
            let window = self.control.window_mut();
            window.cwnd = window.cwnd.min(self.initial_window);
        }
        let edge = self.una.wrapping_add(self.window);
        let window = seq::diff(edge, self.nxt).max(0) as u32;
        let mut congestion = self.cwnd().saturating_sub(self.pipe());
        if self.pacing.is_on() {
            congestion = self.paced(now, congestion, window);
        }
        if let Some(most) = self.awaits_news() {
            congestion = congestion.min(most);
        }
        if self.probe.is_due() {
            congestion = congestion.max(self.mss);
        }
        (congestion, window)
    }

    /// Nothing is missing, and nothing is to be found out by sending.
    #[inline]
    pub fn is_steady(&self) -> bool {
        self.phase == Phase::None && self.awaits_news().is_none() && !self.probe.is_due()
    }

    /// Where to send again, if something is lost and the congestion window allows it.
    pub fn next_lost(&self) -> Option<u32> {
        if self.probe.is_for_the_last() {
            return self.board.last_missing();
        }
        if self.phase == Phase::None || self.awaits_news().is_some() {
            return None;
        }
        let run = self.board.first_lost()?;
        let size = run.length().min(self.mss);
        (self.urgent || self.pipe().saturating_add(size) <= self.cwnd()).then_some(run.seq)
    }

    /// Nothing new could be sent. True if something else is to be sent instead: [`Sender::next_lost`] says what.
    pub fn no_news(&mut self) -> bool {
        let probe = self.probe.no_news();
        let waited = self.awaits_news() == Some(2 * self.mss);
        if waited {
            // RFC 5682 §2.1 step 2b: without new data nothing can be learnt.
            self.spurious = Spurious::Unknown;
        }
        probe || waited
    }

    /// When something is due without an acknowledgment.
    #[inline]
    pub fn deadline(&self) -> Option<u64> {
        let first = self.rto_at.min(self.reordering_at);
        let first = first.min(self.probe.deadline());
        Some(first.min(self.pacing.deadline())).filter(|at| *at != NEVER)
    }

    /// What is due. [`Due::Nothing`] may say that new data need not wait any more.
    pub fn due(&mut self, now: u64) -> Due {
        self.pacing.take_due(now);
        let is = |timer: u64| timer <= now;
        if is(self.reordering_at) {
            Due::Reordering
        } else if is(self.probe.deadline()) {
            Due::Probe
        } else if is(self.rto_at) {
            Due::Timeout
        } else {
            Due::Nothing
        }
    }

    /// The next segment with new data is to have the CWR flag (RFC 3168 §6.1.2), if ECN was agreed on.
    pub fn owes_cwr(&self) -> bool {
        self.cwr
    }

    /// The next segment with new data is to have the CWR flag (RFC 3168 §6.1.2), if ECN was agreed on; then it is forgotten.
    pub fn take_cwr(&mut self) -> bool {
        core::mem::take(&mut self.cwr)
    }

    /// Restarts the timer from now, if something is under way.
    #[inline]
    pub fn start_timer(&mut self, now: u64) {
        let flight = self.flight();
        let timeout = match flight >= 2 * self.mss || self.is_behind_a_gap() {
            true => self.rtt.timeout_in_flight(),
            false => self.rtt.timeout(),
        };
        self.rto_at = match flight {
            0 => NEVER,
            _ => now.saturating_add(timeout),
        };
    }

    /// Nothing is under way, and nothing is to be found out: of an acknowledgment that repeats the number, without SACK blocks and marks,
    /// the window is all there is to learn ([`Sender::take_window_of`]).
    pub fn is_at_rest(&self) -> bool {
        self.una == self.nxt && self.phase == Phase::None && !self.probe.is_out()
    }

    /// The peer has something beyond a gap: until that is filled it keeps no acknowledgment back (RFC 5681 §4.2).
    #[inline]
    fn is_behind_a_gap(&self) -> bool {
        self.board.sacked() > 0 || self.dup_acks >= DUP_THRESH
    }

    /// The window still holds the first segment of what is under way.
    fn has_room(&self) -> bool {
        self.window >= self.flight().min(self.mss)
    }

    #[inline]
    fn set_window(&mut self, window: u32, seq: u32, ack: u32) {
        self.window = window;
        self.max_window = self.max_window.max(window);
        self.window_seq = seq;
        self.window_ack = ack;
    }

    fn moment(&self, now: u64) -> Moment {
        Moment {
            now,
            min_rtt: self.rtt.least(),
            smoothed: self.rtt.smoothed().unwrap_or(0),
            recovering: self.phase != Phase::None,
        }
    }
}
