//! An independent judge of iWARP in a capture, markers above all, which tshark shows but does not check.
//!
//! It reads pcap and pcapng, reassembles each direction of each TCP connection, finds the MPA start-up in it and walks
//! the whole stream behind: a marker at every 512th octet with the right pointer (RFC 5044 §4.3), FPDU lengths, pads,
//! the CRC over the right octets (§4.4), DDP and RDMAP headers, MSN, MO and TO in sequence, Read Responses against the
//! Read Requests, the RTR. It shares no code with the engine, the card or `weft-wire`.
//!
//! What only a well-kept sender does (one FPDU in one segment, pads of zeroes, nothing behind a Terminate) is demanded of
//! the addresses in [`Rules::ours`]; of others it is counted.

pub mod annotate;
mod framing;
mod messages;
mod rule;
mod segments;
mod start_up;
mod streams;

use std::fmt;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::Path;

use thiserror::Error;

pub use rule::Rule;
pub use segments::{read_frames, read_segments, Segment};
pub use start_up::{Enhanced, StartUp, StartUpFrame};

/// Whom to hold to what.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// Addresses of stations that have to keep every rule.
    pub ours: Vec<Ipv4Addr>,
}

/// Why a file could not be judged at all.
#[derive(Debug, Error)]
pub enum CheckError {
    /// It cannot be read.
    #[error("cannot read {path}: {reason}")]
    Read {
        /// The file.
        path: String,
        /// Why.
        reason: String,
    },
    /// It is not a capture.
    #[error("{path} is no capture of Ethernet frames: {reason}")]
    Format {
        /// The file.
        path: String,
        /// Why.
        reason: String,
    },
}

/// The first thing that is wrong in one direction of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// TCP sequence number of the octet where it shows.
    pub seq: u32,
    /// The same, counted from the first octet behind the start-up frame.
    pub offset: u64,
    /// Number of the frame in the capture, from 1 on.
    pub frame: usize,
    /// What.
    pub rule: Rule,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "frame {}, sequence number {} (octet {} of the FPDU stream): {}",
            self.frame, self.seq, self.offset, self.rule
        )
    }
}

/// Messages of one direction, by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Messages {
    /// Sends of all four kinds.
    pub sends: usize,
    /// RDMA Writes.
    pub writes: usize,
    /// Read Requests.
    pub read_requests: usize,
    /// Read Responses.
    pub read_responses: usize,
    /// Terminates: their first four octets.
    pub terminates: Vec<[u8; 4]>,
    /// Immediate Data and atomics (RFC 7306).
    pub others: usize,
}

/// One direction of a connection.
#[derive(Clone, Debug)]
pub struct Direction {
    /// Who sends.
    pub from: SocketAddrV4,
    /// Who receives.
    pub to: SocketAddrV4,
    /// Markers have to be in it.
    pub with_markers: bool,
    /// Octets of the FPDU stream that were verified.
    pub octets: u64,
    /// FPDUs.
    pub fpdus: usize,
    /// Markers.
    pub markers: usize,
    /// Markers of these that fell between two FPDUs, and between pad and CRC.
    pub markers_between: [usize; 2],
    /// CRCs.
    pub crcs: usize,
    /// FPDUs with pad octets that are not zero.
    pub nonzero_pads: usize,
    /// Segments that begin or end inside an FPDU.
    pub cut_segments: usize,
    /// Segments sent again, wholly or in part.
    pub retransmissions: usize,
    /// Octets that nothing can be said about: behind a gap of the capture, or an FPDU that is not complete.
    pub unverified: u64,
    /// Messages.
    pub messages: Messages,
    /// The first violation; nothing behind it was looked at.
    pub violation: Option<Violation>,
}

/// One connection.
#[derive(Clone, Debug)]
pub struct Connection {
    /// The MPA start-up, as far as it went.
    pub start_up: StartUp,
    /// From the initiator, and from the responder.
    pub directions: [Direction; 2],
    /// FIN or RST was seen in each.
    pub ended: [bool; 2],
}

/// What was found in a capture.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Frames in the file.
    pub frames: usize,
    /// TCP segments with a wrong checksum: no receiver takes them, so they are left out.
    pub bad_checksums: usize,
    /// Connections whose SYN is in the file and that have a whole MPA request.
    pub connections: Vec<Connection>,
    /// Other TCP connections.
    pub not_mpa: usize,
}

impl Report {
    /// Everything that is wrong.
    pub fn violations(&self) -> Vec<String> {
        self.directions()
            .filter_map(|d| {
                let violation = d.violation.as_ref()?;
                Some(format!("{} to {}: {violation}", d.from, d.to))
            })
            .collect()
    }

    /// All directions of all connections.
    pub fn directions(&self) -> impl Iterator<Item = &Direction> {
        self.connections.iter().flat_map(|c| &c.directions)
    }

    /// A number over all directions.
    pub fn sum(&self, of: impl Fn(&Direction) -> usize) -> usize {
        self.directions().map(of).sum()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} frames, {} MPA connections: {} FPDUs, {} CRCs, {} markers; {} octets verified, {} not",
            self.frames,
            self.connections.len(),
            self.sum(|d| d.fpdus),
            self.sum(|d| d.crcs),
            self.sum(|d| d.markers),
            self.directions().map(|d| d.octets).sum::<u64>(),
            self.directions().map(|d| d.unverified).sum::<u64>(),
        )?;
        for violation in self.violations() {
            writeln!(f, "{violation}")?;
        }
        Ok(())
    }
}

/// Judges a capture file.
pub fn check(capture: &Path, rules: &Rules) -> Result<Report, CheckError> {
    let (frames, bad_checksums, segments) = read_segments(capture)?;
    let mut report = Report {
        frames,
        bad_checksums,
        ..Report::default()
    };
    for mut stream in streams::reassemble(&segments) {
        let Some(start_up) = start_up::find(&stream) else {
            report.not_mpa += 1;
            continue;
        };
        let walks = framing::walk(&mut stream, &start_up, rules);
        let directions = messages::judge(&stream, &start_up, walks, rules);
        report.connections.push(Connection {
            start_up,
            directions,
            ended: [0, 1].map(|n| stream.directions[n].ended),
        });
    }
    Ok(report)
}
