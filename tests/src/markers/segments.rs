//! From a capture file to TCP segments.

use std::fs::File;
use std::net::SocketAddrV4;
use std::path::Path;

use etherparse::{NetSlice, SlicedPacket, TransportSlice};
use pcap_file::pcap::PcapReader;
use pcap_file::pcapng::{Block, PcapNgReader};

use super::CheckError;

/// A TCP segment with a right checksum.
#[derive(Clone, Debug)]
pub struct Segment {
    /// Number of its frame in the file, from 1 on, as Wireshark counts.
    pub frame: usize,
    /// Who sent it.
    pub from: SocketAddrV4,
    /// To whom.
    pub to: SocketAddrV4,
    /// Sequence number.
    pub seq: u32,
    /// SYN.
    pub syn: bool,
    /// ACK.
    pub ack: bool,
    /// FIN.
    pub fin: bool,
    /// RST.
    pub rst: bool,
    /// Payload.
    pub payload: Vec<u8>,
}

/// The frames of a file.
pub fn read_frames(path: &Path) -> Result<Vec<Vec<u8>>, CheckError> {
    let bytes = std::fs::read(path).map_err(|e| CheckError::Read {
        path: path.display().to_string(),
        reason: e.to_string(),
    })?;
    let format = |reason: String| CheckError::Format {
        path: path.display().to_string(),
        reason,
    };
    match bytes.get(..4) {
        Some([0x0a, 0x0d, 0x0d, 0x0a]) => pcapng_frames(path).map_err(format),
        _ => pcap_frames(path).map_err(format),
    }
}

/// How many frames a file has, how many segments in them had a wrong checksum, and the other segments.
pub fn read_segments(path: &Path) -> Result<(usize, usize, Vec<Segment>), CheckError> {
    let frames = read_frames(path)?;
    let mut segments = Vec::new();
    let mut bad = 0;
    for (index, frame) in frames.iter().enumerate() {
        match segment(index + 1, frame) {
            Some(Ok(segment)) => segments.push(segment),
            Some(Err(())) => bad += 1,
            None => {}
        }
    }
    Ok((frames.len(), bad, segments))
}

fn pcap_frames(path: &Path) -> Result<Vec<Vec<u8>>, String> {
    let file = File::open(path).map_err(|e| e.to_string())?;
    let mut reader = PcapReader::new(file).map_err(|e| e.to_string())?;
    let mut frames = Vec::new();
    while let Some(packet) = reader.next_packet() {
        match packet {
            Ok(packet) => frames.push(packet.data.into_owned()),
            // QEMU that is killed leaves half a record at the end.
            Err(pcap_file::PcapError::IncompleteBuffer) => break,
            Err(e) => return Err(e.to_string()),
        }
    }
    Ok(frames)
}

fn pcapng_frames(path: &Path) -> Result<Vec<Vec<u8>>, String> {
    let file = File::open(path).map_err(|e| e.to_string())?;
    let mut reader = PcapNgReader::new(file).map_err(|e| e.to_string())?;
    let mut frames = Vec::new();
    while let Some(block) = reader.next_block() {
        match block {
            Ok(Block::EnhancedPacket(packet)) => frames.push(packet.data.into_owned()),
            Ok(Block::SimplePacket(packet)) => frames.push(packet.data.into_owned()),
            Ok(_) => {}
            Err(pcap_file::PcapError::IncompleteBuffer) => break,
            Err(e) => return Err(e.to_string()),
        }
    }
    Ok(frames)
}

/// The TCP segment in a frame, if there is a whole one over IPv4; `Err` if its checksum is wrong.
fn segment(frame: usize, bytes: &[u8]) -> Option<Result<Segment, ()>> {
    let packet = SlicedPacket::from_ethernet(bytes).ok()?;
    let (Some(NetSlice::Ipv4(ip)), Some(TransportSlice::Tcp(tcp))) =
        (&packet.net, &packet.transport)
    else {
        return None;
    };
    let header = ip.header();
    let sum = tcp
        .calc_checksum_ipv4(header.source(), header.destination())
        .ok()?;
    // Ones' complement has two zeros, and Linux writes 0xffff where the sum is 0.
    let written = tcp.checksum();
    if sum != written && (sum, written) != (0, 0xffff) {
        return Some(Err(()));
    }
    Some(Ok(Segment {
        frame,
        from: SocketAddrV4::new(header.source_addr(), tcp.source_port()),
        to: SocketAddrV4::new(header.destination_addr(), tcp.destination_port()),
        seq: tcp.sequence_number(),
        syn: tcp.syn(),
        ack: tcp.ack(),
        fin: tcp.fin(),
        rst: tcp.rst(),
        payload: tcp.payload().to_vec(),
    }))
}

#[cfg(test)]
mod tests {
    use etherparse::PacketBuilder;

    use super::segment;

    /// A frame with this payload; where the checksum of its TCP header is.
    fn frame(payload: [u8; 2]) -> (Vec<u8>, usize) {
        let builder = PacketBuilder::ethernet2([2; 6], [4; 6])
            .ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
            .tcp(1, 2, 3, 4);
        let mut frame = Vec::new();
        builder.write(&mut frame, &payload).expect("a short frame");
        (frame, 14 + 20 + 16)
    }

    #[test]
    fn a_checksum_of_0_may_be_written_as_ffff() {
        let (mut without, at) = frame([0; 2]);
        let (mut zero, _) = frame([without[at], without[at + 1]]);
        assert_eq!(zero[at..at + 2], [0; 2]);
        for (frame, right) in [(&mut zero, true), (&mut without, false)] {
            frame[at..at + 2].copy_from_slice(&[0xff; 2]);
            let read = segment(1, frame).expect("TCP");
            assert_eq!(read.is_ok(), right);
        }
    }
}
