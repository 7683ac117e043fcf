//! What Wireshark, which knows nothing of Weft, makes of a capture.

use std::path::Path;
use std::process::Command;

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
pub fn decode(capture: &Path) -> std::io::Result<Decoded> {
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
