//! What Wireshark, which knows nothing of Weft, makes of a capture.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use pcap_file::pcap::{PcapPacket, PcapWriter};

use crate::markers::read_frames;

/// What tshark found in a capture.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Decoded {
    /// Frames in the file.
    pub frames: usize,
    /// MPA start-up frames.
    pub mpa_start_up: usize,
    /// FPDUs that it decoded.
    pub fpdus: usize,
    /// FPDUs whose CRC it checked and found good.
    pub good_crcs: usize,
    /// Lines that speak of something broken, with the number of the frame.
    pub complaints: Vec<String>,
}

/// Decodes a capture. Payload is not dissected further: application bytes that happen to look like RPC are not iWARP.
///
/// tshark's MPA decoder knows a connection by its addresses and ports alone: it takes the start-up of a second one between
/// the same ports for FPDUs. So each further connection between the same ports is decoded with the others of its rank, from a file
/// of its own.
pub fn decode(capture: &Path) -> std::io::Result<Decoded> {
    let frames = read_frames(capture).map_err(std::io::Error::other)?;
    let mut ranks: BTreeMap<[u8; 12], (usize, [u8; 4])> = BTreeMap::new();
    let rank_of: Vec<usize> = frames.iter().map(|f| rank(f, &mut ranks)).collect();
    let last = rank_of.iter().copied().max().unwrap_or(0);
    if last == 0 {
        return decode_file(capture);
    }
    let mut all = Decoded::default();
    let folder = tempfile::tempdir()?;
    for rank in 0..=last {
        let file = folder.path().join(format!("rank{rank}.pcap"));
        let mut writer = PcapWriter::new(std::fs::File::create(&file)?).map_err(invalid)?;
        let chosen = frames.iter().zip(&rank_of).enumerate();
        for (number, (frame, _)) in chosen.filter(|(_, (_, r))| **r == rank) {
            // Only their order matters here.
            let time = Duration::from_micros(number as u64);
            let packet = PcapPacket::new(time, frame.len() as u32, frame);
            writer.write_packet(&packet).map_err(invalid)?;
        }
        drop(writer);
        let decoded = decode_file(&file)?;
        all.frames += decoded.frames;
        all.mpa_start_up += decoded.mpa_start_up;
        all.fpdus += decoded.fpdus;
        all.good_crcs += decoded.good_crcs;
        let complaints = decoded.complaints.into_iter();
        all.complaints
            .extend(complaints.map(|c| format!("connections of rank {rank}: {c}")));
    }
    Ok(all)
}

fn invalid(error: pcap_file::PcapError) -> std::io::Error {
    std::io::Error::other(error.to_string())
}

/// How many connections between the same ports began before the one that this frame belongs to.
fn rank(frame: &[u8], ranks: &mut BTreeMap<[u8; 12], (usize, [u8; 4])>) -> usize {
    let is_tcp = frame.get(12..14) == Some(&[8, 0]) && frame.get(14) == Some(&0x45);
    let (true, Some(6), Some(ends), Some(tcp)) =
        (is_tcp, frame.get(23), frame.get(26..38), frame.get(38..48))
    else {
        return 0;
    };
    let mut there = [0; 12];
    there.copy_from_slice(ends);
    let mut back = there;
    back[..8].rotate_left(4);
    back[8..].rotate_left(2);
    let isn = [tcp[0], tcp[1], tcp[2], tcp[3]];
    let begins = tcp[9] & 0x12 == 0x02;
    match (begins, ranks.get(&there)) {
        (true, Some((rank, known))) if *known != isn => {
            let rank = rank + 1;
            ranks.insert(there, (rank, isn));
            rank
        }
        (true, None) => {
            ranks.insert(there, (0, isn));
            0
        }
        _ => {
            let known = ranks.get(&there).or(ranks.get(&back));
            known.map_or(0, |(rank, _)| *rank)
        }
    }
}

fn decode_file(capture: &Path) -> std::io::Result<Decoded> {
    let output = Command::new("tshark")
        .arg("-r")
        .arg(capture)
        .args(["-O", "iwarp_mpa,iwarp_ddp_rdmap"])
        .args(["--disable-protocol", "rpcordma"])
        .args([
            "-o",
            "tcp.check_checksum:TRUE",
            "-o",
            "ip.check_checksum:TRUE",
        ])
        .output()?;
    if !output.status.success() {
        return Err(std::io::Error::other(format!(
            "tshark -r {}: {}",
            capture.display(),
            String::from_utf8_lossy(&output.stderr)
        )));
    }
    Ok(read(&String::from_utf8_lossy(&output.stdout)))
}

fn read(text: &str) -> Decoded {
    let mut decoded = Decoded::default();
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("Frame ") && line.contains("bytes on wire") {
            decoded.frames += 1;
        } else if line == "Request frame header" || line == "Reply frame header" {
            decoded.mpa_start_up += 1;
        } else if line == "FPDU" || line.starts_with("FPDU,") {
            decoded.fpdus += 1;
        } else if line.contains("(Good CRC32)") {
            decoded.good_crcs += 1;
        }
        let bad = [
            "Malformed Packet",
            "Bad CRC32",
            "checksum incorrect",
            "bad checksum",
        ];
        if bad.iter().any(|b| line.contains(b)) {
            decoded
                .complaints
                .push(format!("frame {}: {line}", decoded.frames));
        }
    }
    decoded
}
