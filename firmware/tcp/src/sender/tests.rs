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
