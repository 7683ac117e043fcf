//! An acknowledgment, step by step.

use super::recovery::Spurious;
use super::{Ack, Acked, Phase, Sender, NEVER};
use crate::control::{Control, Event, Progress};
use crate::scoreboard::Run;
use crate::seq;

/// What an acknowledgment tells that was not known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct News {
    /// Bytes that have arrived.
    pub delivered: u32,
    /// Send time of the first run of them that the number acknowledges, and of the first that is SACKed, if sent once.
    first: Option<u64>,
    first_sacked: Option<u64>,
    /// The number acknowledges something that was sent again.
    again: bool,
    /// Of all of them the one sent last, and whether it was sent once.
    newest: Option<(u64, bool)>,
    /// The highest byte.
    pub highest: Option<u32>,
}

impl News {
    fn take(&mut self, run: &Run, sacked: bool) {
        self.delivered += run.length();
        if sacked {
            self.first_sacked = self.first_sacked.or((!run.again).then_some(run.sent_at));
        } else {
            self.again |= run.again;
            self.first.get_or_insert(run.sent_at);
        }
        if self.newest.is_none_or(|(at, _)| at <= run.sent_at) {
            self.newest = Some((run.sent_at, !run.again));
        }
        self.highest = Some(match self.highest {
            Some(highest) => seq::max(highest, run.end),
            None => run.end,
        });
    }

    /// When that was sent whose acknowledgment is an RTT sample (Karn).
    fn timed(&self) -> Option<u64> {
        match self.first {
            Some(first) => (!self.again).then_some(first),
            None => self.first_sacked,
        }
    }
}

impl Sender {
    /// Takes an acknowledgment.
    pub fn acknowledge(&mut self, now: u64, ack: &Ack<'_>) -> Acked {
        if self.says_nothing(ack) {
            self.take_window(ack);
            self.heard(now, ack);
            return Acked::Nothing;
        }
        let oldest = self.una.wrapping_sub(self.max_window);
        if seq::lt(self.nxt, ack.ack) || seq::lt(ack.ack, oldest) {
            return Acked::Unacceptable;
        }
        if seq::lt(ack.ack, self.una) {
            self.take_old(now, ack);
            return Acked::Nothing;
        }
        let limited = self.is_limited();
        let fast = matches!(self.phase, Phase::Fast { .. });
        let twice = self.arrived_twice(ack);
        let newly = ack.ack.wrapping_sub(self.una);
        let news = self.take_news(ack);
        let round = self.take_times(now, ack, &news);
        if let (Some((at, true)), true) = (news.newest, newly == self.flight()) {
            if let Some(time) = ack.since(at).filter(|_| newly <= self.mss) {
                self.ack_delay.take(time);
            }
        }
        // It tells that a segment has left the network: with SACK by something new (RFC 6675 §2), without it by repeating the number.
        let duplicate = match self.sack {
            true => newly == 0 && news.delivered > 0,
            false => self.repeats(ack),
        };
        if newly > 0 {
            self.dup_acks = 0;
            self.retries = 0;
        } else if duplicate {
            self.dup_acks = self.dup_acks.saturating_add(1);
        }
        let probes = self.probe_answered(now, ack, twice);
        self.una = ack.ack;
        self.take_window(ack);
        let twice = twice.filter(|_| !probes);
        self.rack.round(self.una, self.nxt, twice.is_some());
        self.judge_timeout(&news, newly, duplicate);
        self.take_back(now, twice);
        self.leave(newly);
        // What the evidence says of what is missing, it said when it came: a host that looks late finds no more of it lost.
        let lost = self.look_for_losses(now, ack.arrived.unwrap_or(now), newly);
        let progress = Progress {
            now,
            acked: newly,
            delivered: news.delivered,
            lost: lost.saturating_add(core::mem::take(&mut self.lost_meanwhile)),
            rtt: news
                .newest
                .filter(|(_, once)| *once)
                .and_then(|(at, _)| ack.since(at.max(ack.departed))),
            arrived: ack.arrived,
            min_rtt: self.rtt.least(),
            smoothed: self.rtt.smoothed().unwrap_or(0),
            limited,
            recovering: fast || matches!(self.phase, Phase::Fast { .. }),
            echo: ack.echo,
            round,
        };
        if news.delivered > 0 || lost > 0 || ack.echo {
            self.control.acknowledged(&progress);
        }
        self.heed_echo(now, ack);
        if let Phase::Fast { .. } = self.phase {
            // Without SACK each duplicate stands for a segment.
            let unsaid = duplicate && news.delivered == 0 && self.board.sacked() == 0;
            let delivered = news.delivered + if unsaid { self.mss } else { 0 };
            let target = self.control.window().cwnd;
            self.fast_window = self
                .prr
                .acknowledged(delivered, self.pipe(), target, self.mss);
        }
        if newly > 0 {
            self.start_timer(now);
            self.arm_probe(now);
            Acked::New(newly)
        } else {
            if news.delivered > 0 {
                self.arm_probe(now);
            }
            Acked::Nothing
        }
    }

    /// Takes the usual acknowledgment: it goes on, nothing is missing, nothing is to be found out, and it is known when it came. What [`Sender::acknowledge`] does
    /// of it, without looking for what is not there. False: it is another one, and nothing was done.
    pub fn advance(&mut self, now: u64, ack: &Ack<'_>) -> bool {
        let Some(arrived) = ack.arrived else {
            return false;
        };
        let newly = ack.ack.wrapping_sub(self.una);
        let usual = newly.wrapping_sub(1) < self.flight()
            && self.phase == Phase::None
            && ack.sack.is_empty()
            && !ack.echo
            && !self.probe.is_out();
        if !usual {
            return false;
        }
        let limited = self.is_limited();
        let Sender { board, rack, .. } = self;
        let Some((first, last)) = board.advance(ack.ack, |last| rack.may_advance(self.una, last))
        else {
            return false;
        };
        self.rack
            .advance((last, ack.ack), arrived.saturating_sub(last));
        self.dup_acks = 0;
        self.retries = 0;
        self.rtt.sample(arrived.saturating_sub(first));
        self.probe.sampled();
        if newly == self.flight() && newly <= self.mss {
            self.ack_delay.take(arrived.saturating_sub(last));
        }
        let rtt = arrived.saturating_sub(last.max(ack.departed));
        self.rtt.observe(now, rtt);
        let round = last >= self.round_since;
        if round {
            self.round_since = now;
        }
        self.una = ack.ack;
        self.take_window_of(ack.seq, ack.ack, ack.window);
        self.rack.round(self.una, self.nxt, false);
        self.reordering_at = NEVER;
        let progress = Progress {
            now,
            acked: newly,
            delivered: newly,
            lost: core::mem::take(&mut self.lost_meanwhile),
            rtt: Some(rtt),
            arrived: ack.arrived,
            min_rtt: self.rtt.least(),
            smoothed: self.rtt.smoothed().unwrap_or(0),
            limited,
            recovering: false,
            echo: false,
            round,
        };
        self.control.acknowledged(&progress);
        self.start_timer(now);
        self.arm_probe(now);
        true
    }

    /// An acknowledgment that others have overtaken. What arrived twice is told once, and it may be here; all else is known by now.
    fn take_old(&mut self, now: u64, ack: &Ack<'_>) {
        let twice = self.arrived_twice(ack);
        let Some(twice) = twice.filter(|(_, right)| !self.probe.takes_copy(*right)) else {
            return;
        };
        self.rack.round(self.una, self.nxt, true);
        self.take_back(now, Some(twice));
    }

    /// Nothing is under way, or it is data that goes the other way: of an acknowledgment that repeats the number, without SACK
    /// blocks and marks, the window is all there is to learn.
    fn says_nothing(&self, ack: &Ack<'_>) -> bool {
        ack.ack == self.una
            && (self.una == self.nxt || !ack.is_pure)
            && ack.sack.is_empty()
            && !ack.echo
            && self.phase == Phase::None
            && !self.probe.is_out()
    }

    /// The congestion window is what limits what is under way.
    #[inline]
    fn is_limited(&self) -> bool {
        let window = self.control.window();
        let pipe = self.board.pipe();
        if seq::lt(self.una, self.full_at) {
            return true;
        }
        if window.in_slow_start() {
            pipe.saturating_mul(2) >= window.cwnd
        } else {
            pipe.saturating_add(2 * self.mss) >= window.cwnd
        }
    }

    /// All it says is what was said before (RFC 5681 §2).
    pub(super) fn repeats(&self, ack: &Ack<'_>) -> bool {
        ack.is_pure && self.flight() > 0 && ack.ack == self.una && ack.window == self.window
    }

    /// The block of what arrived twice (RFC 2883 §4): behind the number, or inside of the second block.
    fn arrived_twice(&self, ack: &Ack<'_>) -> Option<(u32, u32)> {
        let &(left, right) = ack.sack.first()?;
        let oldest = self.una.wrapping_sub(self.max_window.max(1 << 16));
        if !seq::lt(left, right) || seq::lt(left, oldest) || seq::lt(self.nxt, right) {
            return None;
        }
        let inside = ack
            .sack
            .get(1)
            .is_some_and(|&(from, to)| seq::le(from, left) && seq::le(right, to));
        (seq::le(right, ack.ack) || inside).then_some((left, right))
    }

    /// The number and the SACK blocks.
    fn take_news(&mut self, ack: &Ack<'_>) -> News {
        let mut news = News::default();
        let min_rtt = self.rtt.least();
        let Sender { board, rack, .. } = self;
        board.acknowledged(ack.ack, |run| {
            news.take(run, false);
            rack.arrived(run, ack.arrived, min_rtt);
        });
        for &(left, right) in ack.sack {
            let sane = seq::lt(left, right) && seq::le(ack.ack, left) && seq::le(right, self.nxt);
            if sane {
                board.sack(left, right, self.mss, |run| {
                    news.take(run, true);
                    rack.arrived(run, ack.arrived, min_rtt);
                });
            }
        }
        news
    }

    /// Round-trip times. True if a round is over.
    fn take_times(&mut self, now: u64, ack: &Ack<'_>, news: &News) -> bool {
        if let Some(rtt) = news.timed().and_then(|at| ack.since(at)) {
            self.rtt.sample(rtt);
            self.probe.sampled();
        }
        let Some((at, once)) = news.newest else {
            return false;
        };
        if let Some(rtt) = ack.since(at.max(ack.departed)).filter(|_| once) {
            self.rtt.observe(now, rtt);
        }
        let round = at >= self.round_since;
        if round {
            self.round_since = now;
        }
        round
    }

    /// The peer's window, if this is newer than what is known of it.
    #[inline]
    pub fn take_window_of(&mut self, seq: u32, ack: u32, window: u32) {
        let newer = seq::lt(self.window_seq, seq)
            || self.window_seq == seq && seq::le(self.window_ack, ack);
        if newer {
            self.set_window(window, seq, ack);
        }
    }

    /// The same, and what follows from room that there is, or is not.
    fn take_window(&mut self, ack: &Ack<'_>) {
        let had_room = self.has_room();
        self.take_window_of(ack.seq, ack.ack, ack.window);
        if !self.has_room() {
            // It is there, and says that it has no room: that may last (RFC 9293 §3.8.6, MUST-37, SHLD-17).
            self.retries = 0;
        } else if !had_room && matches!(self.phase, Phase::Timeout { .. }) {
            // It has room again: what it had none for goes at once, not when the timer says so.
            self.board.lose(|run| Some(run.end), |_| ());
            self.urgent = true;
        }
    }

    /// Marks of congestion: once for a window (RFC 3168 §6.1.2), and not beside a loss.
    fn heed_echo(&mut self, now: u64, ack: &Ack<'_>) {
        // The segment that begins there has CWR: before it is acknowledged the peer cannot know.
        let again = seq::lt(self.echo_point, self.una);
        if ack.echo && again && self.phase == Phase::None {
            let flight = self.flight();
            self.control.congestion(Event::Echo, now, flight);
            self.echo_point = self.nxt;
            self.cwr = true;
            self.counts.echoes += 1;
        }
    }

    /// F-RTO (RFC 5682 §3.1): were the originals only late?
    fn judge_timeout(&mut self, news: &News, newly: u32, duplicate: bool) {
        let Phase::Timeout { point } = self.phase else {
            return;
        };
        match self.spurious {
            Spurious::Unknown => {}
            Spurious::First if newly > 0 => {
                // Step 2: the first acknowledgment that goes on. If it covers everything nothing can be learnt.
                let all = seq::le(point, self.una);
                self.spurious = if all {
                    Spurious::Unknown
                } else {
                    Spurious::Second { edge: self.nxt }
                };
            }
            Spurious::First => {
                if duplicate && !self.sack {
                    self.spurious = Spurious::Unknown;
                }
            }
            Spurious::Second { edge } => {
                let beyond = news.highest.is_some_and(|end| seq::lt(edge, end));
                if news.delivered > 0 && !beyond {
                    // Step 3b: what was sent before the timer expired, and not again, has arrived.
                    self.restore();
                } else if duplicate || beyond {
                    self.spurious = Spurious::Unknown;
                }
            }
        }
    }
}
