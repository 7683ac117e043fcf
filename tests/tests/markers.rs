//! The judge of markers and FPDUs: it passes what is right (soft-iWARP's, the RFC's own example, our cards' with markers in
//! either direction), and it finds each fault that is put into a right capture, at its place.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use pcap_file::pcap::{PcapPacket, PcapWriter};
use pcap_file::pcapng::{Block, PcapNgReader};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use weft_sim::demo::{run, Plan};
use weft_sim::fabric;
use weft_sim::kind::CardKind;
use weft_tests::cards;
use weft_tests::markers::{check, read_segments, Report, Rule, Rules, Segment};
use weft_tests::peer::{
    crc32c, enhanced, flag, internet_checksum, mpa_frame, mpa_request, untagged, Peer, Station,
};

/// A file that goes away with its owner.
struct TempFile(PathBuf);

impl TempFile {
    fn new(name: &str) -> Self {
        let name = format!("weft-markers-{name}-{}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    fn with_frames(name: &str, frames: &[Vec<u8>]) -> Self {
        let file = Self::new(name);
        let to = std::fs::File::create(&file.0).expect("file");
        let mut writer = PcapWriter::new(to).expect("pcap");
        for (n, frame) in frames.iter().enumerate() {
            let at = Duration::from_micros(n as u64);
            let packet = PcapPacket::new(at, frame.len() as u32, frame);
            writer.write_packet(&packet).expect("packet");
        }
        file
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0).or_else(|_| std::fs::remove_dir_all(&self.0));
    }
}

fn ours() -> Rules {
    Rules {
        ours: vec![fabric::ip(0), fabric::ip(1)],
    }
}

/// The capture of `weft demo`: twelve connections, some with markers.
fn demo(card: CardKind, seed: u64, mtu: u16, folder: &Path) -> PathBuf {
    std::fs::create_dir_all(folder).expect("folder");
    let file = (0..20_000u32).map(|n| ((n * n) >> 3) as u8).collect();
    let plan = Plan {
        seed,
        card,
        file,
        out: Some(folder.to_owned()),
        mtu,
        waves: None,
    };
    let report = run(&plan, |_, _| {}).expect("the demonstration");
    report.captures[0].clone()
}

fn judged_clean(capture: &Path) -> Report {
    let report = check(capture, &ours()).expect("a capture");
    assert_eq!(report.violations(), Vec::<String>::new());
    assert_eq!(report.connections.len(), 12);
    assert_eq!((report.not_mpa, report.bad_checksums), (0, 0));
    assert_eq!(report.directions().map(|d| d.unverified).sum::<u64>(), 0);
    assert_eq!(report.sum(|d| d.cut_segments), 0);
    report
}

#[test]
fn our_cards_are_right_with_markers_in_either_direction() {
    for (seed, mtu) in [(11, 1500), (12, 9000)] {
        let folder = TempFile::new(&format!("demo-{mtu}"));
        let report = judged_clean(&demo(cards()[0], seed, mtu, &folder.0));
        let with = |markers: [bool; 2]| {
            let same = |c: &&_| markers_of(c) == markers;
            report.connections.iter().filter(same).count()
        };
        assert!(with([true, true]) >= 2 && with([true, false]) >= 1 && with([false, true]) >= 1);
        for direction in report.directions() {
            assert_eq!(direction.with_markers, direction.markers > 0);
        }
        let between = |n: usize| report.sum(|d| d.markers_between[n]);
        assert!(report.sum(|d| d.markers) > 500 && between(0) > 0 && between(1) > 0);
        println!("MTU {mtu}: {report}");
    }
}

fn markers_of(connection: &weft_tests::markers::Connection) -> [bool; 2] {
    [0, 1].map(|n: usize| connection.directions[n].with_markers)
}

#[test]
fn soft_iwarp_is_right() {
    let capture = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../firmware/wire/tests/data/rping-p2p-read-crc.pcap");
    let report = check(&capture, &Rules::default()).expect("a capture");
    assert_eq!(report.violations(), Vec::<String>::new());
    assert_eq!(report.sum(|d| d.fpdus), 37);
    assert_eq!(report.sum(|d| d.crcs), 37);
    let messages = [0, 1].map(|n| report.connections[0].directions[n].messages.clone());
    assert_eq!([messages[0].sends, messages[1].sends], [10, 10], "5 rounds");
    assert_eq!(messages[1].writes, 5);
    assert_eq!(messages[1].read_requests, 5);
    assert_eq!(messages[0].read_responses, 5);
    // The RTR and its answer.
    assert_eq!(
        (messages[0].read_requests, messages[1].read_responses),
        (1, 1)
    );
}

/// RFC 5044 §4.4: figure 5 at the beginning of a stream, figure 6 some octets on.
#[test]
fn the_worked_example_of_rfc_5044() {
    let example = |fault: fn(&mut Vec<u8>)| {
        let station = |n: u8| Station {
            mac: [2, 0, 0, 0, 0, n],
            ip: [10, 0, 0, n],
            port: 5000,
        };
        let mut a = Peer::new(station(1), station(2), u32::MAX - 100);
        let mut b = Peer::new(station(2), station(1), 77);
        let mut frames = vec![a.segment(a.snd_nxt, flag::SYN, &[], &[])];
        a.snd_nxt = a.snd_nxt.wrapping_add(1);
        frames.push(b.segment(b.snd_nxt, flag::SYN | flag::ACK, &[], &[]));
        b.snd_nxt += 1;
        let mut say = |peer: &mut Peer, bytes: &[u8]| {
            peer.send(bytes);
            frames.extend(peer.take_frames());
        };
        say(&mut a, &mpa_request(0xd0, 2, &enhanced(1, 1)));
        say(
            &mut b,
            &mpa_frame(b"MPA ID Rep Frame", 0xd0, 2, &enhanced(1, 1)),
        );
        let send = |msn: u32, len: usize| untagged(0x41, 0x43, 0, msn, 0, &vec![0; len]);
        let mut first = [&[0, 0, 0, 0, 0, 0x2a], &send(1, 24)[..]].concat();
        first.extend([0x52, 0x23, 0x99, 0x83]);
        // A filler up to 20 octets before the second marker.
        let filler = 512 - 20 - first.len() - 6 - 18;
        let mut second = ((18 + filler) as u16).to_be_bytes().to_vec();
        second.extend(send(2, filler));
        second.extend(crc32c(&second).to_le_bytes());
        let mut third = [&[0, 0x2a], &send(2, 24)[..]].concat();
        third[15] = 3;
        third.splice(20..20, [0, 0, 0, 0x14]);
        third.extend(crc32c(&third).to_le_bytes());
        fault(&mut third);
        for fpdu in [first, second, third] {
            say(&mut a, &fpdu);
        }
        let file = TempFile::with_frames("rfc", &frames);
        let rules = Rules {
            ours: vec![Ipv4Addr::new(10, 0, 0, 1)],
        };
        check(&file.0, &rules).expect("a capture")
    };
    let report = example(|_| {});
    assert_eq!(report.violations(), Vec::<String>::new());
    let initiator = &report.connections[0].directions[0];
    assert_eq!(
        (initiator.fpdus, initiator.crcs, initiator.markers),
        (3, 3, 2)
    );
    // A wrong pointer under a right CRC: the second marker's is 4 too small.
    let report = example(|fpdu| {
        fpdu[23] = 0x10;
        let end = fpdu.len() - 4;
        let crc = crc32c(&fpdu[..end]).to_le_bytes();
        fpdu[end..].copy_from_slice(&crc);
    });
    let violation = report.connections[0].directions[0].violation.clone();
    let violation = violation.expect("found");
    let pointer = Rule::MarkerPointer {
        expected: 20,
        found: 16,
    };
    assert_eq!((violation.offset, violation.rule), (512, pointer));
    // ISN, SYN, the request, 512 octets: the sequence number has wrapped.
    assert_eq!(violation.seq, (u32::MAX - 99).wrapping_add(24 + 512));
}

/// What is done to a right frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Pointer,
    Reserved,
    Shifted,
    Missing,
    Payload,
    CrcField,
    Length,
    Msn,
}

const FAULTS: [Fault; 8] = [
    Fault::Pointer,
    Fault::Reserved,
    Fault::Shifted,
    Fault::Missing,
    Fault::Payload,
    Fault::CrcField,
    Fault::Length,
    Fault::Msn,
];

/// A frame that may be harmed: one FPDU with a marker inside.
struct Candidate {
    index: usize,
    /// Octets before the first marker in it.
    marker: usize,
    segment: Segment,
}

fn frames_of(capture: &Path) -> Vec<Vec<u8>> {
    let file = std::fs::File::open(capture).expect("capture");
    let mut reader = PcapNgReader::new(file).expect("pcapng");
    let mut frames = Vec::new();
    while let Some(block) = reader.next_block() {
        if let Block::EnhancedPacket(packet) = block.expect("block") {
            frames.push(packet.data.into_owned());
        }
    }
    frames
}

/// Frames of untagged messages with a marker inside, of connections with a CRC.
fn candidates(capture: &Path) -> Vec<Candidate> {
    let report = check(capture, &ours()).expect("a capture");
    let (_, _, segments) = read_segments(capture).expect("a capture");
    let mut list = Vec::new();
    for connection in report.connections.iter().filter(|c| c.start_up.crc()) {
        for direction in connection.directions.iter().filter(|d| d.with_markers) {
            let from_here = |s: &&Segment| s.from == direction.from && s.to == direction.to;
            let start_up = segments
                .iter()
                .filter(from_here)
                .find(|s| s.payload.starts_with(b"MPA ID "))
                .expect("a start-up frame");
            let base = start_up.seq.wrapping_add(start_up.payload.len() as u32);
            for segment in segments.iter().filter(from_here) {
                let at = segment.seq.wrapping_sub(base) as usize % 512;
                let marker = if at == 0 { 512 } else { 512 - at };
                // Length field, untagged header, and some octets behind the marker.
                let whole = at != 0 && marker >= 24 && segment.payload.len() > marker + 32;
                if whole && segment.payload[2] & 0x80 == 0 {
                    list.push(Candidate {
                        index: segment.frame - 1,
                        marker,
                        segment: segment.clone(),
                    });
                }
            }
        }
    }
    list
}

/// The frame with another payload, and everything in it that says how long it is.
fn with_payload(frame: &[u8], payload: &[u8]) -> Vec<u8> {
    let header = 14 + 20 + usize::from(frame[46] >> 4) * 4;
    let mut frame = [&frame[..header], payload].concat();
    let total = (frame.len() - 14) as u16;
    frame[16..18].copy_from_slice(&total.to_be_bytes());
    frame[24..26].fill(0);
    let sum = internet_checksum(&frame[14..34]);
    frame[24..26].copy_from_slice(&sum.to_be_bytes());
    frame[50..52].fill(0);
    let mut pseudo = frame[26..34].to_vec();
    pseudo.extend([0, 6]);
    pseudo.extend((total - 20).to_be_bytes());
    pseudo.extend(&frame[34..]);
    let sum = internet_checksum(&pseudo);
    frame[50..52].copy_from_slice(&sum.to_be_bytes());
    frame
}

/// The payload with a fault, its CRC made right again where the fault is not about it.
fn harmed(fault: Fault, candidate: &Candidate, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut payload = candidate.segment.payload.clone();
    let (marker, end) = (candidate.marker, payload.len() - 4);
    match fault {
        Fault::Pointer => payload[marker + 3] ^= 4 << rng.random_range(0..6),
        Fault::Reserved => payload[marker + rng.random_range(0..2)] ^= 1 << rng.random_range(0..8),
        Fault::Shifted => {
            let at = if rng.random() { marker - 4 } else { marker };
            payload[at..at + 8].rotate_left(4);
        }
        Fault::Missing => {
            payload.drain(marker..marker + 4);
        }
        Fault::Payload => {
            payload[rng.random_range(24..end)] ^= 1 << rng.random_range(0..8);
            return payload;
        }
        Fault::CrcField => {
            payload[end + rng.random_range(0..4)] ^= 1 << rng.random_range(0..8);
            return payload;
        }
        Fault::Length => payload[1] ^= 4 << rng.random_range(0..4),
        Fault::Msn => payload[15] ^= 1 << rng.random_range(0..8),
    }
    let end = payload.len() - 4;
    let crc = crc32c(&payload[..end]).to_le_bytes();
    payload[end..].copy_from_slice(&crc);
    payload
}

#[test]
fn every_fault_is_found_where_it_is() {
    let folder = TempFile::new("harmed");
    let capture = demo(CardKind::Model, 13, 1500, &folder.0);
    let report = judged_clean(&capture);
    let both = |c: &&_| markers_of(c) == [true, true];
    let connection = report.connections.iter().find(both).expect("one");
    let port = connection.directions[0].from.port().to_be_bytes();
    // The beginning of one connection is enough to look at 200 times.
    let mut frames = frames_of(&capture);
    frames.retain(|f| f.len() > 38 && (f[34..36] == port || f[36..38] == port));
    frames.truncate(1000);
    let capture = TempFile::with_frames("one", &frames);
    let capture = &capture.0;
    let candidates = candidates(capture);
    assert!(candidates.len() > 20, "{}", candidates.len());
    for seed in 0..200 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let fault = FAULTS[seed as usize % FAULTS.len()];
        let candidate = candidates.choose(&mut rng).expect("one");
        let payload = harmed(fault, candidate, &mut rng);
        let (index, segment) = (candidate.index, &candidate.segment);
        if payload == segment.payload {
            continue; // Eight octets that are the same when turned.
        }
        let mut frames = frames.clone();
        frames[index] = with_payload(&frames[index], &payload);
        let file = TempFile::with_frames(&format!("fault-{seed}"), &frames);
        let report = check(&file.0, &ours()).expect("a capture");
        let broken: Vec<_> = report
            .directions()
            .filter(|d| d.violation.is_some())
            .collect();
        let what = format!("seed {seed}, {fault:?}: {:?}", report.violations());
        assert!(!broken.is_empty(), "not found: {what}");
        let direction = broken
            .iter()
            .find(|d| (d.from, d.to) == (segment.from, segment.to))
            .unwrap_or_else(|| panic!("elsewhere: {what}"));
        let violation = direction.violation.as_ref().expect("filtered");
        let right = match &violation.rule {
            Rule::MarkerReserved { .. } => {
                matches!(fault, Fault::Reserved | Fault::Shifted | Fault::Missing)
            }
            // A length that is too long reaches into the next FPDU's marker.
            Rule::MarkerPointer { .. } => matches!(
                fault,
                Fault::Pointer | Fault::Shifted | Fault::Missing | Fault::Length
            ),
            Rule::Crc { .. } => {
                matches!(fault, Fault::Payload | Fault::CrcField | Fault::Length)
                    || fault == Fault::Missing
            }
            Rule::Length { .. } | Rule::CutFpdu { .. } => fault == Fault::Length,
            Rule::Msn { .. } => fault == Fault::Msn,
            _ => false,
        };
        assert!(right, "another fault: {what}");
        // What is missing shows where it should be, or at the end of its frame.
        let place = violation.frame == index + 1;
        assert!(place || fault == Fault::Length, "elsewhere: {what}");
    }
}

#[test]
fn what_is_no_capture_is_said() {
    let file = TempFile::new("nonsense");
    std::fs::write(&file.0, b"nonsense").expect("write");
    let error = check(&file.0, &ours()).expect_err("no capture").to_string();
    assert!(error.contains("is no capture"), "{error}");
    assert!(check(Path::new("/nowhere"), &ours()).is_err());
}
