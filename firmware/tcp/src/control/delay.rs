//! By delay, in the spirit of Swift and TIMELY: the window grows while the round-trip time is near the least of late, and shrinks
//! by how far it is above that. A lost packet says nothing; only many in a round do. For a network that is the host's own: against
//! flows that fill the queues it gets little, and a queue that stands for as long as the least is remembered is taken for the path.

use super::{Control, Event, Progress, Rate, Window};

const US: u64 = 1000;
/// Above half as much again as the least, what the hosts and their cards add without any queue.
const SLACK: u64 = 5 * US;
/// Of each round, so much lost is congestion: 1/8.
const LOSS: u64 = 8;
/// No round takes more than half.
const MOST: (u64, u64) = (1, 2);
/// How hard it brakes: 4/5 of the share by which the delay is too long.
const BRAKE: (u64, u64) = (4, 5);

/// Round-trip times of which the least counts (as the filter of RFC 6817 does): a queue keeps all of them waiting, a packet that is late itself alone.
const RECENT: usize = 4;

/// Bytes that no line carries in a nanosecond: 256 Gb/s.
const NO_LINE: u64 = 32;

/// A time in units of 1024 ns, modulo 2^32.
fn units(now: u64) -> u32 {
    (now >> 10) as u32
}

/// What an acknowledgment says of the path's delay.
enum Sign {
    /// Nothing against more.
    None,
    /// The next one will show.
    Open,
    /// By so much too long, of a round trip that takes so long, hosts' time and all.
    Long(u64, u64),
}

/// The controller.
#[derive(Clone, Copy, Debug, Default)]
pub struct Delay {
    window: Window,
    /// The latest round-trip times, 0: none yet; and where the next one goes.
    recent: [u32; RECENT],
    next: u8,
    /// A round-trip time beyond the target, 0: none. It counts when the next acknowledgment does not show that it waited for the peer's host.
    pending: u32,
    /// When the last acknowledgment came that told of something new.
    word_at: u64,
    /// The peer's host kept that one no longer than this: what it had before, it had let go with the one before.
    kept: u32,
    /// This host was late by so much at most, in this round and in the one before.
    late: [u32; 2],
    /// Of this round some time is known to be the path's.
    seen: bool,
    /// Of this round.
    delivered: u32,
    lost: u32,
    /// When it was reduced, in units of 1024 ns, modulo 2^32.
    reduced: u32,
}

impl Delay {
    /// The round-trip time that is aimed at.
    fn target(min_rtt: u64) -> u64 {
        min_rtt.saturating_add(min_rtt / 2).saturating_add(SLACK)
    }

    /// The least of the latest round-trip times, this one among them.
    fn filtered(&mut self, rtt: u64) -> u64 {
        let at = usize::from(self.next) % RECENT;
        self.recent[at] = u32::try_from(rtt).unwrap_or(u32::MAX);
        self.next = self.next.wrapping_add(1);
        self.recent
            .iter()
            .fold(u32::MAX, |least, rtt| least.min(*rtt))
            .into()
    }

    /// It came closer behind the one before it than what it acknowledges could follow on any line. The peer's host, or the way back, has kept
    /// them together, since the last one before them at most.
    fn is_bunched(&mut self, progress: &Progress) -> bool {
        let Some(at) = progress.arrived.filter(|_| progress.delivered > 0) else {
            return false;
        };
        let late = u32::try_from(progress.now.saturating_sub(at)).unwrap_or(u32::MAX);
        self.late[0] = self.late[0].max(late);
        let since = at.saturating_sub(core::mem::replace(&mut self.word_at, at));
        let bunched = since.saturating_mul(NO_LINE) < progress.delivered.into();
        let kept = if bunched { self.kept.into() } else { 0 };
        self.kept = u32::try_from(since.saturating_add(kept)).unwrap_or(u32::MAX);
        bunched
    }

    /// How much longer a round trip may have become by hosts alone. The peer's host may have kept this acknowledgment; and what was sent at
    /// once when such a time was over, there or here, waits for the line behind itself, no longer than that time was.
    fn by_hosts(&self) -> u32 {
        let late = self.late[0].max(self.late[1]);
        self.kept.saturating_mul(2).saturating_add(late)
    }

    /// The path's round-trip time, as far as this acknowledgment shows one. Of those that were kept together it shows what is more than
    /// hosts can have made of it.
    fn path(&mut self, progress: &Progress, target: u64) -> Sign {
        let bunched = self.is_bunched(progress);
        let Some(rtt) = progress.rtt else {
            return Sign::None;
        };
        if rtt <= target {
            (self.pending, self.seen) = (0, true);
            self.filtered(rtt);
            return Sign::None;
        }
        let latest = u32::try_from(rtt).unwrap_or(u32::MAX);
        let pending = core::mem::replace(&mut self.pending, latest);
        let (shown, by_hosts) = if bunched {
            self.pending = 0;
            let by_hosts = self.by_hosts();
            (latest.saturating_sub(by_hosts), by_hosts)
        } else if pending == 0 {
            return Sign::Open;
        } else {
            (pending, 0)
        };
        if u64::from(shown) <= target {
            return Sign::None;
        }
        self.seen = true;
        match self.filtered(shown.into()) {
            rtt if rtt > target => Sign::Long(rtt - target, rtt + u64::from(by_hosts)),
            _ => Sign::None,
        }
    }

    /// What is acknowledged was sent after the last reduction: it tells whether that was enough.
    fn is_news(&self, progress: &Progress) -> bool {
        let way = progress.rtt.unwrap_or(0);
        let sent = progress.arrived.unwrap_or(progress.now).saturating_sub(way);
        let since = units(progress.now).wrapping_sub(self.reduced);
        since > units(progress.now.saturating_sub(sent))
    }

    /// Reduces by this share.
    fn brake(&mut self, now: u64, numerator: u64, denominator: u64) {
        self.reduced = units(now);
        let less = u64::from(self.window.cwnd) * numerator / denominator.max(1);
        // Two acknowledgments: from one alone nobody could tell that it has waited.
        let least = 4 * self.window.mss;
        let cwnd = self.window.cwnd.saturating_sub(less as u32).max(least);
        self.window.set(cwnd);
        self.window.ssthresh = cwnd;
    }
}

impl Control for Delay {
    fn window(&self) -> &Window {
        &self.window
    }

    fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    fn acknowledged(&mut self, progress: &Progress) {
        self.delivered = self.delivered.saturating_add(progress.delivered);
        self.lost = self.lost.saturating_add(progress.lost);
        if progress.round {
            let lost = u64::from(self.lost);
            let all = lost + u64::from(self.delivered);
            // Of a few segments, one lost is not a share.
            let many = lost > 2 * u64::from(self.window.mss);
            // Who sees no delay goes by loss, as others do.
            let congested = many && lost * LOSS > all || !self.seen && lost > 0;
            (self.delivered, self.lost) = (0, 0);
            self.seen = false;
            self.late = [0, self.late[0]];
            if congested {
                // However little the delay has taken: a queue may be too short for it to tell.
                self.brake(progress.now, MOST.0, MOST.1);
            }
        }
        let target = Self::target(progress.min_rtt);
        match self.path(progress, target) {
            Sign::Open => {}
            Sign::Long(..) if !self.is_news(progress) => {}
            Sign::Long(over, whole) => {
                let most = whole * BRAKE.1 * MOST.0 / MOST.1;
                self.brake(progress.now, (over * BRAKE.0).min(most), whole * BRAKE.1);
            }
            _ if !progress.limited => {}
            _ if self.window.in_slow_start() => self.window.slow_start(progress.delivered),
            _ => self.window.add(progress.delivered, 1, 1),
        }
        // Nothing that is lost brings it back to slow start.
        if !self.window.in_slow_start() {
            self.window.ssthresh = self.window.cwnd;
        }
    }

    fn congestion(&mut self, event: Event, now: u64, flight: u32) {
        match event {
            Event::Loss => {}
            Event::Echo => self.brake(now, MOST.0, MOST.1),
            Event::Timeout => self.window.reduce(flight / 2, event),
        }
    }

    fn pace(&self) -> Option<Rate> {
        let known = self.recent.iter().filter(|rtt| **rtt > 0);
        let time = u64::from(*known.min()?);
        let cwnd = self.window.cwnd;
        // Faster than the window in a round-trip time: it is the window that limits.
        let bytes = match self.window.in_slow_start() {
            true => cwnd + cwnd,
            false => cwnd + cwnd / 4,
        };
        Some(Rate { bytes, time })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1000;

    fn delay(cwnd: u32) -> Delay {
        let mut delay = Delay::default();
        delay.window = Window {
            cwnd,
            ssthresh: cwnd,
            mss: MSS,
            ..delay.window
        };
        delay
    }

    fn acked(rtt: u64, lost: u32, round: bool) -> Progress {
        Progress {
            now: 1_000_000 * US,
            delivered: MSS,
            acked: MSS,
            lost,
            rtt: Some(rtt),
            min_rtt: 20 * US,
            limited: true,
            round,
            ..Progress::default()
        }
    }

    #[test]
    fn grows_below_the_target_and_brakes_above_it() {
        let mut delay = delay(100 * MSS);
        // The target is 35 µs.
        delay.acknowledged(&acked(35 * US, 0, true));
        assert_eq!(delay.window.cwnd, 100 * MSS + 10);
        // One more: the latest counts when the next has come.
        for _ in 0..RECENT {
            delay.acknowledged(&acked(50 * US, 0, false));
            assert!(delay.window.cwnd > 100 * MSS, "not all of them are late");
        }
        let cwnd = delay.window.cwnd;
        delay.acknowledged(&acked(50 * US, 0, false));
        // 0.8 * 15/50 = 0.24
        let braked = cwnd - cwnd * 24 / 100;
        assert_eq!(delay.window.cwnd, braked);
        delay.acknowledged(&acked(50 * US, 0, false));
        assert_eq!(delay.window.cwnd, braked, "sent before that");
        delay.recent.fill(10_000_000);
        delay.pending = 10_000_000;
        delay.acknowledged(&Progress {
            now: 1_011_000 * US,
            ..acked(10_000 * US, 0, true)
        });
        assert_eq!(delay.window.cwnd, braked - braked / 2, "by half at most");
    }

    /// Acknowledgments in bunches of 20, so far apart, that are handled so late; each says this round-trip time.
    fn bunches(delay: &mut Delay, apart: u64, late: u64, rtt: u64) {
        for n in 0..200 {
            let at = 10_000_000 * US + n / 20 * apart + n % 20 * 8;
            delay.acknowledged(&Progress {
                now: at + late,
                arrived: Some(at),
                ..acked(rtt, 0, n % 20 == 0)
            });
        }
    }

    /// Acknowledgments that have waited together for the peer's host tell of that wait, and not of the path.
    #[test]
    fn what_has_waited_together_is_no_delay_of_the_path() {
        for apart in [3_000 * US, 5_000_000 * US] {
            let mut delay = delay(100 * MSS);
            delay.window.ssthresh = 100 * MSS;
            bunches(&mut delay, apart, 0, apart + 20 * US);
            assert!(delay.window.cwnd > 100 * MSS, "{}", delay.window.cwnd);
            // Nor does it say that there is none: who sees no delay goes by loss.
            let cwnd = delay.window.cwnd;
            delay.acknowledged(&Progress {
                arrived: Some(delay.word_at),
                ..acked(3_000 * US, MSS, true)
            });
            assert!(
                delay.window.cwnd < cwnd - cwnd / 2 + MSS,
                "{}",
                delay.window.cwnd
            );
        }
    }

    /// They have not waited longer than since the ones before them: more than that is the path's, in slow start as well.
    #[test]
    fn who_looks_often_hides_no_queue() {
        for ssthresh in [100 * MSS, u32::MAX] {
            let mut delay = delay(100 * MSS);
            delay.window.ssthresh = ssthresh;
            bunches(&mut delay, 2 * US, 0, 200 * US);
            // By half, once it is known how often it looks.
            assert!(delay.window.cwnd <= 65 * MSS, "{}", delay.window.cwnd);
        }
    }

    /// What goes out at once behind a time in which a host did not look waits for the line behind itself.
    #[test]
    fn a_burst_of_its_own_is_no_queue() {
        for (apart, late, rtt) in [(2 * US, 100 * US, 130 * US), (100 * US, 0, 230 * US)] {
            let mut delay = delay(100 * MSS);
            bunches(&mut delay, apart, late, rtt);
            assert!(delay.window.cwnd > 100 * MSS, "{}", delay.window.cwnd);
        }
    }

    #[test]
    fn no_connection_is_larger_for_it() {
        use core::mem::size_of;
        assert!(size_of::<Delay>() <= size_of::<crate::control::Cubic>());
    }

    #[test]
    fn a_loss_says_nothing_but_many_do() {
        let mut delay = delay(100 * MSS);
        delay.congestion(Event::Loss, 0, 100 * MSS);
        assert_eq!(delay.window.cwnd, 100 * MSS);
        for n in 1..=100 {
            delay.acknowledged(&acked(20 * US, if n % 20 == 0 { MSS } else { 0 }, n == 100));
        }
        let cwnd = delay.window.cwnd;
        assert!(cwnd > 100 * MSS, "{cwnd}: one of twenty");
        for n in 1..=100 {
            delay.acknowledged(&acked(20 * US, if n % 4 == 0 { MSS } else { 0 }, n == 100));
        }
        assert!(delay.window.cwnd < cwnd * 6 / 10, "one of four");
    }

    /// Where the queue has no room for what the target allows, the delay takes little, and the losses half.
    #[test]
    fn many_lost_halve_what_the_delay_has_spared() {
        let mut delay = delay(100 * MSS);
        delay.recent.fill(36_000);
        for n in 0..100 {
            delay.acknowledged(&acked(36 * US, if n % 4 == 0 { MSS } else { 0 }, false));
        }
        let cwnd = delay.window.cwnd;
        assert!((97 * MSS..98 * MSS).contains(&cwnd), "{cwnd}: 0.8 / 36");
        delay.acknowledged(&acked(36 * US, 0, true));
        assert_eq!(delay.window.cwnd, cwnd - cwnd / 2);
    }

    #[test]
    fn the_pace_is_faster_than_the_window() {
        let mut delay = delay(100 * MSS);
        assert_eq!(delay.pace(), None, "nothing is measured");
        for rtt in [50, 40, 60] {
            delay.acknowledged(&acked(rtt * US, 0, false));
        }
        delay.window.cwnd = 100 * MSS;
        delay.window.ssthresh = 100 * MSS;
        let time = 40 * US;
        let pace = |bytes| Some(Rate { bytes, time });
        assert_eq!(delay.pace(), pace(125 * MSS));
        delay.window.ssthresh = u32::MAX;
        assert_eq!(delay.pace(), pace(200 * MSS));
    }
}
