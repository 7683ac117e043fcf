//! Receive at the pace of a 100 Gb/s wire, with 512 bits at 250 MHz: acknowledgments between data, Sends of many flows in turn.

use crate::flows;

use flows::Flows;
use weft_layout::{report_kind, Counter};
use weft_sim::bench::Rings;
use weft_sim::card::CYCLE_NS;
use weft_sim::kind::CardKind;
#[cfg(rtl)]
use weft_sim::rtl::{Rtl512, Surroundings};

/// What a run took.
#[derive(Debug)]
struct Pace {
    /// Cycles a frame, in the middle half of the run.
    each: f64,
    /// Cycles that the wire takes for a frame.
    wire: f64,
    dropped: u32,
}

/// How frames come.
#[derive(Clone, Copy, PartialEq)]
enum Source {
    /// At the pace of the wire, whatever becomes of them.
    Wire,
    /// At most so many on their way.
    Window(usize),
}

/// Cycles of a frame on a wire of 100 Gb/s: with preamble, check sequence and gap, and no shorter than Ethernet has it.
fn wire_cycles(frame: &[u8]) -> f64 {
    (frame.len().max(60) + 24) as f64 * 8.0 / 100.0 / CYCLE_NS as f64
}

/// Delivers `count` frames and waits for their segments' reports.
fn run(
    s: &mut Flows,
    source: Source,
    count: usize,
    mut frame: impl FnMut(&mut Flows, usize) -> Vec<u8>,
) -> Pace {
    let (mut fed, mut done, mut marks) = (0, 0, Vec::new());
    let begin = s.bench.world.now() / CYCLE_NS;
    let (mut due, mut wire, mut idle) = (0.0, 0.0, 0);
    while done < count && idle < 5000 {
        let now = (s.bench.world.now() / CYCLE_NS - begin) as f64;
        while fed < count
            && match source {
                Source::Wire => due <= now,
                Source::Window(most) => fed - done < most,
            }
        {
            let frame = frame(s, fed);
            due += wire_cycles(&frame);
            wire += wire_cycles(&frame);
            s.deliver(frame);
            fed += 1;
        }
        s.bench.world.run_cycles(4).expect("a card");
        let before = done;
        for (report, _) in s.bench.reports() {
            done += usize::from(report[0] == report_kind::SEGMENT);
        }
        idle = if done == before { idle + 4 } else { 0 };
        marks.push((done, s.bench.world.now() / CYCLE_NS));
    }
    let at = |part: usize| {
        let mark = marks.iter().find(|m| m.0 >= part * done / 4);
        *mark.expect("a part of what was done")
    };
    let ((a, from), (b, to)) = (at(1), at(3));
    Pace {
        each: (to - from) as f64 / (b - a).max(1) as f64,
        wire: wire / count as f64,
        dropped: [Counter::RxDropBufferFull, Counter::RxDropNoRawSlot]
            .map(|c| s.bench.counter(c).expect("a card"))
            .iter()
            .sum(),
    }
}

fn rings() -> Rings {
    Rings {
        report: 12,
        ..Rings::default()
    }
}

/// Writes of so many bytes, each `every`th frame a bare acknowledgment of the same flow.
fn writes_with_acks(kind: CardKind, source: Source, bytes: usize, every: usize) -> Pace {
    let mut s = Flows::new(kind.build(1, 0), 1, rings());
    run(&mut s, source, 600, |s, n| {
        let flow = &mut s.flows[0];
        if n % every == every - 1 {
            return flow.frame(flow.seq, &[]);
        }
        let to = (n * bytes % (flows::MEMORY - bytes)) as u64;
        let ulpdu = flow.write(to, &vec![n as u8; bytes]);
        flow.segment(&[ulpdu])
    })
}

/// Acknowledgments between data cost what they take on the wire, and nothing is dropped.
#[test]
fn acknowledgments_do_not_drain_the_walk() {
    if CardKind::widest() != CardKind::Rtl512 {
        return;
    }
    for (bytes, every) in [(1440, 3), (1440, 2), (512, 3), (512, 2)] {
        let pace = writes_with_acks(CardKind::Rtl512, Source::Wire, bytes, every);
        println!("{bytes}-byte Writes, every {every}th frame an acknowledgment: {pace:.1?}");
        assert_eq!(pace.dropped, 0, "{bytes} bytes, every {every}th: {pace:?}");
        assert!(
            pace.each < pace.wire * 1.02,
            "{bytes} bytes, every {every}th: {pace:?}"
        );
    }
    let pace = writes_with_acks(CardKind::Rtl512, Source::Window(64), 64, 2);
    println!("64-byte Writes, every 2nd frame an acknowledgment: {pace:.1?}");
    assert!(pace.each * 2.0 < 6.3, "{pace:?}");
}

/// Cycles for a Send of 64 bytes of so many flows in turn, with reads of host memory that take so many cycles.
#[cfg(rtl)]
fn sends_in_turn(count: usize, latency: u32) -> Pace {
    let around = Surroundings {
        memory: rtl_sim::axi::Timing::latency(latency),
        ..Surroundings::default()
    };
    let card = Box::new(Rtl512::new(rtl_sim::Seed(1), around));
    let mut s = Flows::new(card, count as u16, rings());
    // Which flows read far ahead is found out first.
    let sends = (4 * count).max(1200);
    run(&mut s, Source::Window(64), sends, |s, n| {
        let flow = &mut s.flows[n % count];
        let ulpdu = flow.send(&[n as u8; 64]);
        flow.segment(&[ulpdu])
    })
}

/// A receive element of any flow is on the card before it is wanted.
#[cfg(rtl)]
#[test]
fn sends_of_many_flows_cost_what_those_of_few_do() {
    for latency in [100, 250] {
        for count in [1, 8, 9, 12, 16, 64, 255] {
            let pace = sends_in_turn(count, latency);
            println!("{count} flows in turn, reads of {latency} cycles: {pace:.1?}");
            assert!(
                pace.each < 10.1,
                "{count} flows, reads of {latency} cycles: {pace:?}"
            );
        }
    }
}
