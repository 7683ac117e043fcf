//! What the RFCs say that a sender does, scene by scene.
#![allow(missing_docs)]

use weft_tcp::control::{Congestion, Control};
use weft_tcp::rtt::Granularity;
use weft_tcp::sender::{Ack, Acked, Due, Sender, Settings};

const MSS: u32 = 1000;
const US: u64 = 1000;
const MS: u64 = 1_000_000;
const RTT: u64 = 100 * US;
const WINDOW: u32 = 1 << 20;

/// A sender with SRTT = min RTT = 100 µs, and nothing under way, 100 ms from the begin.
struct Scene {
    s: Sender,
    now: u64,
}

impl Scene {
    fn with(congestion: Congestion, sack: bool) -> Self {
        Self::paced(congestion, sack, true)
    }

    fn paced(congestion: Congestion, sack: bool, pacing: bool) -> Self {
        let settings = Settings {
            granularity: Granularity {
                alone: 200 * MS,
                in_flight: 200 * MS,
            },
            rto_max: 60_000 * MS,
            peer_ack_delay: 40 * MS,
            congestion,
            pacing,
            runs: 2048,
        };
        let mut s = Sender::new(u32::MAX, &settings);
        s.sent(0, 1);
        let mut scene = Scene { s, now: RTT };
        assert_eq!(scene.ack(0, &[]), Acked::New(1));
        scene.s.establish(MSS, 10, sack, WINDOW, (0, 0));
        scene
    }

    fn new() -> Self {
        Self::with(Congestion::Reno, true)
    }

    fn say(&mut self, ack: u32, sack: &[(u32, u32)], echo: bool) -> Acked {
        self.take(ack, sack, echo, true)
    }

    /// Data of the peer with this number.
    fn data(&mut self, ack: u32) -> Acked {
        self.take(ack, &[], false, false)
    }

    fn take(&mut self, ack: u32, sack: &[(u32, u32)], echo: bool, is_pure: bool) -> Acked {
        let ack = Ack {
            seq: 0,
            ack: ack * MSS,
            window: WINDOW,
            is_pure,
            sack: &sack
                .iter()
                .map(|(l, r)| (l * MSS, r * MSS))
                .collect::<Vec<_>>(),
            echo,
            arrived: Some(self.now),
            departed: 0,
        };
        self.s.acknowledge(self.now, &ack)
    }

    /// An acknowledgment now of nothing but these bytes.
    fn beyond(&mut self, block: (u32, u32)) {
        let ack = Ack {
            seq: 0,
            ack: self.s.una,
            window: WINDOW,
            is_pure: true,
            sack: &[block],
            echo: false,
            arrived: Some(self.now),
            departed: 0,
        };
        self.s.acknowledge(self.now, &ack);
    }

    /// An acknowledgment now; numbers in segments.
    fn ack(&mut self, ack: u32, sack: &[(u32, u32)]) -> Acked {
        self.say(ack, sack, false)
    }

    /// Sends so many new segments.
    fn send(&mut self, segments: u32) {
        for _ in 0..segments {
            self.s.sent(self.now, MSS);
        }
    }

    /// Sends as many new ones as it may, up to so many; how many.
    fn send_allowed(&mut self, most: u32) -> u32 {
        let mut sent = 0;
        while sent < most {
            let (congestion, window) = self.s.allowed(self.now);
            if congestion.min(window) < MSS {
                break;
            }
            self.send(1);
            sent += 1;
        }
        sent
    }

    /// Sends again what it says; which segments.
    fn again(&mut self) -> Vec<u32> {
        let mut sent = Vec::new();
        while let Some(seq) = self.s.next_lost() {
            let segment = seq / MSS;
            self.s
                .sent_again(self.now, segment * MSS, (segment + 1) * MSS);
            sent.push(segment);
        }
        sent
    }

    /// Waits for what is due.
    fn wait(&mut self) -> Due {
        self.now = self.s.deadline().expect("a timer");
        let due = self.s.due(self.now);
        match due {
            Due::Nothing => {}
            Due::Reordering => self.s.look_again(self.now),
            Due::Probe => self.s.probe(self.now),
            Due::Timeout => self.s.timeout(self.now),
        }
        due
    }

    fn cwnd(&self) -> u32 {
        self.s.cwnd() / MSS
    }
}

// ------------------------------------------------------------------ RFC 8985 §7

#[test]
fn a_lost_tail_is_found_by_a_probe_and_not_by_the_timer() {
    let mut t = Scene::new();
    t.send(5);
    let start = t.now;
    t.now += RTT;
    t.ack(3, &[]);
    assert_eq!(t.wait(), Due::Probe);
    assert!(t.now - start < 4 * RTT, "twice SRTT");
    assert_eq!(t.again(), [0; 0], "new data first");
    assert!(t.s.no_news());
    assert_eq!(t.again(), [4], "there is none: the last one");
    assert_eq!(t.s.counts.probes, 1);
    t.now += RTT;
    t.ack(3, &[(4, 5)]);
    assert_eq!(t.again(), [3], "it went long before the probe");
    t.now += RTT;
    t.ack(5, &[]);
    assert_eq!(t.s.flight(), 0);
    assert!(t.now - start < 10 * RTT);
}

#[test]
fn a_probe_takes_new_data_where_there_is_some() {
    let mut t = Scene::new();
    t.send(10);
    assert_eq!(t.s.allowed(t.now).0, 0);
    assert_eq!(t.wait(), Due::Probe);
    assert_eq!(t.send_allowed(5), 1, "one, whatever the window says");
    assert!(!t.s.no_news());
    assert_eq!((t.again(), t.s.counts.probes), (vec![], 1));
    assert_eq!(t.s.allowed(t.now).0, 0, "one probe at a time");
}

#[test]
fn a_lone_segment_waits_for_the_peers_delayed_acknowledgment() {
    let mut t = Scene::new();
    t.send(1);
    let start = t.now;
    assert_eq!(t.wait(), Due::Probe);
    assert_eq!(t.now - start, 2 * RTT + 40 * MS);
}

#[test]
fn a_probe_that_repairs_a_loss_is_a_loss() {
    let mut t = Scene::new();
    t.send(10);
    t.now += RTT;
    t.ack(9, &[]);
    let before = t.cwnd();
    assert_eq!(t.wait(), Due::Probe);
    assert!(t.s.no_news());
    assert_eq!(t.again(), [9]);
    t.now += RTT;
    t.ack(10, &[]);
    let before = before.max(t.cwnd());
    assert_eq!(t.s.counts.recoveries, 0, "it may have been late only");
    t.send(1);
    t.now += RTT;
    t.ack(11, &[]);
    assert!(t.cwnd() < before, "no D-SACK came");
}

#[test]
fn a_probe_that_was_not_needed_changes_nothing() {
    let mut t = Scene::new();
    t.send(10);
    t.now += RTT;
    t.ack(9, &[]);
    let before = t.cwnd();
    assert_eq!(t.wait(), Due::Probe);
    t.s.no_news();
    t.again();
    t.now += 5 * US;
    t.ack(10, &[]);
    t.now += RTT;
    t.ack(10, &[(9, 10)]);
    t.send(1);
    t.now += RTT;
    t.ack(11, &[]);
    assert!(t.cwnd() >= before);
    assert_eq!(t.s.counts.recoveries, 0);
}

#[test]
fn without_sack_there_is_no_probe() {
    let mut t = Scene::with(Congestion::Reno, false);
    t.send(5);
    assert_eq!(t.wait(), Due::Timeout);
}

/// Who delays an acknowledgment sends it with data: a peer that has sent data meanwhile has not got the segment.
#[test]
fn a_lone_segment_waits_for_no_delayed_acknowledgment_of_a_peer_that_speaks() {
    let mut t = Scene::new();
    t.send(1);
    let start = t.now;
    t.now = start + RTT / 2;
    t.data(0);
    assert!(t.s.deadline() > Some(start + 40 * MS), "that left before");
    t.now = start + 3 * RTT;
    t.data(0);
    assert_eq!(t.s.deadline(), Some(t.now));
    assert_eq!(t.wait(), Due::Probe);
    assert!(t.s.no_news());
    assert_eq!(t.again(), [0]);
    t.data(0);
    assert!(t.s.deadline() > Some(t.now), "nor has it got the probe yet");
    t.now += RTT;
    t.ack(1, &[]);
    assert_eq!((t.s.flight(), t.s.deadline()), (0, None));
}

/// So many lone segments, each acknowledged after this time.
fn lone(t: &mut Scene, count: u32, time: u64) {
    for _ in 0..count {
        t.send(1);
        t.now += time;
        t.ack(t.s.nxt / MSS, &[]);
    }
}

/// How long a lone segment waits for its acknowledgment before the probe.
fn patience(t: &mut Scene) -> u64 {
    t.send(1);
    let wait = t.s.deadline().expect("a probe") - t.now;
    t.now += RTT;
    t.ack(t.s.nxt / MSS, &[]);
    wait
}

#[test]
fn a_lone_segment_waits_no_longer_than_the_peer_was_seen_to_delay() {
    let mut t = Scene::new();
    lone(&mut t, 7, RTT + 20 * US);
    t.send(1);
    assert!(t.s.deadline() > Some(t.now + 40 * MS), "too few");
    t.now += RTT;
    t.ack(8, &[]);
    let wait = patience(&mut t);
    let least = 2 * t.s.rtt.smoothed().expect("samples");
    assert!(
        wait >= least + 200 * US && wait < least + 300 * US,
        "{wait}"
    );

    // The peer delays one after all: the probe was for nothing.
    t.send(1);
    let first = t.s.nxt / MSS - 1;
    assert_eq!(probe(&mut t).0, [first]);
    t.ack(first + 1, &[(first, first + 1)]);
    assert!(patience(&mut t) > 40 * MS);
    lone(&mut t, 14, RTT);
    assert!(patience(&mut t) > 40 * MS, "twice as many are to come");
    lone(&mut t, 1, RTT);
    assert!(patience(&mut t) < MS);
    // A peer that takes longer now is given longer: the longest counts.
    lone(&mut t, 1, 10 * MS);
    assert!(patience(&mut t) > 20 * MS);
}

// ------------------------------------------------------------------ probes again, and in recovery: RFC 9002 §6.2

/// Waits for the probe and sends it where there is nothing new; what went, and how long that took.
fn probe(t: &mut Scene) -> (Vec<u32>, u64) {
    let start = t.now;
    assert_eq!(t.wait(), Due::Probe);
    t.s.no_news();
    (t.again(), t.now - start)
}

#[test]
fn a_lost_probe_is_followed_by_others_each_later() {
    let mut t = Scene::new();
    t.send(3);
    let first = probe(&mut t);
    assert_eq!(first, (vec![2], 2 * RTT));
    assert_eq!(probe(&mut t), (vec![2], 128 * RTT));
    assert_eq!(probe(&mut t), (vec![2], 256 * RTT));
    t.now += RTT;
    t.ack(0, &[(2, 3)]);
    assert_eq!(t.again(), [0, 1], "went before the probe");
    t.now += RTT;
    t.ack(3, &[]);
    assert_eq!(t.s.flight(), 0);
    // What was sent again says nothing of the round trip (Karn): the wait stands until something does.
    t.send(2);
    assert_eq!(probe(&mut t).1, 512 * RTT);
    t.now += RTT;
    t.send(1);
    t.ack(5, &[]);
    t.now += RTT;
    t.ack(6, &[]);
    // With that the probe's outcome is known; the next sample counts.
    t.send(1);
    t.now += RTT;
    t.ack(7, &[]);
    t.send(2);
    let wait = 2 * t.s.rtt.smoothed().expect("samples");
    assert_eq!(probe(&mut t).1, wait);
}

/// Others fill the queue at once: round trips are fifty times as long, and nothing is lost. Samples of what was sent before go on arriving; until
/// the copy is acknowledged as one no other goes.
#[test]
fn a_queue_that_fills_at_once_is_probed_once() {
    let mut t = Scene::new();
    t.send(8);
    assert_eq!(probe(&mut t).0, [7]);
    let mut now = t.now;
    for segment in 1..=7 {
        now += 10 * RTT;
        assert!(
            t.s.deadline().is_some_and(|at| at > now),
            "segment {segment}"
        );
        t.now = now;
        t.ack(segment, &[]);
    }
    assert_eq!(t.s.counts.probes, 1);
}

#[test]
fn probes_put_the_timer_off_once() {
    let mut t = Scene::new();
    t.send(3);
    probe(&mut t);
    let first = t.now;
    let mut probes = 1;
    while t.wait() == Due::Probe {
        t.s.no_news();
        t.again();
        probes += 1;
    }
    assert_eq!(t.now - first, 200 * MS + RTT, "RFC 8985 §7.3");
    assert!((4..8).contains(&probes), "{probes}: each later");
}

/// A round-trip time of nothing, as a clock measures it that has not gone on, is no reason to probe without end.
#[test]
fn probes_are_few_where_no_time_passes() {
    let mut t = Scene::new();
    for _ in 0..200 {
        t.send(2);
        t.ack(t.s.nxt / MSS, &[]);
    }
    assert_eq!(t.s.rtt.smoothed(), Some(0));
    t.send(3);
    let mut probes = 0;
    while t.wait() == Due::Probe {
        t.s.no_news();
        t.again();
        probes += 1;
    }
    assert!((10..20).contains(&probes), "{probes}");
}

#[test]
fn copies_of_one_probe_change_nothing() {
    let mut t = Scene::new();
    t.send(10);
    t.now += RTT;
    t.ack(9, &[]);
    let (before, recoveries) = (t.cwnd(), t.s.counts.recoveries);
    for _ in 0..3 {
        assert_eq!(probe(&mut t).0, [9]);
    }
    // The original was late, and all copies arrive.
    t.now += US;
    t.ack(10, &[]);
    for _ in 0..3 {
        t.now += US;
        t.ack(10, &[(9, 10)]);
    }
    t.send(10);
    t.now += RTT;
    t.ack(20, &[]);
    assert!(t.cwnd() >= before);
    assert_eq!((t.s.counts.recoveries, t.s.counts.undone), (recoveries, 0));
    // Nor was it reordering: the third that has arrived is enough.
    t.send(5);
    t.now += RTT;
    t.ack(20, &[(21, 24)]);
    assert_eq!(t.again(), [20]);
}

/// The retransmission is lost and nothing was sent behind it. A new segment goes, and what comes back says what is missing.
#[test]
fn a_lost_retransmission_is_found_by_new_data() {
    let mut t = Scene::new();
    t.send(10);
    t.now += RTT;
    t.ack(0, &[(1, 4)]);
    assert_eq!(t.again(), [0]);
    assert_eq!(t.send_allowed(5), 0);
    let window = t.s.controller().window().cwnd;
    let start = t.now;
    assert_eq!(t.wait(), Due::Probe);
    assert_eq!(t.again(), [0; 0]);
    assert_eq!(t.send_allowed(5), 1, "whatever the window says");
    t.now += RTT;
    t.ack(0, &[(10, 11), (1, 4)]);
    assert_eq!(t.again().first(), Some(&0));
    assert!(t.s.controller().window().cwnd < window, "RFC 5681 §4.3");
    assert!(t.now - start < 4 * RTT);
}

/// The same where there is no new data: the first that is missing goes again.
#[test]
fn a_lost_retransmission_goes_again_where_there_is_no_new_data() {
    let mut t = Scene::new();
    t.send(10);
    t.now += RTT;
    t.ack(0, &[(1, 10)]);
    assert_eq!(t.again(), [0]);
    let window = t.s.controller().window().cwnd;
    assert_eq!(probe(&mut t), (vec![0], 2 * RTT));
    assert_eq!(probe(&mut t), (vec![0], 128 * RTT));
    t.now += RTT;
    t.ack(10, &[]);
    assert_eq!(t.s.flight(), 0);
    assert!(t.s.controller().window().cwnd < window, "RFC 5681 §4.3");
}

/// The same where all that is under way would fill no segment: a peer that has something beyond the gap keeps no acknowledgment of what
/// fills it back (RFC 5681 §4.2), so nobody waits for that.
#[test]
fn a_lost_retransmission_of_a_small_flight_waits_for_no_delayed_acknowledgment() {
    let mut t = Scene::new();
    let small = MSS / 10;
    for _ in 0..5 {
        t.s.sent(t.now, small);
    }
    t.now += RTT;
    t.beyond((small, 5 * small));
    while t.wait() == Due::Reordering && !t.s.is_recovering() {}
    assert_eq!(t.s.next_lost(), Some(0));
    t.s.sent_again(t.now, 0, small);
    let start = t.now;
    assert_eq!(t.wait(), Due::Probe);
    assert_eq!(t.now - start, 2 * RTT);
}

/// A retransmission that was only late is no loss.
#[test]
fn a_probe_of_a_retransmission_that_was_not_needed_changes_nothing() {
    let mut t = Scene::new();
    t.send(10);
    t.now += RTT;
    t.ack(0, &[(1, 10)]);
    assert_eq!(t.again(), [0]);
    let window = t.s.controller().window().cwnd;
    assert_eq!(probe(&mut t).0, [0]);
    // Both arrive, and one acknowledgment is for both.
    t.now += US;
    t.ack(10, &[(0, 1)]);
    assert_eq!(t.s.controller().window().cwnd, window);
    assert_eq!(t.s.counts.undone, 0, "that was the probe's copy");
}

/// What the timer has sent again is lost as well.
#[test]
fn after_the_timer_a_probe_does_not_wait_for_the_next_one() {
    let (mut t, _) = late();
    let start = t.now;
    let smoothed = t.s.rtt.smoothed().expect("samples");
    let (again, _) = probe(&mut t);
    assert_eq!(again, [0]);
    assert!(t.now - start < t.s.rtt.timeout() && t.now - start >= 2 * smoothed);
    // F-RTO is not disturbed: two new segments tell.
    t.now += RTT;
    t.ack(1, &[]);
    assert_eq!(t.send_allowed(5), 2);
    assert_eq!(t.again(), [0; 0]);
    t.now += RTT;
    t.ack(4, &[]);
    assert_eq!(t.s.counts.undone, 1);
}

/// The two new segments of F-RTO are lost: what is missing goes again, and nothing is learnt any more.
#[test]
fn a_probe_ends_the_question_whether_the_timer_was_wrong() {
    let (mut t, _) = late();
    t.now += RTT;
    t.ack(1, &[]);
    assert_eq!(t.send_allowed(5), 2);
    assert_eq!(probe(&mut t).0.first(), Some(&1));
    t.now += RTT;
    t.ack(2, &[]);
    assert_eq!((t.s.counts.undone, t.s.is_recovering()), (0, true));
}

// ------------------------------------------------------------------ RFC 8985 §6

#[test]
fn a_lost_retransmission_is_found_without_the_timer() {
    let mut t = Scene::new();
    t.send(10);
    t.now += RTT;
    t.ack(0, &[(1, 5)]);
    assert_eq!(t.again(), [0]);
    let cwnd = t.s.controller().window().cwnd;
    assert_eq!(t.send_allowed(20), 0, "the reduction takes what arrives");
    t.now += 10 * US;
    t.ack(0, &[(1, 10)]);
    let new = t.send_allowed(20);
    assert!(new > 0);
    t.now += RTT;
    t.ack(0, &[(1, 10 + new)]);
    assert_eq!(t.again(), [0], "what was sent after it has arrived");
    // RFC 5681 §4.3: that is congestion once more.
    assert!(t.s.controller().window().cwnd < cwnd);
    t.now += RTT;
    t.ack(10 + new, &[]);
    assert_eq!(t.s.flight(), 0);
}

#[test]
fn reordering_reduces_nothing_once_it_is_known() {
    let mut t = Scene::with(Congestion::Reno, true);
    let mut base = 0;
    let mut reduced = Vec::new();
    for round in 0..12 {
        t.send(8);
        t.now += RTT;
        let before = t.s.counts.recoveries;
        // The first comes behind all others, a half of a round-trip time late.
        t.ack(base, &[(base + 1, base + 8)]);
        let again = t.again();
        while t.s.deadline().is_some_and(|at| at <= t.now + RTT / 2) {
            t.wait();
            t.again();
        }
        t.now += RTT / 2;
        base += 8;
        t.ack(base, &[]);
        if t.s.counts.recoveries > before {
            reduced.push(round);
            // What went again has arrived twice.
            t.ack(base, &[(base - 8, base - 7)]);
        }
        assert!(again.len() <= 1);
        t.now += RTT;
    }
    assert!(reduced.len() <= 4 && !reduced.contains(&11), "{reduced:?}");
    assert_eq!(t.s.counts.undone, t.s.counts.recoveries);
}

// ------------------------------------------------------------------ RFC 2883, RFC 3708

#[test]
fn a_recovery_for_nothing_is_undone() {
    let mut t = Scene::new();
    t.send(10);
    let before = t.cwnd();
    t.now += RTT;
    t.ack(0, &[(2, 6)]);
    assert_eq!(t.again(), [0]);
    t.ack(0, &[(2, 7)]);
    t.ack(0, &[(2, 8)]);
    assert_eq!(t.again(), [1]);
    assert!(t.s.is_recovering() && t.cwnd() < before);
    // Both were late only, and arrive twice.
    t.ack(8, &[]);
    t.ack(8, &[(0, 1)]);
    assert_eq!(t.s.counts.undone, 0, "one of them may have been lost");
    t.ack(8, &[(1, 2)]);
    assert_eq!(t.s.counts.undone, 1);
    assert!(!t.s.is_recovering());
    assert!(t.cwnd() >= before);
}

/// So many segments, of which the first is late: it is sent again, and the recovery ends before the late one has come.
fn recovery_for_nothing(t: &mut Scene, base: u32, segments: u32) {
    t.send(segments);
    t.now += RTT;
    t.ack(base, &[(base + 1, base + segments)]);
    while t.s.deadline().is_some_and(|at| at <= t.now + RTT) && !t.s.is_recovering() {
        t.wait();
    }
    assert_eq!(t.again(), [base]);
    t.now += RTT;
    t.ack(base + segments, &[]);
    assert!(!t.s.is_recovering());
}

#[test]
fn a_recovery_for_nothing_is_undone_when_the_next_one_has_begun() {
    let mut t = Scene::new();
    let before = t.cwnd();
    recovery_for_nothing(&mut t, 0, 10);
    assert_eq!(t.cwnd(), before / 2);
    recovery_for_nothing(&mut t, 10, 5);
    assert_eq!(t.cwnd(), before / 4);
    t.ack(15, &[(0, 1)]);
    assert_eq!((t.s.counts.undone, t.cwnd()), (1, before / 2), "one stands");
    t.ack(15, &[(10, 11)]);
    assert_eq!((t.s.counts.undone, t.cwnd()), (2, before));
}

#[test]
fn each_of_two_recoveries_is_judged_by_itself() {
    let mut t = Scene::new();
    let before = t.cwnd();
    recovery_for_nothing(&mut t, 0, 10);
    recovery_for_nothing(&mut t, 10, 5);
    assert_eq!(t.cwnd(), before / 4);
    t.ack(15, &[(10, 11)]);
    assert_eq!((t.s.counts.undone, t.cwnd()), (1, before / 2));
    t.ack(15, &[(0, 1)]);
    assert_eq!((t.s.counts.undone, t.cwnd()), (2, before));
}

#[test]
fn the_word_of_a_copy_counts_in_an_acknowledgment_that_is_late() {
    let mut t = Scene::new();
    let before = t.cwnd();
    recovery_for_nothing(&mut t, 0, 10);
    t.send(5);
    t.now += RTT;
    t.ack(12, &[]);
    let cwnd = t.cwnd();
    assert!(cwnd < before);
    assert_eq!(t.ack(10, &[(0, 1)]), Acked::Nothing, "others overtook it");
    assert_eq!(t.s.counts.undone, 1);
    assert!(t.cwnd() >= before);
}

#[test]
fn a_recovery_for_one_of_two_is_not() {
    let mut t = Scene::new();
    t.send(10);
    t.now += RTT;
    t.ack(0, &[(2, 8)]);
    while t.again().is_empty() {
        t.now += US;
    }
    t.ack(0, &[(2, 10)]);
    t.again();
    t.now += RTT;
    t.ack(10, &[]);
    t.ack(10, &[(0, 1)]);
    assert_eq!(t.s.counts.undone, 0);
    assert!(t.cwnd() <= 5);
}

// ------------------------------------------------------------------ RFC 6937

#[test]
fn a_recovery_sends_in_proportion_to_what_arrives() {
    let mut t = Scene::new();
    t.send(10);
    t.now += RTT;
    t.ack(10, &[]);
    t.send(20);
    t.now += RTT;
    let mut sent = 0;
    for n in 12..=30 {
        t.ack(10, &[(11, n)]);
        let now = t.again().len() as u32 + t.send_allowed(100);
        assert!(now <= 2, "{now} for one");
        sent += now;
        t.now += US;
    }
    // 20 under way, 10 are wanted: of 19 arrivals every second sends one.
    assert!((9..=11).contains(&sent), "{sent}");
    t.now += RTT;
    t.ack(30, &[]);
    assert_eq!(t.cwnd(), 10);
}

// ------------------------------------------------------------------ RFC 5682

/// The timer expires, for nothing: everything is late.
fn late() -> (Scene, u32) {
    let mut t = Scene::with(Congestion::Reno, true);
    t.send(10);
    let before = t.cwnd();
    while t.wait() != Due::Timeout {
        t.s.no_news();
        t.again();
    }
    assert_eq!((t.again(), t.cwnd()), (vec![0], 1));
    (t, before)
}

#[test]
fn a_timeout_for_nothing_is_undone() {
    let (mut t, before) = late();
    t.now += US;
    t.ack(2, &[]);
    assert_eq!(t.again(), [0; 0]);
    assert_eq!(t.send_allowed(5), 2, "two new ones, to see");
    t.ack(4, &[]);
    assert_eq!(t.s.counts.undone, 1);
    assert!(!t.s.is_recovering() && t.cwnd() >= before);
    assert_eq!(t.again(), [0; 0], "nothing was lost");
}

#[test]
fn a_timeout_for_a_loss_is_not() {
    let (mut t, _) = late();
    t.now += RTT;
    t.ack(1, &[]);
    assert_eq!(t.send_allowed(5), 2);
    t.now += RTT;
    // What is new arrives, what is old does not.
    t.ack(1, &[(10, 11)]);
    assert_eq!(t.s.counts.undone, 0);
    assert!(t.s.is_recovering());
    assert_eq!(t.again().first(), Some(&1));
}

#[test]
fn a_timeout_goes_on_where_nothing_new_can_be_sent() {
    let (mut t, _) = late();
    t.now += RTT;
    t.ack(1, &[]);
    assert_eq!(t.again(), [0; 0]);
    assert!(t.s.no_news());
    assert_eq!(t.again(), [1, 2]);
}

// ------------------------------------------------------------------ RFC 2018 §8, RFC 5681 §4.1, RFC 3168

#[test]
fn a_peer_that_drops_what_it_had_gets_it_again() {
    let mut t = Scene::new();
    t.send(10);
    t.now += RTT;
    t.ack(0, &[(1, 10)]);
    assert_eq!(t.again(), [0]);
    t.now += RTT;
    // The first fills the gap, but the rest has been dropped.
    t.ack(1, &[]);
    assert_eq!(t.wait(), Due::Timeout);
    assert_eq!(t.again(), [1]);
    t.now += RTT;
    t.ack(2, &[]);
    t.s.no_news();
    assert_eq!(t.again().first(), Some(&2));
}

#[test]
fn after_a_pause_the_window_is_the_first_one_again() {
    let mut t = Scene::new();
    for _ in 0..3 {
        let base = t.s.nxt / MSS;
        let sent = t.send_allowed(100);
        t.now += RTT;
        for n in 1..=sent {
            t.ack(base + n, &[]);
        }
    }
    assert!(t.cwnd() > 50);
    t.now += 100 * MS;
    assert!(t.s.allowed(t.now).0 > 50 * MSS);
    t.now += 200 * MS;
    assert_eq!(t.s.allowed(t.now).0, 10 * MSS);
}

#[test]
fn marks_halve_once_for_a_window() {
    let mut t = Scene::new();
    t.send(10);
    t.now += RTT;
    t.say(1, &[], true);
    let half = t.cwnd();
    assert!((4..=5).contains(&half), "{half}");
    assert!(t.s.take_cwr() && !t.s.take_cwr());
    for n in 2..=9 {
        t.say(n, &[], true);
    }
    assert!(t.cwnd() >= half);
    assert_eq!(t.s.counts.echoes, 1);
    t.send(4);
    t.say(10, &[], true);
    assert_eq!(t.s.counts.echoes, 1, "the segment with CWR is under way");
    t.say(11, &[], true);
    assert_eq!(t.s.counts.echoes, 2, "the next window");
    assert_eq!(t.s.counts.recoveries, 0);
}

// ------------------------------------------------------------------ pacing

/// After the first round: 20 segments in the window and none under way. The pace of slow start is two windows in 100 µs.
fn round(congestion: Congestion, pacing: bool) -> Scene {
    let mut t = Scene::paced(congestion, true, pacing);
    t.send(10);
    t.now += RTT;
    for segment in (2..=10).step_by(2) {
        t.ack(segment, &[]);
    }
    assert_eq!((t.cwnd(), t.s.flight()), (20, 0));
    t
}

#[test]
fn a_round_goes_in_bursts_at_the_controllers_pace() {
    let mut t = round(Congestion::Delay, true);
    let start = t.now;
    let mut bursts = Vec::new();
    while t.s.flight() < 20 * MSS {
        bursts.push(((t.now - start) / US, t.send_allowed(100)));
        assert_eq!(t.s.allowed(t.now).0, 0, "until the burst has left");
        if t.s.flight() < 20 * MSS {
            assert_eq!(t.wait(), Due::Nothing, "it is no loss");
        }
    }
    // An eighth of 40 segments each time, and each takes 2.5 µs.
    let wanted = [(0, 5), (12, 5), (25, 5), (37, 5)];
    assert_eq!(bursts, wanted);
    // The window is full: the clock is nothing to wait for.
    assert!(t.s.deadline() > Some(t.now + RTT), "{:?}", t.s.deadline());
}

#[test]
fn a_window_without_a_pace_goes_at_once() {
    for congestion in Congestion::ALL {
        let mut t = round(congestion, false);
        assert_eq!(t.send_allowed(100), 20, "{congestion:?}");
    }
    for congestion in [Congestion::Reno, Congestion::Cubic, Congestion::Dctcp] {
        let mut t = round(congestion, true);
        assert_eq!(t.send_allowed(100), 20, "{congestion:?} has none");
    }
}

/// The clock goes on by what is sent again, and does not hold it back; nor what is to show whether the timer expired for nothing.
#[test]
fn what_is_lost_waits_for_no_pace() {
    let mut t = round(Congestion::Delay, true);
    assert_eq!(t.send_allowed(100), 5);
    t.now += RTT / 20;
    assert_eq!(t.s.allowed(t.now).0, 0);
    t.ack(10, &[(11, 15)]);
    assert_eq!(t.again(), [10]);

    let mut t = round(Congestion::Delay, true);
    assert_eq!(t.send_allowed(100), 5);
    while t.wait() != Due::Timeout {
        t.s.no_news();
        t.again();
    }
    assert_eq!(t.again(), [10]);
    // One segment of two takes 50 µs at the pace of this window.
    t.now += RTT / 4;
    t.ack(11, &[]);
    assert_eq!(t.send_allowed(100), 2, "to see");
}

#[test]
fn the_clock_is_ahead_by_a_round_at_most() {
    let mut t = round(Congestion::Delay, true);
    // More than the window has: 250 µs.
    t.send(100);
    t.now += RTT;
    t.ack(110, &[]);
    assert!(t.send_allowed(3) > 0);
}
