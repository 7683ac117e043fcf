//! Captures of a link as pcapng: two interfaces (one for each sending end), time stamps in
//! nanoseconds of simulated time, and a comment on each frame that the link did something to. The
//! bytes depend on nothing but the simulation, unless the time of day was asked for.

use std::borrow::Cow;
use std::io::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::{DataLink, Endianness, PcapResult};

/// A capture being written.
pub struct Capture {
    writer: PcapNgWriter<Box<dyn Write + Send>>,
    wall_clock: bool,
}

impl Capture {
    /// Begins a capture of the link `name` between the ends named.
    pub fn new(to: Box<dyn Write + Send>, name: &str, ends: [&str; 2]) -> PcapResult<Self> {
        let section = SectionHeaderBlock {
            endianness: Endianness::Little,
            major_version: 1,
            minor_version: 0,
            section_length: -1,
            options: vec![SectionHeaderOption::UserApplication(Cow::Borrowed("weft"))],
        };
        let mut writer = PcapNgWriter::with_section_header(to, section)?;
        for end in ends {
            writer.write_pcapng_block(InterfaceDescriptionBlock {
                linktype: DataLink::ETHERNET,
                snaplen: 0,
                options: vec![
                    InterfaceDescriptionOption::IfName(Cow::Owned(format!("{name} from {end}"))),
                    InterfaceDescriptionOption::IfTsResol(9),
                ],
            })?;
        }
        Ok(Self {
            writer,
            wall_clock: false,
        })
    }

    /// Stamps frames with the time of day instead, for a simulation that talks to the world outside.
    pub fn wall_clock(mut self) -> Self {
        self.wall_clock = true;
        self
    }

    /// Adds a frame sent by `end` (0 or 1) at `time`.
    pub fn frame(
        &mut self,
        time: u64,
        end: usize,
        frame: &[u8],
        comment: Option<&str>,
    ) -> PcapResult<()> {
        let timestamp = match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(now) if self.wall_clock => now,
            _ => Duration::from_nanos(time),
        };
        self.writer.write_pcapng_block(EnhancedPacketBlock {
            interface_id: end as u32,
            timestamp,
            original_len: frame.len() as u32,
            data: Cow::Borrowed(frame),
            options: comment
                .map(|c| EnhancedPacketOption::Comment(Cow::Owned(c.to_owned())))
                .into_iter()
                .collect(),
        })?;
        Ok(())
    }

    /// Writes out what is buffered.
    pub fn flush(&mut self) -> std::io::Result<()> {
        self.writer.get_mut().flush()
    }
}
