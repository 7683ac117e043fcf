//! Exact boundaries: lengths, raw slots, flows.

use rand::Rng;
use weft_engine::HashSecret;
use weft_layout::{reg, report_kind, table, AttachRow, Counter, FlowKeyRow, FlowTxRow, StagRow};
use weft_sim::bench::STATION;
use weft_sim::model::ethernet::{self, flag};
use weft_sim::model::mpa;
use weft_sim::model::tables::keyed_places;
use weft_sim::seed::{generator, Stream};

use super::setup::{each, write, ATTACHED, FLOW, PD, PLAIN, SEQ};

fn plain(len: usize) -> Vec<u8> {
    let mut frame = vec![0x5a; len];
    frame[..6].copy_from_slice(&STATION);
    frame[12..14].copy_from_slice(&[0x88, 0xb5]);
    frame
}

#[test]
fn a_frame_of_exactly_the_mtu_is_taken() {
    each(PLAIN, ATTACHED, |s| {
        for mtu in [60, 63, 64, 65, 127, 128, 129, 300, 1514, 9216] {
            s.bench.write(reg::MTU, mtu);
            assert_eq!(s.bench.read(reg::MTU).unwrap(), mtu);
            let dropped = s.bench.counter(Counter::RxDropOversize).unwrap();
            for len in [mtu + 1, mtu, mtu - 1] {
                let frame = plain(len as usize);
                let raw: Vec<_> = s.inject(&frame).into_iter().map(|r| r.1).collect();
                let should = if len > mtu { vec![] } else { vec![Some(frame)] };
                assert_eq!(raw, should, "{len} bytes, MTU {mtu}");
            }
            let now = s.bench.counter(Counter::RxDropOversize).unwrap();
            assert_eq!(now, dropped + 1);
        }
    });
}

#[test]
fn lengths_that_cannot_be_become_the_nearest() {
    each(PLAIN, ATTACHED, |s| {
        for (value, is) in [
            (0, 14),
            (13, 14),
            (14, 14),
            (9216, 9216),
            (9217, 9216),
            (0x1_0040, 9216),
            (u32::MAX, 9216),
        ] {
            s.bench.write(reg::MTU, value);
            assert_eq!(s.bench.read(reg::MTU).unwrap(), is, "MTU {value}");
        }
        for (value, is) in [
            (0x0000, 0x010b),
            (0x030a, 0x030b),
            (0x040e, 0x040e),
            (0x0c0f, 0x0c0e),
            (0xffff, 0x0c0e),
        ] {
            s.bench.write(reg::RAW_LOG2, value);
            assert_eq!(
                s.bench.read(reg::RAW_LOG2).unwrap(),
                is,
                "RAW_LOG2 {value:#x}"
            );
        }
        // Slots of 2048 bytes: what is longer is dropped, whatever the MTU.
        s.bench.write(reg::RAW_LOG2, 0x010b);
        s.inject(&plain(2049));
        assert_eq!(s.bench.counter(Counter::RxDropOversize).unwrap(), 1);
        s.inject(&plain(2048));
        assert_eq!(s.bench.read(reg::RAW_TAIL).unwrap(), 1);
    });
}

/// Junk takes the raw slots that are not reserved; what is in sequence goes on.
#[test]
fn a_flood_of_junk_does_not_stop_a_flow() {
    each(PLAIN, ATTACHED, |s| {
        s.bench.write(reg::RAW_RESERVE, 11);
        assert_eq!(s.bench.read(reg::RAW_RESERVE).unwrap(), 11);
        s.bench.hold_raw(true);
        let stream = write(300);
        let mut seq = SEQ;
        for _ in 0..20 {
            for _ in 0..5 {
                s.bench.inject(plain(100));
            }
            let frame = s.segment(seq, flag::ACK, None, &stream);
            seq = seq.wrapping_add(stream.len() as u32);
            s.bench.inject(frame);
        }
        s.bench.settle(1_000_000).unwrap();
        let reports = s.bench.reports();
        let of = |kind: u8| reports.iter().filter(|r| r.0[0] == kind).count();
        // 64 slots.
        assert_eq!((of(report_kind::SEGMENT), of(report_kind::FRAME)), (20, 53));
        assert_eq!(s.position().rcv_nxt, seq);
        assert_eq!(s.bench.counter(Counter::RxSegmentsPlaced).unwrap(), 20);
        assert_eq!(s.bench.counter(Counter::RxDropRawReserved).unwrap(), 47);
        assert_eq!(s.bench.counter(Counter::RxDropNoRawSlot).unwrap(), 0);
        // The flow has the reserved ones: three segments that end inside an FPDU, then only what is walked has slots.
        for _ in 0..3 {
            let heard = s.data(seq, &stream[..40]);
            assert!(heard.segment.raw());
        }
        let frame = s.segment(seq, flag::ACK, None, &stream);
        assert!(s.inject(&frame).is_empty());
        assert_eq!(s.bench.counter(Counter::RxDropNoRawSlot).unwrap(), 1);
        // What needs no slot still comes.
        let bare = s.segment(seq, flag::ACK, None, &[]);
        assert_eq!(s.hear(&bare).segment.flags, 0);
        // And junk does not.
        s.inject(&plain(100));
        assert_eq!(s.bench.counter(Counter::RxDropRawReserved).unwrap(), 48);
        assert_eq!(s.bench.counter(Counter::RxDropNoRawSlot).unwrap(), 1);
    });
}

/// Two segments in a row that both turn out partial, and one slot.
#[test]
fn one_raw_slot_and_two_partial_segments() {
    each(PLAIN, ATTACHED, |s| {
        s.bench.hold_raw(true);
        for _ in 0..63 {
            s.bench.inject(plain(60));
        }
        s.bench.settle(1_000_000).unwrap();
        assert_eq!(s.bench.reports().len(), 63);
        let stream = write(300);
        let (first, second) = stream.split_at(100);
        let a = s.segment(SEQ, flag::ACK, None, first);
        let b = s.segment(SEQ.wrapping_add(100), flag::ACK, None, second);
        s.bench.inject(a.clone());
        s.bench.inject(b);
        s.bench.settle(1_000_000).unwrap();
        let reports = s.bench.reports();
        assert_eq!(reports.len(), 1);
        assert_eq!(reports[0].1.as_ref(), Some(&a));
        assert_eq!(s.bench.counter(Counter::RxDropNoRawSlot).unwrap(), 1);
        let position = s.position();
        // 63 frames of no flow before it.
        assert_eq!((position.attached(), position.raw_seen), (false, 64));
    });
}

/// With no slot free, what would be walked is dropped like junk, and waits for no host.
#[test]
fn a_full_raw_ring_holds_nothing_up() {
    each(PLAIN, ATTACHED, |s| {
        s.bench.hold_raw(true);
        for _ in 0..64 {
            s.bench.inject(plain(60));
        }
        s.bench.settle(1_000_000).unwrap();
        assert_eq!(s.bench.reports().len(), 64);
        let stream = write(300);
        let next = s.segment(SEQ, flag::ACK, None, &stream);
        assert!(s.inject(&next).is_empty());
        assert_eq!(s.bench.counter(Counter::RxDropNoRawSlot).unwrap(), 1);
        // Junk is not told apart: no slot is free, so none is reserved.
        assert!(s.inject(&plain(60)).is_empty());
        assert_eq!(s.bench.counter(Counter::RxDropNoRawSlot).unwrap(), 2);
        assert_eq!(s.bench.counter(Counter::RxDropRawReserved).unwrap(), 0);
        let bare = s.segment(SEQ, flag::ACK, None, &[]);
        assert!(s.hear(&bare).segment.attached());
        // Sent again, once there are slots.
        s.bench.hold_raw(false);
        assert!(s.bench.reports().is_empty());
        let heard = s.hear(&next);
        assert!(!heard.segment.raw() && heard.segment.attached());
        assert_eq!(s.position().rcv_nxt, SEQ.wrapping_add(stream.len() as u32));
    });
}

/// As many flows as the card has, with any addresses: each in one of its four places, and found there. With a secret, and without.
#[test]
fn all_flows_fit_into_flow_key() {
    for secret in [0, u128::MAX, 0x0123_4567_89ab_cdef_0f1e_2d3c_4b5a_6978] {
        all_flows_fit(secret);
    }
}

/// Of the keys that meet in both buckets without a secret, as an attacker would choose his ports, all but a few part with one.
#[test]
fn who_does_not_know_the_secret_does_not_know_who_meets() {
    let places = |port: u16, secret| {
        let [high, low] = port.to_be_bytes();
        keyed_places(
            &[10, 0, 0, 1, 10, 0, 0, 2, high, low, 0x15, 0xb3],
            256,
            secret,
        )
    };
    let meet: Vec<u16> = (0..u16::MAX)
        .filter(|p| places(*p, 0) == places(7, 0))
        .collect();
    assert!(meet.len() > 3, "{meet:?}");
    let mut rng = generator(9, Stream::Application);
    for _ in 0..100 {
        let secret = rng.random();
        let still = meet
            .iter()
            .filter(|p| places(**p, secret) == places(7, secret));
        assert!(still.count() <= 3);
    }
}

/// The engine and the card look in the same buckets, and with another secret in others.
#[test]
fn the_engine_has_the_card_s_hash() {
    let mut rng = generator(11, Stream::Application);
    let mut moved = 0;
    for _ in 0..1000 {
        let key: [u8; 12] = rng.random();
        let words: [u32; 4] = rng.random();
        let high_first = words.iter().rev();
        let secret = high_first.fold(0, |all, word| all << 32 | u128::from(*word));
        let hash = HashSecret(words).hash(&key);
        let flows = 256;
        let (low, high) = (hash % (flows / 2), (hash >> 16) % (flows / 2));
        let places = keyed_places(&key, flows, secret);
        assert_eq!([places[0], places[2]], [2 * low, flows + 2 * high]);
        moved += usize::from(places != keyed_places(&key, flows, 0));
    }
    assert!(moved > 990, "{moved}");
}

fn all_flows_fit(secret: u128) {
    each(PLAIN, ATTACHED, |s| {
        for (word, register) in (0..4).zip((reg::HASH_SECRET..).step_by(4)) {
            s.bench.write(register, (secret >> (32 * word)) as u32);
            let read = s.bench.read(register).unwrap();
            assert_eq!(read, (secret >> (32 * word)) as u32);
        }
        let flows = 1u32 << (s.bench.read(reg::CAPS).unwrap() >> 8 & 0xff);
        let mut rng = generator(7, Stream::Application);
        let row = |flow: u16, key: &[u8; 12]| FlowKeyRow {
            valid: FlowKeyRow::VALID,
            flow,
            remote_ip: key[..4].try_into().unwrap(),
            local_ip: key[4..8].try_into().unwrap(),
            remote_port: key[8..10].try_into().unwrap(),
            local_port: key[10..].try_into().unwrap(),
        };
        let keys: Vec<[u8; 12]> = (0..flows).map(|_| rng.random()).collect();
        // The flow of the setup makes room.
        for place in 0..2 * flows {
            let empty = FlowKeyRow::default().to_bytes();
            assert!(s.bench.write_table(table::FLOW_KEY, place, &empty).unwrap());
        }
        let mut places: Vec<Option<u16>> = vec![None; 2 * flows as usize];
        for (flow, key) in (0..).zip(&keys) {
            // A random walk: whoever is in the way moves.
            let (mut flow, mut key): (u16, [u8; 12]) = (flow, *key);
            for step in 0.. {
                assert!(step < 100, "flow {flow} finds no place");
                let all = keyed_places(&key, flows, secret);
                let free = all.into_iter().find(|p| places[*p as usize].is_none());
                let place = free.unwrap_or(all[rng.random_range(0..4)]);
                let bytes = row(flow, &key).to_bytes();
                assert!(s.bench.write_table(table::FLOW_KEY, place, &bytes).unwrap());
                match places[place as usize].replace(flow) {
                    None => break,
                    Some(moved) => (flow, key) = (moved, keys[usize::from(moved)]),
                }
            }
        }
        for (flow, key) in (0..flows as u16).zip(&keys) {
            let mut tx = s.ends.peer_tx(FlowTxRow::VALID, 0);
            tx.local_ip = key[..4].try_into().unwrap();
            tx.remote_ip = key[4..8].try_into().unwrap();
            tx.local_port = key[8..10].try_into().unwrap();
            tx.remote_port = key[10..].try_into().unwrap();
            let frame = ethernet::segment(&tx, &Default::default(), 5, flag::ACK, 0, &[]);
            assert_eq!(s.hear(&frame).segment.flow, flow);
        }
    });
}

#[test]
fn a_flow_that_does_not_exist_is_refused() {
    each(PLAIN, ATTACHED, |s| {
        let flows = 1u32 << (s.bench.read(reg::CAPS).unwrap() >> 8 & 0xff);
        let mut row = FlowKeyRow {
            valid: FlowKeyRow::VALID,
            flow: flows as u16 - 1,
            ..FlowKeyRow::default()
        };
        let last = 2 * flows - 1;
        assert!(s
            .bench
            .write_table(table::FLOW_KEY, last, &row.to_bytes())
            .unwrap());
        assert!(!s
            .bench
            .write_table(table::FLOW_KEY, last + 1, &row.to_bytes())
            .unwrap());
        for flow in [flows as u16, flows as u16 + FLOW, u16::MAX] {
            row.flow = flow;
            assert!(!s
                .bench
                .write_table(table::FLOW_KEY, 0, &row.to_bytes())
                .unwrap());
        }
        for table in [table::FLOW_RX, table::ATTACH, table::FLOW_TX] {
            assert!(!s.bench.write_table(table, flows, &[0; 64]).unwrap());
            assert_eq!(s.bench.read_table(table, flows).unwrap(), None);
        }
        let read = s.bench.read_table(table::FLOW_KEY, 0).unwrap();
        assert_eq!(FlowKeyRow::from_bytes(&read.unwrap()).valid, 0);
    });
}

/// The last STag, and each whose number has one bit: a Write finds its own region. None is beyond the last, and none is number 0.
#[test]
fn each_stag_has_its_own_region() {
    each(PLAIN, ATTACHED, |s| {
        let stags = 1u32 << (s.bench.read(reg::CAPS).unwrap() >> 16 & 0xff);
        let bits = (0..stags.ilog2()).map(|bit| 1 << bit);
        let rows: Vec<u32> = bits.chain([stags - 1]).collect();
        for (index, at) in rows.iter().zip((0..).step_by(8)) {
            let region = StagRow {
                valid: StagRow::VALID,
                key: 0x77,
                access: StagRow::REMOTE_WRITE,
                pd: PD,
                base: 0,
                length: 8,
                iova: s.memory.iova + at,
            };
            s.bench.stag(index << 8 | 0x77, &region).unwrap();
        }
        let mut seq = SEQ;
        let write = |index: u32| {
            let mut ulpdu = vec![0xc1, 0x40];
            ulpdu.extend_from_slice(&(index << 8 | 0x77).to_be_bytes());
            ulpdu.extend_from_slice(&[0; 8]);
            ulpdu.extend_from_slice(&u64::from(index + 1).to_le_bytes());
            mpa::frame(SEQ, None, true, &ulpdu)
        };
        for index in &rows {
            let stream = write(*index);
            let heard = s.data(seq, &stream);
            assert!(heard.segment.attached(), "STag {index}: {heard:?}");
            seq = seq.wrapping_add(stream.len() as u32);
        }
        let expected: Vec<u8> = rows
            .iter()
            .flat_map(|index| u64::from(index + 1).to_le_bytes())
            .collect();
        assert_eq!(s.memory.read(0, 8 * rows.len()).unwrap(), expected);
        assert_eq!(s.bench.read_table(table::STAG, stags).unwrap(), None);
        for index in [0, stags] {
            let heard = s.data(seq, &write(index));
            assert!(!heard.segment.attached(), "STag {index}: {heard:?}");
            let again = AttachRow {
                rcv_nxt: seq,
                raw_seen: s.bench.raw_seen(),
                ..ATTACHED
            };
            s.attach(&again);
        }
    });
}
