use alloc::format;

use super::*;

const MSS: u32 = 1000;

const SETTINGS: Settings = Settings {
    granularity: Granularity {
        alone: 1_000_000,
        in_flight: 1_000_000,
    },
    rto_max: 60_000_000_000,
    peer_ack_delay: 40_000_000,
    congestion: Congestion::Reno,
    pacing: true,
    runs: 2048,
};

fn new(iss: u32) -> Sender {
    Sender::new(iss, &SETTINGS)
}

fn sender(sack: bool) -> Sender {
    let mut s = new(0);
    s.establish(MSS, 10, sack, 1 << 20, (0, 0));
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
            echo: false,
            arrived: Some(100),
            departed: 0,
        },
    )
}

#[test]
fn slow_start_opens_the_window() {
    let mut s = sender(true);
    assert_eq!(s.allowed(0).0, 0);
    assert_eq!(ack(&mut s, 2 * MSS, &[]), Acked::New(2 * MSS));
    assert_eq!(s.cwnd(), 12 * MSS);
    assert_eq!(s.allowed(0).0, 4 * MSS);
    assert_eq!(ack(&mut s, 50 * MSS, &[]), Acked::Unacceptable);
    assert_eq!(ack(&mut s, MSS, &[]), Acked::Nothing);
}

/// The peer may delay the acknowledgment of one segment, and not of two.
#[test]
fn the_timer_is_short_with_two_segments_under_way() {
    const MS: u64 = 1_000_000;
    let granularity = Granularity {
        alone: 200 * MS,
        in_flight: MS,
    };
    let mut s = Sender::new(
        0,
        &Settings {
            granularity,
            ..SETTINGS
        },
    );
    s.establish(MSS, 10, false, 1 << 20, (0, 0));
    s.sent(0, MSS);
    assert_eq!(s.deadline(), Some(1000 * MS), "nothing is measured yet");
    ack(&mut s, MSS, &[]);
    s.sent(200, MSS);
    assert_eq!(s.deadline(), Some(200 + 100 + 200 * MS));
    s.sent(300, MSS);
    assert_eq!(s.deadline(), Some(300 + 100 + MS), "from the second on");
    s.sent(400, MSS);
    assert_eq!(s.deadline(), Some(300 + 100 + MS), "which began");
    ack(&mut s, 3 * MSS, &[]);
    assert!(s.deadline() > Some(200 * MS), "one is left");
}

/// A peer that has something beyond a gap keeps nothing back: the timer is short for what fills it, however little that is.
#[test]
fn the_timer_is_short_where_the_peer_has_something_beyond_a_gap() {
    const MS: u64 = 1_000_000;
    let granularity = Granularity {
        alone: 200 * MS,
        in_flight: MS,
    };
    for sack in [true, false] {
        let mut s = Sender::new(
            0,
            &Settings {
                granularity,
                ..SETTINGS
            },
        );
        s.establish(MSS, 10, sack, 1 << 20, (0, 0));
        s.sent(0, MSS);
        ack(&mut s, MSS, &[]);
        for _ in 0..5 {
            s.sent(90, MSS / 5);
        }
        assert!(s.rto_at > 200 * MS, "the peer may keep it back");
        let block = (MSS + MSS / 5, 2 * MSS);
        for _ in 0..3 {
            let block = [block];
            ack(&mut s, MSS, if sack { &block } else { &[] });
        }
        s.look_again(200);
        assert_eq!(s.next_lost(), Some(MSS), "SACK: {sack}");
        s.sent_again(200, MSS, MSS + MSS / 5);
        assert!(s.rto_at < 2 * MS, "SACK: {sack}");
        // With that the gap is filled: of what is sent now it may.
        ack(&mut s, 2 * MSS, &[]);
        s.sent(300, MSS / 5);
        assert!(s.rto_at > 200 * MS);
    }
}

#[test]
fn three_duplicates_without_sack() {
    let mut s = sender(false);
    for _ in 0..2 {
        ack(&mut s, 0, &[]);
        assert_eq!(s.next_lost(), None);
    }
    ack(&mut s, 0, &[]);
    assert_eq!(s.next_lost(), Some(0));
    s.sent_again(100, 0, MSS);
    assert_eq!(s.next_lost(), None);
    // A partial acknowledgment shows the next hole.
    ack(&mut s, 4 * MSS, &[]);
    assert_eq!(s.next_lost(), Some(4 * MSS));
    s.sent_again(100, 4 * MSS, 5 * MSS);
    ack(&mut s, 10 * MSS, &[]);
    assert_eq!(s.next_lost(), None);
    assert_eq!(s.flight(), 0);
    assert_eq!(s.deadline(), None);
}

#[test]
fn sack_finds_each_hole_once() {
    let mut s = sender(true);
    ack(&mut s, 0, &[(MSS, 2 * MSS)]);
    assert_eq!(s.next_lost(), None);
    ack(&mut s, 0, &[(3 * MSS, 8 * MSS), (MSS, 2 * MSS)]);
    assert_eq!(s.next_lost(), Some(0));
    s.sent_again(100, 0, MSS);
    assert_eq!(s.next_lost(), Some(2 * MSS));
    s.sent_again(100, 2 * MSS, 3 * MSS);
    // 8000 and above is not known to be lost.
    assert_eq!(s.next_lost(), None);
}

#[test]
fn a_timeout_starts_over_and_backs_off() {
    let mut s = sender(true);
    let first = s.deadline().unwrap();
    assert_eq!(
        (s.due(first - 1), s.due(first)),
        (Due::Nothing, Due::Timeout)
    );
    s.timeout(first);
    assert_eq!(s.cwnd(), MSS);
    assert_eq!(s.next_lost(), Some(0));
    s.sent_again(first, 0, MSS);
    assert_eq!(s.next_lost(), None);
    assert!(s.deadline().unwrap() - first > first);
    ack(&mut s, MSS, &[]);
    // F-RTO waits for what new data tells; there is none.
    assert_eq!(s.next_lost(), None);
    assert!(s.no_news());
    assert_eq!(s.next_lost(), Some(MSS));
    s.sent_again(first, MSS, 2 * MSS);
    assert_eq!(s.next_lost(), Some(2 * MSS));
}

#[test]
fn the_peers_window_limits() {
    let mut s = sender(true);
    s.acknowledge(
        1,
        &Ack {
            seq: 1,
            ack: 10 * MSS,
            window: 500,
            is_pure: true,
            sack: &[],
            echo: false,
            arrived: Some(1),
            departed: 0,
        },
    );
    assert_eq!(s.allowed(1).1, 500);
}

#[test]
fn a_window_is_newer_across_the_wrap() {
    let mut s = new(0);
    s.establish(MSS, 10, true, 1 << 20, (u32::MAX - 5, 0));
    let later = Ack {
        seq: 3,
        ack: 0,
        window: 700,
        is_pure: false,
        sack: &[],
        echo: false,
        arrived: Some(1),
        departed: 0,
    };
    s.acknowledge(1, &later);
    assert_eq!(s.allowed(1).1, 700);
    let older = Ack {
        seq: u32::MAX - 1,
        window: 900,
        ..later
    };
    s.acknowledge(2, &older);
    assert_eq!(s.allowed(2).1, 700);
}

/// Numbers by a seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(limit.max(1))) as u32
    }
}

/// What is due, what is lost, and something new: the same of all of them.
fn work(senders: &mut [Sender; 2], now: u64, new: u32) {
    for s in senders {
        match s.due(now) {
            Due::Nothing => {}
            Due::Reordering => s.look_again(now),
            Due::Probe => s.probe(now),
            Due::Timeout => s.timeout(now),
        }
        while let Some(seq) = s.next_lost() {
            let left = s.nxt.wrapping_sub(seq);
            s.sent_again(now, seq, seq.wrapping_add(left.min(MSS)));
        }
        let (congestion, window) = s.allowed(now);
        let length = new.min(congestion).min(window);
        if length > 0 {
            s.sent(now, length);
        } else {
            s.no_news();
        }
    }
}

/// [`Sender::advance`] takes the usual acknowledgment as [`Sender::acknowledge`] does, and no other one: what a sender knows afterwards is
/// the same to the last field.
#[test]
fn the_usual_acknowledgment_does_what_each_does() {
    let mut usual = 0;
    for seed in 0..200u64 {
        let mut random = Numbers(seed);
        let iss = random.below(u32::MAX);
        let settings = Settings {
            congestion: Congestion::ALL[seed as usize % 4],
            ..SETTINGS
        };
        let mut senders = [0, 1].map(|_| {
            let mut s = Sender::new(iss, &settings);
            s.establish(MSS, 10, seed % 5 > 0, 40 * MSS, (0, iss));
            s
        });
        let mut now = 0;
        for _ in 0..300 {
            // Some things happen at the same time.
            now += u64::from(random.below(4) * random.below(400_000));
            let new = random.below(6 * MSS);
            work(&mut senders, now, new);
            let flight = senders[0].flight();
            let number = match random.below(8) {
                0 => senders[0].una,
                1 => senders[0].nxt,
                2 => senders[0].una.wrapping_sub(random.below(MSS)),
                3 => senders[0].nxt.wrapping_add(random.below(2)),
                _ => senders[0].una.wrapping_add(random.below(flight)),
            };
            let beyond = senders[0].nxt.wrapping_sub(number);
            let left = number.wrapping_add(random.below(beyond));
            let right = left.wrapping_add(random.below(senders[0].nxt.wrapping_sub(left)) + 1);
            let blocks = [(left, right)];
            let sacks = random.below(12) == 0;
            let ack = Ack {
                seq: random.below(3),
                ack: number,
                window: (10 + random.below(30)) * MSS,
                is_pure: random.below(4) > 0,
                sack: if sacks { &blocks } else { &[] },
                echo: random.below(40) == 0,
                arrived: (random.below(20) > 0)
                    .then(|| now.saturating_sub(random.below(30).into())),
                departed: u64::from(random.below(2)) * now.saturating_sub(random.below(60).into()),
            };
            let [a, b] = &mut senders;
            if a.advance(now, &ack) {
                usual += 1;
                let newly = number.wrapping_sub(b.una);
                assert_eq!(b.acknowledge(now, &ack), Acked::New(newly), "seed {seed}");
            } else {
                let answer = b.acknowledge(now, &ack);
                assert_eq!(a.acknowledge(now, &ack), answer, "seed {seed}");
            }
            assert_eq!(format!("{a:?}"), format!("{b:?}"), "seed {seed}");
        }
    }
    assert!(usual > 3000, "{usual}");
}

/// A state from a stack with larger segments than this side's way has: all that counts segments counts this side's.
#[test]
fn a_sender_taken_over_counts_its_own_segments() {
    use crate::handover::Handover;
    let state = Handover {
        snd_wnd: 1 << 20,
        mss: 8960,
        sack: true,
        ..Handover::default()
    };
    for (most, mss) in [(1460, 1460), (9000, 8960)] {
        let mut s = Sender::take_over(&state, most, 10, &SETTINGS);
        let window = *s.controller().window();
        assert_eq!((s.mss, window.mss, s.cwnd()), (mss, mss, 10 * mss));
        s.sent(0, 10 * mss);
        s.acknowledge(
            100,
            &Ack {
                seq: 0,
                ack: 10 * mss,
                window: 1 << 20,
                is_pure: true,
                sack: &[],
                echo: false,
                arrived: Some(100),
                departed: 0,
            },
        );
        assert_eq!(s.cwnd(), 12 * mss, "two of its segments at most");
    }
}

fn word(number: u32, sack: &[(u32, u32)], arrived: Option<u64>) -> Ack<'_> {
    Ack {
        seq: 0,
        ack: number,
        window: 1 << 20,
        is_pure: true,
        sack,
        echo: false,
        arrived,
        departed: 0,
    }
}

/// Round-trip times end when the word came, however late it is handled; where nobody knows when, there is none.
#[test]
fn a_host_that_was_away_is_no_part_of_the_path() {
    let mut s = sender(true);
    s.acknowledge(3_000_000, &word(MSS, &[], Some(100)));
    assert_eq!(s.rtt.smoothed(), Some(100));
    s.acknowledge(9_000_000, &word(2 * MSS, &[], None));
    assert_eq!((s.rtt.smoothed(), s.rtt.least()), (Some(100), 100));
    assert!(!s.advance(9_000_000, &word(3 * MSS, &[], None)));
    assert_eq!((s.rtt.smoothed(), s.rtt.least()), (Some(100), 100));
}

/// What left the card later than it was posted was not on its way before.
#[test]
fn a_round_trip_begins_when_the_card_sent_it() {
    let mut s = sender(true);
    let late = Ack {
        departed: 900,
        ..word(MSS, &[], Some(1000))
    };
    assert!(s.advance(2_000, &late));
    assert_eq!(s.rtt.least(), 100);
}

/// Two words of which the second says that nothing is missing: a host that handles both late finds no more lost than one that was there.
#[test]
fn what_came_in_time_is_not_lost_because_its_host_was_late() {
    for late in [0, 3_000_000] {
        let mut s = new(0);
        s.establish(MSS, 10, true, 1 << 20, (0, 0));
        for n in 0..4 {
            s.sent(n * 10, MSS);
        }
        s.acknowledge(1000 + late, &word(MSS, &[], Some(1000)));
        // The third has overtaken the second.
        s.acknowledge(1021 + late, &word(MSS, &[(2 * MSS, 3 * MSS)], Some(1021)));
        assert_eq!(s.board.lost(), 0, "{late}");
        s.acknowledge(1030 + late, &word(3 * MSS, &[], Some(1030)));
        assert_eq!((s.phase, s.board.lost()), (Phase::None, 0), "{late}");
    }
}
