//! Captures of a link as pcapng: two interfaces (one for each sending end), time stamps in
//! nanoseconds of simulated time, and a comment on each frame that the link did something to. The
//! bytes depend on nothing but the simulation, unless the time of day was asked for.

use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::{DataLink, Endianness, PcapResult};
use rustix::fs::{flock, FlockOperation};
use rustix::io::Errno;

/// Begins the file of a capture. It is locked until it is closed: two runs that write one file would mix their frames.
///
/// # Errors
/// Another capture is being written there, or what the system says.
pub fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let file = options
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)?;
    // A pipe or a device has nothing to be mixed, and no length.
    if !file.metadata()?.is_file() {
        return Ok(file);
    }
    // A file system without locks has files all the same.
    if flock(&file, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK) {
        let why = "another run writes it now; wait for its end, or name another place";
        return Err(io::Error::new(io::ErrorKind::WouldBlock, why));
    }
    file.set_len(0)?;
    Ok(file)
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_capture_at_a_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("link0.pcapng");
        let mut first = create(&path).expect("is begun");
        first.write_all(b"frames").expect("is written");
        let refused = create(&path).expect_err("is another's");
        assert_eq!(refused.kind(), io::ErrorKind::WouldBlock);
        assert_eq!(std::fs::read(&path).expect("is there"), b"frames");
        drop(first);
        let next = create(&path).expect("is nobody's");
        assert_eq!(next.metadata().expect("is open").len(), 0);
        let nothing = Path::new("/dev/null");
        let _both = [create(nothing), create(nothing)].map(|file| file.expect("takes all"));
    }
}
