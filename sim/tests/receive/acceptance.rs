//! The table "Rule of acceptance" of docs/card.md.

use weft_layout::{reg, report_kind, table, AttachRow, Counter, FlowRxRow, SegmentReport};
use weft_sim::model::ethernet::{self, flag};
use weft_sim::model::mpa;

use super::setup::{each, write, ATTACHED, EPOCH, FLOW, PLAIN, SEQ, TIMED};

fn send(byte: u8) -> Vec<u8> {
    let mut u = vec![0x41, 0x43, 0, 0, 0, 0];
    for word in [0u32, 1, 0] {
        u.extend_from_slice(&word.to_be_bytes());
    }
    u.extend_from_slice(&[byte; 40]);
    mpa::frame(SEQ, None, true, &u)
}

/// The engine takes what comes with IP options; the card must not take the same bytes once more.
#[test]
fn a_segment_with_ip_options_is_the_engines_and_no_byte_is_placed_twice() {
    for options in [4, 20, 40] {
        each(PLAIN, ATTACHED, |s| {
            let frame = s.segment(SEQ, flag::ACK, None, &send(b'A'));
            // Options that would be impossible as TCP options.
            let frame = ethernet::with_ip_options(&frame, &[1; 40][..options]);
            let heard = s.hear(&frame);
            assert_eq!(heard.outcome(), (true, false, 0, 0));
            assert_eq!(heard.raw.as_deref(), Some(&frame[..]));
            let r = heard.segment;
            assert_eq!((r.seq, r.payload_len, r.tcp_flags), (SEQ, 64, flag::ACK));
            let heard = s.data(SEQ, &send(b'B'));
            assert_eq!(heard.outcome(), (true, false, 0, 0));
            assert_eq!(s.memory.read(0, 40).unwrap(), [0; 40]);
            assert_eq!(s.bench.counter(Counter::RxDetachGap).unwrap(), 1);
        });
    }
}

#[test]
fn a_bare_segment_with_ip_options_comes_whole() {
    each(PLAIN, ATTACHED, |s| {
        let bare = s.segment(SEQ, flag::ACK, Some(5), &[]);
        let frame = ethernet::with_ip_options(&bare, &[1, 1, 1, 0]);
        let heard = s.hear(&frame);
        assert_eq!(heard.outcome(), (true, true, 0, 0));
        // Its TCP options are the engine's to read.
        assert_eq!(
            (heard.segment.flags, heard.segment.ts_val),
            (SegmentReport::RAW | SegmentReport::ATTACHED, 0)
        );
        assert_eq!(heard.raw.as_deref(), Some(&frame[..]));
        // One wrong bit behind the options.
        let mut bad = frame.clone();
        bad[14 + 24 + 7] ^= 1;
        assert!(s.inject(&bad).is_empty());
        assert_eq!(s.bench.counter(Counter::RxDropTcpChecksum).unwrap(), 1);
    });
}

#[test]
fn fragments_and_tcp_to_others_are_plain_frames() {
    each(PLAIN, ATTACHED, |s| {
        let good = s.segment(SEQ, flag::ACK, None, &write(100));
        let mut fragment = good.clone();
        fragment[14 + 6] = 0x20;
        ethernet::fill_checksums(&mut fragment);
        let mut group = good.clone();
        group[..6].copy_from_slice(&[0x01, 0, 0x5e, 0, 0, 1]);
        let mut foreign = good.clone();
        foreign[5] ^= 0x40;
        s.bench.write(
            reg::MAC_HI,
            1 << 31 | u32::from(weft_sim::bench::STATION[5]) << 8,
        );
        for frame in [fragment, group, foreign] {
            let reports = s.inject(&frame);
            assert_eq!(reports.len(), 1);
            assert_eq!(
                (reports[0].0[0], reports[0].1.as_ref()),
                (report_kind::FRAME, Some(&frame))
            );
        }
        let position = s.position();
        assert_eq!((position.attached, position.raw_seen), (1, 0));
        assert_eq!(s.hear(&good).segment.flags, SegmentReport::ATTACHED);
    });
}

#[test]
fn payload_with_syn_or_rst_is_nobodys() {
    for odd in [flag::SYN, flag::RST, flag::SYN | flag::RST] {
        each(PLAIN, ATTACHED, |s| {
            for flags in [odd, odd | flag::ACK] {
                let frame = s.segment(SEQ, flags, None, &write(20));
                let heard = s.hear(&frame);
                assert_eq!(heard.outcome(), (true, true, 0, 0));
                assert_eq!(heard.raw.as_deref(), Some(&frame[..]));
            }
            assert_eq!(
                s.data(SEQ, &write(20)).segment.flags,
                SegmentReport::ATTACHED
            );
        });
    }
}

#[test]
fn payload_without_ack_is_refused() {
    each(PLAIN, ATTACHED, |s| {
        for attached in [true, false] {
            if !attached {
                s.attach(&AttachRow {
                    attached: 0,
                    ..ATTACHED
                });
            }
            for flags in [0, flag::PSH | flag::FIN] {
                let frame = s.segment(SEQ, flags, None, &write(20));
                assert_eq!(s.hear(&frame).outcome(), (false, attached, 1, 0));
            }
        }
        assert_eq!(s.bench.counter(Counter::RxRefusedAck).unwrap(), 4);
        s.attach(&ATTACHED);
        assert_eq!(
            s.data(SEQ, &write(20)).segment.flags,
            SegmentReport::ATTACHED
        );
    });
}

/// RFC 7323 §5.3: a number from before the wrap is not taken for one of now.
#[test]
fn a_segment_older_than_ts_recent_is_refused() {
    let attach = AttachRow {
        attached: AttachRow::ATTACHED | AttachRow::TS_RECENT_VALID,
        ts_recent: 3,
        ..ATTACHED
    };
    each(TIMED, attach, |s| {
        let len = write(20).len() as u32;
        // In sequence, behind a gap, old: PAWS comes first.
        for (seq, ts) in [
            (SEQ, 2),
            (SEQ.wrapping_add(400), u32::MAX),
            (SEQ.wrapping_sub(len), 0x8000_0003),
        ] {
            let frame = s.segment(seq, flag::ACK, Some(ts), &write(20));
            assert_eq!(s.hear(&frame).outcome(), (false, true, 3, 0), "TSval {ts}");
        }
        let frame = s.segment(SEQ, flag::ACK, None, &write(20));
        assert_eq!(s.hear(&frame).outcome(), (false, true, 4, 0));
        // Duplicates, ACKs and refused segments leave TS.Recent alone.
        let old = s.segment(SEQ.wrapping_sub(len), flag::ACK, Some(100), &write(20));
        assert_eq!(
            s.hear(&old).segment.flags,
            SegmentReport::TIMESTAMPS | SegmentReport::ATTACHED | SegmentReport::DUPLICATE
        );
        assert_eq!(s.position().ts_recent, 3);
        let mut seq = SEQ;
        for ts in [3, 4, 0x8000_0003, 0x8000_0002u32.wrapping_add(0x8000_0000)] {
            let frame = s.segment(seq, flag::ACK, Some(ts), &write(20));
            assert_eq!(
                s.hear(&frame).outcome(),
                (false, true, 0, len as u16),
                "TSval {ts}"
            );
            seq = seq.wrapping_add(len);
            let position = s.position();
            assert_eq!((position.ts_recent, position.rcv_nxt), (ts, seq));
            assert_eq!(position.attached, 3);
        }
        assert_eq!(s.bench.counter(Counter::RxRefusedPaws).unwrap(), 3);
        assert_eq!(s.bench.counter(Counter::RxRefusedNoTimestamp).unwrap(), 1);
    });
}

/// A flow that has heard no TSval yet takes any, and has it as TS.Recent then.
#[test]
fn the_first_timestamp_may_be_any() {
    let attach = AttachRow {
        ts_recent: 3,
        ..ATTACHED
    };
    for ts in [2, 0x8000_0003, u32::MAX] {
        each(TIMED, attach, |s| {
            let frame = s.segment(SEQ, flag::ACK, Some(ts), &write(20));
            let heard = s.hear(&frame);
            assert_eq!(heard.outcome(), (false, true, 0, 40), "TSval {ts}");
            let position = s.position();
            assert_eq!((position.ts_recent, position.attached), (ts, 3));
        });
    }
}

/// Timestamps behind IP options are not read, so they are not judged here.
#[test]
fn timestamps_behind_ip_options_are_the_engines() {
    let attach = AttachRow {
        attached: AttachRow::ATTACHED | AttachRow::TS_RECENT_VALID,
        ts_recent: 3,
        ..ATTACHED
    };
    each(TIMED, attach, |s| {
        let frame = s.segment(SEQ, flag::ACK, Some(2), &write(20));
        let frame = ethernet::with_ip_options(&frame, &[1; 4]);
        assert_eq!(s.hear(&frame).outcome(), (true, false, 0, 0));
    });
}

/// A flow without timestamps is indifferent to them.
#[test]
fn timestamps_that_were_not_agreed_are_not_judged() {
    let attach = AttachRow {
        attached: AttachRow::ATTACHED | AttachRow::TS_RECENT_VALID,
        ts_recent: 3,
        ..ATTACHED
    };
    each(PLAIN, attach, |s| {
        let frame = s.segment(SEQ, flag::ACK, Some(2), &write(20));
        assert_eq!(
            s.hear(&frame).segment.flags,
            SegmentReport::TIMESTAMPS | SegmentReport::ATTACHED
        );
        assert_eq!(s.position().ts_recent, 3);
    });
}

/// A spoofer has to hit the window.
#[test]
fn data_outside_the_window_does_not_detach() {
    let len = write(100).len() as u32;
    for window in [len, 1000, 0x3fff_ffff] {
        let attach = AttachRow { window, ..ATTACHED };
        each(PLAIN, attach, |s| {
            let stream = write(100);
            let right = SEQ.wrapping_add(window).wrapping_sub(len);
            for seq in [right.wrapping_add(1), SEQ.wrapping_add(0x7fff_ff00)] {
                assert_eq!(
                    s.data(seq, &stream).outcome(),
                    (false, true, 2, 0),
                    "{seq:#x}"
                );
            }
            // Wholly old, at its last number and far off.
            for seq in [SEQ.wrapping_sub(len), SEQ.wrapping_sub(0x7fff_ff00)] {
                let heard = s.data(seq, &stream);
                assert_eq!(
                    (heard.segment.flags, heard.segment.status),
                    (4 | 8, 0),
                    "{seq:#x}"
                );
            }
            assert_eq!(s.bench.counter(Counter::RxRefusedWindow).unwrap(), 2);
            assert_eq!(s.bench.counter(Counter::RxSegmentsDuplicate).unwrap(), 2);
            // Right up to the edge: taken if it is next, a gap if not.
            let heard = s.data(right, &stream);
            if right == SEQ {
                assert_eq!(heard.outcome(), (false, true, 0, len as u16));
                // The window has moved on with the position.
                let heard = s.data(SEQ.wrapping_add(len + 1), &stream);
                assert_eq!(heard.outcome(), (false, true, 2, 0));
                let heard = s.data(SEQ.wrapping_add(len), &stream);
                assert_eq!(heard.outcome(), (false, true, 0, len as u16));
            } else {
                assert_eq!(heard.outcome(), (true, false, 0, 0));
            }
        });
    }
}

/// One byte of the past and one of the future.
#[test]
fn overlaps_and_urgent_data_leave_the_card() {
    let attach = AttachRow {
        window: 2000,
        ..ATTACHED
    };
    let len = write(100).len() as u32;
    for (seq, flags) in [
        (SEQ.wrapping_sub(len - 1), flag::ACK),
        (SEQ.wrapping_sub(1), flag::ACK),
        (SEQ.wrapping_add(1), flag::ACK),
        (SEQ, flag::ACK | flag::URG),
    ] {
        each(PLAIN, attach, |s| {
            let frame = s.segment(seq, flags, None, &write(100));
            assert_eq!(s.hear(&frame).outcome(), (true, false, 0, 0), "{seq:#x}");
        });
    }
}

#[test]
fn reports_carry_epoch_and_ecn() {
    each(PLAIN, ATTACHED, |s| {
        let mut seq = SEQ;
        for ecn in 0..8u8 {
            let stream = write(10);
            let mut frame = s.segment(seq, flag::ACK, None, &stream);
            frame[15] = 0xfc | ecn & 3;
            frame[14 + 20 + 12] |= ecn >> 2;
            ethernet::fill_checksums(&mut frame);
            let heard = s.hear(&frame);
            let marks = heard.segment.status >> SegmentReport::IP_ECN_SHIFT;
            assert_eq!((marks, heard.segment.epoch), (ecn, EPOCH));
            assert_eq!(heard.fpdus[0].epoch, EPOCH);
            seq = seq.wrapping_add(stream.len() as u32);
        }
        // A report without a walk, and the row as the host sees it.
        let bare = s.segment(seq, flag::ACK, None, &[]);
        assert_eq!(s.hear(&bare).segment.epoch, EPOCH);
        let row = s.bench.read_table(table::FLOW_RX, FLOW.into()).unwrap();
        assert_eq!(FlowRxRow::from_bytes(&row.unwrap()), s.rx);
        let row = AttachRow {
            attached: AttachRow::ATTACHED | AttachRow::TS_RECENT_VALID,
            rcv_nxt: 1,
            msn: 2,
            mo: 3,
            ts_recent: 4,
            window: 5,
            raw_seen: 0,
        };
        s.attach(&row);
        assert_eq!(s.position(), row);
    });
}

/// RFC 9293 §3.1. What software makes of an option with an impossible length is its own affair: the card drops nothing for it, and does not
/// place behind it.
#[test]
fn a_segment_with_an_option_of_impossible_length_is_the_engines() {
    let odd: [&[u8]; 6] = [
        &[253, 0, 1, 1],
        &[253, 1, 1, 1],
        &[1, 1, 253, 9],
        &[1, 1, 1, 253],
        // What stands before and behind it counts for the engine alone.
        &[5, 10, 0, 0, 0, 1, 0, 0, 0, 2, 253, 1],
        &[253, 1, 8, 10, 0, 0, 0, 9, 0, 0, 0, 9],
    ];
    for options in odd {
        each(PLAIN, ATTACHED, |s| {
            let bare = s.segment(SEQ, flag::ACK, None, &[]);
            let bare = ethernet::with_tcp_options(&bare, options);
            let heard = s.hear(&bare);
            assert_eq!(heard.outcome(), (true, true, 0, 0), "{options:?}");
            let flags = SegmentReport::RAW | SegmentReport::ATTACHED;
            assert_eq!((heard.segment.flags, heard.segment.ts_val), (flags, 0));
            assert_eq!(heard.raw.as_deref(), Some(&bare[..]));
            let data = s.segment(SEQ, flag::ACK, None, &write(20));
            let data = ethernet::with_tcp_options(&data, options);
            let heard = s.hear(&data);
            assert_eq!(heard.outcome(), (true, false, 0, 0), "{options:?}");
            assert_eq!(heard.raw.as_deref(), Some(&data[..]));
            assert_eq!(s.bench.counter(Counter::RxDropTcpHeader).unwrap(), 0);
        });
        // Nor is it refused for want of a timestamp: the engine asks.
        each(TIMED, ATTACHED, |s| {
            let data = s.segment(SEQ, flag::ACK, None, &write(20));
            let data = ethernet::with_tcp_options(&data, options);
            assert_eq!(s.hear(&data).outcome(), (true, false, 0, 0));
        });
    }
}
