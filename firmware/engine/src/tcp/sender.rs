//! The sending half: what may be sent, what is lost, when to try again. NewReno (RFC 5681, 6582)
//! with SACK (RFC 6675) and the timer of RFC 6298.

use super::ranges::Ranges;
use super::rtt::Rtt;
use super::seq;

const DUP_THRESH: u32 = 3;

/// Loss recovery under way; it ends when `point` is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recovery {
    None,
    /// After duplicate acknowledgments.
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
    /// SACK blocks.
    pub sack: &'a [(u32, u32)],
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
    window_seq: u32,
    window_ack: u32,
    cwnd: u32,
    ssthresh: u32,
    dup_acks: u32,
    recovery: Recovery,
    high_rxt: u32,
    sacked: Ranges,
    /// RTT estimate.
    pub rtt: Rtt,
    timed: Option<(u32, u64)>,
    /// When the retransmission timer expires.
    pub rto_at: Option<u64>,
    /// Expiries since the last progress.
    pub retries: u8,
    /// Entries into fast recovery.
    pub recoveries: u64,
}

impl Sender {
    /// A sender whose next byte is `iss`; the SYN counts as a byte.
    pub fn new(iss: u32, rtt: Rtt) -> Self {
        Sender {
            una: iss,
            nxt: iss,
            mss: 536,
            window: 0,
            max_window: 0,
            window_seq: 0,
            window_ack: iss,
            cwnd: 536,
            ssthresh: u32::MAX,
            dup_acks: 0,
            recovery: Recovery::None,
            high_rxt: iss,
            sacked: Ranges::default(),
            rtt,
            timed: None,
            rto_at: None,
            retries: 0,
            recoveries: 0,
        }
    }

    /// The handshake is done: largest segment, initial window, the peer's first window.
    pub fn establish(&mut self, mss: u32, initial_segments: u32, window: u32, seq: u32, ack: u32) {
        self.mss = mss;
        self.cwnd = mss.saturating_mul(initial_segments.max(1));
        self.set_window(window, seq, ack);
    }

    /// Bytes sent and not acknowledged.
    pub fn flight(&self) -> u32 {
        self.nxt.wrapping_sub(self.una)
    }

    /// Congestion window.
    #[cfg(test)]
    pub fn cwnd(&self) -> u32 {
        self.cwnd
    }

    /// `length` new bytes are sent.
    pub fn sent(&mut self, now: u64, length: u32) {
        self.nxt = self.nxt.wrapping_add(length);
        if self.timed.is_none() {
            self.timed = Some((self.nxt, now));
        }
        if self.rto_at.is_none() {
            self.start_timer(now);
        }
    }

    /// Bytes up to `end` were sent again.
    pub fn sent_again(&mut self, now: u64, end: u32) {
        self.high_rxt = seq::max(self.high_rxt, end);
        self.timed = None;
        self.start_timer(now);
    }

    /// The SYN was sent again: what comes back is no RTT sample (Karn).
    pub fn syn_sent_again(&mut self, now: u64) {
        self.timed = None;
        self.start_timer(now);
    }

    /// The SYN-ACK went at `since`; `timed`: once, so that its acknowledgment is an RTT sample.
    pub fn syn_was_sent(&mut self, iss: u32, since: u64, timed: bool) {
        self.una = iss;
        self.nxt = iss.wrapping_add(1);
        (self.window_ack, self.high_rxt) = (iss, iss);
        self.timed = timed.then_some((self.nxt, since));
    }

    /// New bytes that the congestion window and the peer's window allow now.
    pub fn allowed(&self) -> (u32, u32) {
        let congestion = self.cwnd.saturating_sub(self.pipe());
        let edge = self.una.wrapping_add(self.window);
        let window = seq::diff(edge, self.nxt).max(0) as u32;
        (congestion, window)
    }

    /// The window still holds the first segment of what is under way.
    fn has_room(&self) -> bool {
        self.window >= self.flight().min(self.mss)
    }

    /// Takes an acknowledgment.
    pub fn acknowledge(&mut self, now: u64, ack: &Ack<'_>) -> Acked {
        let oldest = self.una.wrapping_sub(self.max_window);
        if seq::lt(self.nxt, ack.ack) || seq::lt(ack.ack, oldest) {
            return Acked::Unacceptable;
        }
        if seq::lt(ack.ack, self.una) {
            return Acked::Nothing;
        }
        for &(left, right) in ack.sack {
            let sane = seq::lt(left, right) && seq::le(ack.ack, left) && seq::le(right, self.nxt);
            if sane && seq::le(self.una, left) {
                self.sacked.add(left, right);
            }
        }
        let newly = ack.ack.wrapping_sub(self.una);
        let outcome = if newly > 0 {
            self.advance(now, ack.ack, newly);
            Acked::New(newly)
        } else {
            if ack.is_pure && self.flight() > 0 && ack.window == self.window {
                self.dup_acks = self.dup_acks.saturating_add(1);
            }
            Acked::Nothing
        };
        let newer = seq::lt(self.window_seq, ack.seq)
            || self.window_seq == ack.seq && seq::le(self.window_ack, ack.ack);
        let had_room = self.has_room();
        if newer {
            self.set_window(ack.window, ack.seq, ack.ack);
        }
        if !self.has_room() {
            // It is there, and says that it has no room: that may last (RFC 9293 §3.8.6, MUST-37, SHLD-17).
            self.retries = 0;
        } else if !had_room && matches!(self.recovery, Recovery::Timeout { .. }) {
            // It has room again: what it had none for goes at once, not when the timer says so.
            self.high_rxt = self.una;
        }
        if self.recovery == Recovery::None && self.flight() > 0 {
            let lost = self.dup_acks >= DUP_THRESH || seq::lt(self.una, self.sack_lost_edge());
            if lost {
                self.ssthresh = (self.flight() / 2).max(2 * self.mss);
                self.cwnd = self.ssthresh;
                self.recovery = Recovery::Fast { point: self.nxt };
                self.high_rxt = self.una;
                self.recoveries += 1;
            }
        }
        outcome
    }

    /// The retransmission timer expired.
    pub fn timeout(&mut self, now: u64) {
        if !matches!(self.recovery, Recovery::Timeout { .. }) {
            self.ssthresh = (self.flight() / 2).max(2 * self.mss);
        }
        self.cwnd = self.mss;
        self.recovery = Recovery::Timeout { point: self.nxt };
        self.high_rxt = self.una;
        self.dup_acks = 0;
        // The peer may have dropped what it said it had (RFC 2018 §8).
        self.sacked.clear();
        self.timed = None;
        self.retries = self.retries.saturating_add(1);
        self.rtt.back_off();
        self.start_timer(now);
    }

    /// Where to send again, if something is lost and the congestion window allows it.
    pub fn next_lost(&self) -> Option<u32> {
        if self.recovery == Recovery::None {
            return None;
        }
        let mut from = seq::max(self.una, self.high_rxt);
        while let Some(end) = self.sacked.end_of(from) {
            from = end;
        }
        if !seq::lt(from, self.lost_edge()) {
            return None;
        }
        // The first one goes out whatever the window says.
        let first = seq::le(self.high_rxt, self.una);
        (first || self.pipe().saturating_add(self.mss) <= self.cwnd).then_some(from)
    }

    /// Restarts the timer from now, if something is under way.
    pub fn start_timer(&mut self, now: u64) {
        self.rto_at = (self.flight() > 0).then(|| now.saturating_add(self.rtt.timeout()));
    }

    fn set_window(&mut self, window: u32, seq: u32, ack: u32) {
        self.window = window;
        self.max_window = self.max_window.max(window);
        self.window_seq = seq;
        self.window_ack = ack;
    }

    fn advance(&mut self, now: u64, ack: u32, newly: u32) {
        self.una = ack;
        self.high_rxt = seq::max(self.high_rxt, ack);
        self.sacked.remove_before(ack);
        self.dup_acks = 0;
        self.retries = 0;
        if let Some((end, at)) = self.timed {
            if seq::le(end, ack) {
                self.rtt.sample(now.saturating_sub(at));
                self.timed = None;
            }
        }
        match self.recovery {
            Recovery::Fast { point } | Recovery::Timeout { point } if seq::le(point, ack) => {
                if matches!(self.recovery, Recovery::Fast { .. }) {
                    let flight = self.flight().max(self.mss);
                    self.cwnd = self.ssthresh.min(flight.saturating_add(self.mss));
                }
                self.recovery = Recovery::None;
            }
            // A partial acknowledgment: what follows it is lost too.
            Recovery::Fast { .. } => {}
            Recovery::None | Recovery::Timeout { .. } => {
                let growth = if self.cwnd < self.ssthresh {
                    newly.min(2 * self.mss)
                } else {
                    let product = u64::from(self.mss) * u64::from(newly.min(self.mss));
                    (product / u64::from(self.cwnd.max(1))).max(1) as u32
                };
                self.cwnd = self.cwnd.saturating_add(growth).min(1 << 30);
            }
        }
        self.start_timer(now);
    }

    /// Everything before it, not SACKed and not sent again, counts as lost.
    fn lost_edge(&self) -> u32 {
        match self.recovery {
            Recovery::None => self.una,
            Recovery::Timeout { point } => seq::min(point, self.nxt),
            Recovery::Fast { .. } => {
                let first = seq::min(self.una.wrapping_add(1), self.nxt);
                seq::max(first, self.sack_lost_edge())
            }
        }
    }

    /// IsLost (RFC 6675 §4): three ranges, or more than two segments' bytes, are SACKed above.
    fn sack_lost_edge(&self) -> u32 {
        let mut bytes = 0u32;
        for (index, range) in self.sacked.as_slice().iter().rev().enumerate() {
            bytes = bytes.saturating_add(range.1.wrapping_sub(range.0));
            if index as u32 + 1 >= DUP_THRESH || bytes > (DUP_THRESH - 1) * self.mss {
                return range.0;
            }
        }
        self.una
    }

    /// Bytes thought to be in the network (RFC 6675 §4).
    fn pipe(&self) -> u32 {
        let outstanding = self.flight().saturating_sub(self.sacked.total());
        if self.recovery == Recovery::None {
            return outstanding;
        }
        let from = seq::max(self.una, self.high_rxt);
        let edge = self.lost_edge();
        let mut lost = 0;
        if seq::lt(from, edge) {
            lost = edge.wrapping_sub(from) - self.sacked.covered(from, edge);
        }
        // Without SACK each duplicate says that one more segment has left.
        let left = match (self.recovery, self.sacked.is_empty()) {
            (Recovery::Fast { .. }, true) => self.dup_acks.saturating_mul(self.mss),
            _ => 0,
        };
        outstanding.saturating_sub(lost).saturating_sub(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1000;

    fn sender() -> Sender {
        let mut s = Sender::new(0, Rtt::new(1_000_000, 60_000_000_000));
        s.establish(MSS, 10, 1 << 20, 0, 0);
        s.sent(0, 10 * MSS);
        s
    }

    fn ack(s: &mut Sender, ack: u32, sack: &[(u32, u32)]) -> Acked {
        s.acknowledge(
            100,
            &Ack {
                seq: 0,
                ack,
                window: 1 << 20,
                is_pure: true,
                sack,
            },
        )
    }

    #[test]
    fn slow_start_opens_the_window() {
        let mut s = sender();
        assert_eq!(s.allowed().0, 0);
        assert_eq!(ack(&mut s, 2 * MSS, &[]), Acked::New(2 * MSS));
        assert_eq!(s.cwnd(), 12 * MSS);
        assert_eq!(s.allowed().0, 4 * MSS);
        assert_eq!(ack(&mut s, 50 * MSS, &[]), Acked::Unacceptable);
        assert_eq!(ack(&mut s, MSS, &[]), Acked::Nothing);
    }

    #[test]
    fn three_duplicates_without_sack() {
        let mut s = sender();
        for _ in 0..2 {
            ack(&mut s, 0, &[]);
            assert_eq!(s.next_lost(), None);
        }
        ack(&mut s, 0, &[]);
        assert_eq!(s.next_lost(), Some(0));
        s.sent_again(100, MSS);
        assert_eq!(s.next_lost(), None);
        // A partial acknowledgment shows the next hole.
        ack(&mut s, 4 * MSS, &[]);
        assert_eq!(s.next_lost(), Some(4 * MSS));
        s.sent_again(100, 5 * MSS);
        ack(&mut s, 10 * MSS, &[]);
        assert_eq!(s.next_lost(), None);
        assert_eq!(s.flight(), 0);
        assert_eq!(s.rto_at, None);
    }

    #[test]
    fn sack_finds_each_hole_once() {
        let mut s = sender();
        ack(&mut s, 0, &[(MSS, 2 * MSS)]);
        assert_eq!(s.next_lost(), None);
        ack(&mut s, 0, &[(3 * MSS, 8 * MSS), (MSS, 2 * MSS)]);
        assert_eq!(s.next_lost(), Some(0));
        s.sent_again(100, MSS);
        assert_eq!(s.next_lost(), Some(2 * MSS));
        s.sent_again(100, 3 * MSS);
        // 8000 and above is not known to be lost.
        assert_eq!(s.next_lost(), None);
    }

    #[test]
    fn a_timeout_starts_over_and_backs_off() {
        let mut s = sender();
        let first = s.rto_at.unwrap();
        s.timeout(first);
        assert_eq!(s.cwnd(), MSS);
        assert_eq!(s.next_lost(), Some(0));
        s.sent_again(first, MSS);
        assert_eq!(s.next_lost(), None);
        assert!(s.rto_at.unwrap() - first > first);
        ack(&mut s, MSS, &[]);
        assert_eq!(s.next_lost(), Some(MSS));
        s.sent_again(first, 2 * MSS);
        assert_eq!(s.next_lost(), Some(2 * MSS));
    }

    #[test]
    fn the_peers_window_limits() {
        let mut s = sender();
        s.acknowledge(
            1,
            &Ack {
                seq: 1,
                ack: 10 * MSS,
                window: 500,
                is_pure: true,
                sack: &[],
            },
        );
        assert_eq!(s.allowed().1, 500);
    }

    #[test]
    fn a_window_is_newer_across_the_wrap() {
        let mut s = Sender::new(0, Rtt::new(1_000_000, 60_000_000_000));
        s.establish(MSS, 10, 1 << 20, u32::MAX - 5, 0);
        let later = Ack {
            seq: 3,
            ack: 0,
            window: 700,
            is_pure: false,
            sack: &[],
        };
        s.acknowledge(1, &later);
        assert_eq!(s.allowed().1, 700);
        let older = Ack {
            seq: u32::MAX - 1,
            window: 900,
            ..later
        };
        s.acknowledge(2, &older);
        assert_eq!(s.allowed().1, 700);
    }
}
