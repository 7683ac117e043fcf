//! `pcap:IN[,OUT]`: a capture's frames into the card, and the card's frames into another capture.
//!
//! The replay begins when the driver switches the card's receive side on, and again after each reset. One frame
//! goes in at a time: the next one once all cards are at rest, and no sooner than a millisecond of wall-clock
//! time later, so that the driver can keep up.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Seek};
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use pcap_file::pcap::PcapReader;
use pcap_file::pcapng::{Block, PcapNgReader};
use pcap_file::PcapError;

use super::{is_frame, pad, Outside, PortCounts};
use crate::capture::{self, Capture};

/// Time between two frames.
const GAP: Duration = Duration::from_millis(1);

/// The port.
pub struct Replay {
    frames: Vec<Vec<u8>>,
    next: usize,
    due: Option<Instant>,
    output: Option<Capture>,
    counts: PortCounts,
}

impl Replay {
    /// Reads the frames, and begins the other file.
    pub fn open(input: &Path, output: Option<&Path>) -> io::Result<Self> {
        let mut counts = PortCounts::default();
        let mut frames = read(input)?;
        frames.retain(|frame| {
            counts.refused += u64::from(!is_frame(frame.len()));
            is_frame(frame.len())
        });
        frames.iter_mut().for_each(pad);
        let output = match output {
            None => None,
            Some(path) => {
                let file = Box::new(BufWriter::new(capture::create(path)?));
                let capture = Capture::new(file, "port", ["the card", "nobody"]);
                Some(capture.map_err(io::Error::other)?.wall_clock())
            }
        };
        Ok(Self {
            frames,
            next: 0,
            due: None,
            output,
            counts,
        })
    }
}

/// The Ethernet frames of a pcap or pcapng file.
fn read(path: &Path) -> io::Result<Vec<Vec<u8>>> {
    let mut file = File::open(path)?;
    let first = PcapReader::new(BufReader::new(file.try_clone()?));
    if let Ok(reader) = first {
        return pcap_frames(reader).map_err(io::Error::other);
    }
    file.rewind()?;
    pcapng_frames(file).map_err(|error| {
        let why = format!(
            "{} is no capture, neither pcap nor pcapng: {error}",
            path.display()
        );
        io::Error::new(io::ErrorKind::InvalidData, why)
    })
}

fn pcap_frames(mut reader: PcapReader<BufReader<File>>) -> Result<Vec<Vec<u8>>, PcapError> {
    let mut frames = Vec::new();
    while let Some(packet) = reader.next_packet() {
        frames.push(packet?.data.into_owned());
    }
    Ok(frames)
}

fn pcapng_frames(file: File) -> Result<Vec<Vec<u8>>, PcapError> {
    let mut reader = PcapNgReader::new(BufReader::new(file))?;
    let mut frames = Vec::new();
    while let Some(block) = reader.next_block() {
        match block? {
            Block::EnhancedPacket(packet) => frames.push(packet.data.into_owned()),
            Block::SimplePacket(packet) => frames.push(packet.data.into_owned()),
            _ => {}
        }
    }
    Ok(frames)
}

impl Outside for Replay {
    fn fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn receive(&mut self) -> io::Result<Option<Vec<u8>>> {
        if self.due.is_none_or(|due| due > Instant::now()) {
            return Ok(None);
        }
        self.due = None;
        let frame = self.frames.get(self.next).cloned();
        self.next += 1;
        self.counts.received += u64::from(frame.is_some());
        Ok(frame)
    }

    fn send(&mut self, mut frame: Vec<u8>) {
        pad(&mut frame);
        let output = self.output.as_mut();
        if output.is_some_and(|o| o.frame(0, 0, &frame, None).is_ok()) {
            self.counts.sent += 1;
        } else {
            self.counts.dropped += 1;
        }
    }

    fn restart(&mut self) {
        self.next = 0;
        self.due = None;
    }

    fn flush(&mut self) {
        if let Some(Err(error)) = self.output.as_mut().map(Capture::flush) {
            tracing::warn!("the frames of the card cannot be written: {error}");
            self.output = None;
        }
    }

    fn tick(&mut self, ready: bool) -> Option<Duration> {
        if !ready || self.next >= self.frames.len() {
            return None;
        }
        let now = Instant::now();
        let due = *self.due.get_or_insert(now + GAP);
        Some(due.saturating_duration_since(now))
    }

    fn counts(&self) -> PortCounts {
        self.counts
    }
}
