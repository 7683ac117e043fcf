//! Frames that a card captured, as pcapng: what the card saw at its MAC port, with its own clock, direction and FCS
//! verdict, and how many frames are missing where it could not keep up.

use std::borrow::Cow;
use std::io::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::{DataLink, Endianness};
use serde::Serialize;
use thiserror::Error;

use weft_debug::capture::{Capture, CapturedFrame, Direction};
use weft_hostdrv::DeviceError;

/// pcapng's epb_flags: direction in bits 1:0, link-layer errors from bit 16 on.
const INBOUND: u32 = 1;
const OUTBOUND: u32 = 2;
const CRC_ERROR: u32 = 1 << 24;

/// What went wrong with a capture.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// The card.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The file.
    #[error("cannot write the capture: {0}")]
    File(String),
}

impl From<pcap_file::PcapError> for CaptureError {
    fn from(error: pcap_file::PcapError) -> Self {
        Self::File(error.to_string())
    }
}

impl From<std::io::Error> for CaptureError {
    fn from(error: std::io::Error) -> Self {
        Self::File(error.to_string())
    }
}

/// What was captured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Captured {
    /// Frames written to the file.
    pub frames: u64,
    /// Of these, received.
    pub received: u64,
    /// Of these, sent.
    pub sent: u64,
    /// Of these, with a bad FCS.
    pub bad_fcs: u64,
    /// Of these, truncated.
    pub truncated: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
    /// Frames that the card left out because it could not keep up.
    pub lost: u64,
}

/// Writes frames to a pcapng file. The first frame has the time of day, the others come after it by the card's clock.
pub struct CaptureFile<W: Write> {
    writer: PcapNgWriter<W>,
    cycle_ns: f64,
    /// The time of day and the card's clock at the first frame.
    start: Option<(Duration, u64)>,
    captured: Captured,
}

impl<W: Write> CaptureFile<W> {
    /// Begins a file for the card `name`, whose clock has so many MHz.
    pub fn new(to: W, name: &str, clock_mhz: f64) -> Result<Self, CaptureError> {
        let section = SectionHeaderBlock {
            endianness: Endianness::Little,
            major_version: 1,
            minor_version: 0,
            section_length: -1,
            options: vec![SectionHeaderOption::UserApplication(Cow::Borrowed("weft"))],
        };
        let mut writer = PcapNgWriter::with_section_header(to, section)?;
        writer.write_pcapng_block(InterfaceDescriptionBlock {
            linktype: DataLink::ETHERNET,
            snaplen: 0,
            options: vec![
                InterfaceDescriptionOption::IfName(Cow::Owned(name.to_owned())),
                InterfaceDescriptionOption::IfTsResol(9),
            ],
        })?;
        // A file that takes nothing says so at once.
        writer.get_mut().flush()?;
        Ok(Self {
            writer,
            cycle_ns: 1000.0 / clock_mhz,
            start: None,
            captured: Captured::default(),
        })
    }

    /// Adds a frame.
    pub fn frame(&mut self, frame: &CapturedFrame) -> Result<(), CaptureError> {
        let (day, clock) = *self.start.get_or_insert_with(|| {
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            (now.unwrap_or_default(), frame.time_cycles)
        });
        let since = frame.time_cycles.wrapping_sub(clock) as i64 as f64 * self.cycle_ns;
        let offset = Duration::from_nanos(since.abs() as u64);
        let timestamp = if since < 0.0 {
            day.saturating_sub(offset)
        } else {
            day + offset
        };
        let mut flags = match frame.direction {
            Direction::Received => INBOUND,
            Direction::Sent => OUTBOUND,
        };
        if frame.bad_fcs {
            flags |= CRC_ERROR;
        }
        let mut options = vec![EnhancedPacketOption::Flags(flags)];
        if frame.lost_before > 0 {
            options.push(EnhancedPacketOption::DropCount(frame.lost_before.into()));
        }
        self.writer.write_pcapng_block(EnhancedPacketBlock {
            interface_id: 0,
            timestamp,
            original_len: frame.original_length.into(),
            data: Cow::Borrowed(&frame.bytes),
            options,
        })?;
        let captured = &mut self.captured;
        captured.frames += 1;
        match frame.direction {
            Direction::Received => captured.received += 1,
            Direction::Sent => captured.sent += 1,
        }
        captured.bad_fcs += u64::from(frame.bad_fcs);
        captured.truncated += u64::from(frame.bytes.len() < usize::from(frame.original_length));
        captured.bytes += u64::from(frame.original_length);
        captured.lost += u64::from(frame.lost_before);
        Ok(())
    }

    /// Writes what a capture has, and answers how many frames that were.
    pub fn drain(&mut self, capture: &mut Capture) -> Result<usize, CaptureError> {
        let mut frames = 0;
        while let Some(frame) = capture.poll()? {
            self.frame(&frame)?;
            frames += 1;
        }
        if frames > 0 {
            self.writer.get_mut().flush()?;
        }
        Ok(frames)
    }

    /// What was written so far.
    pub fn captured(&self) -> Captured {
        self.captured
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pcap_file::pcapng::{Block, PcapNgReader};

    #[test]
    fn direction_verdict_and_loss_are_in_the_file() {
        let mut file = CaptureFile::new(Vec::new(), "card", 250.0).expect("a vector takes it");
        let mut frame = CapturedFrame {
            time_cycles: 1000,
            direction: Direction::Received,
            bad_fcs: true,
            original_length: 100,
            lost_before: 0,
            bytes: vec![7; 60],
        };
        file.frame(&frame).expect("written");
        frame.time_cycles = 1250;
        frame.direction = Direction::Sent;
        frame.bad_fcs = false;
        frame.lost_before = 3;
        file.frame(&frame).expect("written");
        let captured = file.captured();
        assert_eq!(
            (
                captured.frames,
                captured.bad_fcs,
                captured.truncated,
                captured.lost
            ),
            (2, 1, 2, 3)
        );

        let bytes = file.writer.into_inner();
        let mut reader = PcapNgReader::new(bytes.as_slice()).expect("pcapng");
        let mut packets = Vec::new();
        while let Some(block) = reader.next_block() {
            if let Block::EnhancedPacket(packet) = block.expect("sound") {
                packets.push((
                    packet.timestamp,
                    packet.original_len,
                    packet
                        .options
                        .clone()
                        .into_iter()
                        .map(|o| match o {
                            EnhancedPacketOption::Flags(flags) => u64::from(flags),
                            EnhancedPacketOption::DropCount(count) => count << 32,
                            _ => u64::MAX,
                        })
                        .sum::<u64>(),
                ));
            }
        }
        let [(first, 100, 0x0100_0001), (second, 100, 0x3_0000_0002)] = packets[..] else {
            panic!("{packets:x?}");
        };
        assert_eq!(second - first, Duration::from_nanos(1000));
    }
}
