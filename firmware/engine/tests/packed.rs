//! FPDUs that share segments: what is lost is lost of several at once, and every octet is right in the end.
#![allow(missing_docs)]

use crate::bench;

use bench::traffic::run;
use bench::*;
use weft_engine::*;

/// Bytes of a Write, and Writes.
const WRITE: u32 = 100;
const WRITES: u64 = 400;

/// Short Writes, sixteen under way: what the bench was in the end.
fn short_writes(seed: u64, pack: bool, markers: bool, faults: Faults) -> Bench {
    let mut b = Bench::with(seed, &|config| {
        config.pack = pack;
        config.timestamps = seed & 1 != 0;
    });
    let accept = AcceptParams {
        markers,
        ..Default::default()
    };
    let pair = b.connect(&ConnectParams::default(), &accept);
    b.faults = faults;
    let (source, from) = b.hosts[0].region(1 << 16, Access::LOCAL_WRITE);
    let (sink, to) = b.hosts[1].region(1 << 16, Access::REMOTE_WRITE);
    let length = WRITE as usize * WRITES as usize;
    for (n, byte) in b.memory(0, from, length).iter_mut().enumerate() {
        *byte = (n / 7 + n) as u8;
    }
    for id in 0..WRITES {
        let at = id * u64::from(WRITE);
        let sges = [sge(source, at, WRITE)];
        let request = write(id, sink, 0x1000 + at, &sges);
        b.post_send(0, pair.qps[0], &request).unwrap();
        b.until("a completion", 60_000 * MS, |b| {
            b.hosts[0].completions.len() as u64 + 16 > id
        });
    }
    b.until("all completions", 60_000 * MS, |b| {
        b.hosts[0].completions.len() as u64 == WRITES
    });
    let sent = b.memory(0, from, length).to_vec();
    b.until("all octets", 60_000 * MS, |b| {
        b.memory(1, to, length) == sent
    });
    b
}

#[test]
fn short_writes_arrive_whatever_is_lost() {
    let losses = Faults {
        loss: 3000,
        ..Default::default()
    };
    let mut packed = 0;
    for seed in 0..24 {
        for faults in [Faults::default(), losses] {
            let markers = seed & 2 != 0;
            let b = short_writes(seed, true, markers, faults);
            packed += b.hosts[0].card.packed;
            let b = short_writes(seed, false, markers, faults);
            assert_eq!(b.hosts[0].card.packed, 0, "seed {seed}");
        }
    }
    assert!(packed > 1000, "{packed}");
}

/// Sends, Writes and Reads of all sizes in both directions.
#[test]
fn everything_arrives_whatever_goes_wrong() {
    let mut packed = 0;
    for faults in [
        Faults {
            loss: 1500,
            ..Default::default()
        },
        Faults::EVERYTHING,
    ] {
        for seed in 0..16 {
            let b = run(seed, faults, &|config| config.pack = true);
            packed += b.hosts.iter().map(|host| host.card.packed).sum::<u32>();
        }
    }
    assert!(packed > 100, "{packed}");
}

/// A segment of several is no longer than one of the largest FPDU.
#[test]
fn the_row_says_what_a_segment_holds() {
    for (pack, mtu, timestamps, is) in [
        (false, 1500, false, 0),
        (true, 1500, false, 1460),
        (true, 1500, true, 1448),
        (true, 9000, false, 2048),
    ] {
        let mut b = Bench::with(5, &|config| {
            config.pack = pack;
            config.mtu = mtu;
            config.timestamps = timestamps;
        });
        b.connect(&ConnectParams::default(), &AcceptParams::default());
        assert_eq!(b.hosts[0].card.tx_row(0).pack, is);
    }
}
