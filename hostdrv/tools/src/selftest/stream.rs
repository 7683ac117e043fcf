//! A TCP stream from the card to itself, and the same in software.

use weft_layout::{table, AttachRow, FlowKeyRow, FlowRxRow, FlowTxRow, Job, JobKind, StagRow};

use super::bench::{Bench, MAC, SECRET};
use super::{Context, Failure};
use weft_card_transport::dma::DmaBuffer;

const LOCAL_IP: [u8; 4] = [192, 0, 2, 1];
const REMOTE_IP: [u8; 4] = [192, 0, 2, 2];
const LOCAL_PORT: [u8; 2] = 4791u16.to_be_bytes();
const REMOTE_PORT: [u8; 2] = 7174u16.to_be_bytes();
const TTL: u8 = 64;
const ACK: u32 = 0x1234_5678;
const WINDOW: u16 = 0x7fff;
const ACK_PSH: u8 = 0x18;
const PD: u32 = 7;

/// The region's STag, and the TO of its first byte.
pub(super) const STAG: u32 = 1 << 8 | 0x5a;
pub(super) const BASE: u64 = 0x0123_4567_89ab_c000;
/// log2 of the receive queue's elements.
pub(super) const RQ_LOG2: u8 = 6;

/// RDMAP control bytes: version 1 and the opcode.
pub(super) const WRITE: u8 = 0x40;
pub(super) const SEND: u8 = 0x43;

/// What the stream is like.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shape {
    /// CRC32C is generated and checked.
    pub(super) crc: bool,
    /// With markers from this sequence number on.
    pub(super) markers: Option<u32>,
    /// With TCP timestamps: TSval and TSecr.
    pub(super) timestamps: Option<(u32, u32)>,
}

/// The stream.
pub(super) struct Stream {
    pub(super) flow: u16,
    pub(super) shape: Shape,
    /// Of the next byte sent.
    pub(super) seq: u32,
    identification: u16,
}

impl Stream {
    /// Sets up the sending side. The receiving side is no flow: what is sent comes back in the raw ring.
    pub(super) fn new(c: &Context, bench: &mut Bench, shape: Shape) -> Result<Self, Failure> {
        let flow = (c.caps.flows - 1) as u16;
        let row = FlowTxRow {
            flags: 0,
            ttl: TTL,
            tos: 0,
            remote_mac: MAC,
            local_mac: MAC,
            local_ip: LOCAL_IP,
            remote_ip: REMOTE_IP,
            local_port: LOCAL_PORT,
            remote_port: REMOTE_PORT,
            marker_base: shape.markers.unwrap_or(0),
            pack: 0,
        }
        .with_valid(true)
        .with_markers(shape.markers.is_some())
        .with_crc(shape.crc)
        .with_timestamps(shape.timestamps.is_some());
        bench.row(table::FLOW_TX, flow.into(), &row.to_bytes())?;
        Ok(Self {
            flow,
            shape,
            seq: 0xffff_f000,
            identification: 0,
        })
    }

    /// Sets up the receiving side too, with a region in `memory` and a receive queue at `rq`.
    pub(super) fn to_itself(
        c: &Context,
        bench: &mut Bench,
        shape: Shape,
        memory: &DmaBuffer,
        rq: &DmaBuffer,
    ) -> Result<Self, Failure> {
        let mut stream = Self::new(c, bench, shape)?;
        let mut key = [0; 12];
        key[..8].copy_from_slice(&REMOTE_KEY);
        key[8..10].copy_from_slice(&LOCAL_PORT);
        key[10..].copy_from_slice(&REMOTE_PORT);
        let bucket = 2 * (SECRET.hash(&key) & (c.caps.flows / 2 - 1));
        let row = FlowKeyRow {
            valid: FlowKeyRow::VALID,
            flow: stream.flow,
            remote_ip: LOCAL_IP,
            local_ip: REMOTE_IP,
            remote_port: LOCAL_PORT,
            local_port: REMOTE_PORT,
        };
        bench.row(table::FLOW_KEY, bucket, &row.to_bytes())?;
        let row = FlowRxRow {
            rq_log2: RQ_LOG2,
            pd: PD,
            marker_base: shape.markers.unwrap_or(0),
            rq_base: rq.iova(),
            ..FlowRxRow::default()
        }
        .with_valid(true)
        .with_markers(shape.markers.is_some())
        .with_crc(shape.crc);
        bench.row(table::FLOW_RX, stream.flow.into(), &row.to_bytes())?;
        let row = StagRow {
            valid: StagRow::VALID,
            key: STAG as u8,
            access: StagRow::LOCAL_WRITE | StagRow::REMOTE_WRITE,
            pd: PD,
            base: BASE,
            length: memory.len() as u64,
            iova: memory.iova(),
        };
        bench.row(table::STAG, STAG >> 8, &row.to_bytes())?;
        let detached = AttachRow::default();
        bench.row(table::ATTACH, stream.flow.into(), &detached.to_bytes())?;
        stream.attach(bench, 1)?;
        Ok(stream)
    }

    /// Lets the card place what comes next.
    pub(super) fn attach(&mut self, bench: &mut Bench, msn: u32) -> Result<(), Failure> {
        let row = AttachRow {
            attached: AttachRow::ATTACHED,
            raw_seen: bench.card.raw_seen(),
            rcv_nxt: self.seq,
            msn,
            mo: 0,
            ..AttachRow::default()
        };
        if bench.card.attach(self.flow, &row) {
            return Ok(());
        }
        Err(Failure::differs(
            format!(
                "ATTACH of flow {} with raw_seen {}",
                self.flow, row.raw_seen
            ),
            "applied (TABLE_CMD reads 0)",
            "not applied",
        ))
    }

    /// A job of this stream for bytes at `iova`.
    pub(super) fn job(&self, kind: JobKind, iova: u64, length: usize) -> Job {
        let (ts_val, ts_ecr) = self.shape.timestamps.unwrap_or_default();
        Job {
            kind: kind.raw(),
            flow: self.flow,
            seq: self.seq,
            ack: ACK,
            window: WINDOW,
            tcp_flags: ACK_PSH,
            sge_count: u8::from(length > 0),
            ts_val,
            ts_ecr,
            length: length as u32,
            fpdu_payload: 8900,
            sge0_iova: iova,
            sge0_length: length as u32,
            ..Job::default()
        }
    }

    /// The FPDU that begins at the stream's sequence number (RFC 5044 §4).
    pub(super) fn fpdu(&self, ulpdu: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        // Where the ULPDU length is: a marker may stand before it.
        let mut header = None;
        let mut push = |out: &mut Vec<u8>, byte: u8| {
            let at = self.seq.wrapping_add(out.len() as u32);
            let due = |base: u32| at.wrapping_sub(base) % 512 == 0;
            if self.shape.markers.is_some_and(due) {
                let pointer = header.map_or(0, |header| (out.len() - header) as u16);
                out.extend_from_slice(&[0, 0]);
                out.extend_from_slice(&pointer.to_be_bytes());
            }
            header.get_or_insert(out.len());
            out.push(byte);
        };
        let pad = (4 - (2 + ulpdu.len()) % 4) % 4;
        let length = (ulpdu.len() as u16).to_be_bytes();
        for byte in length.iter().chain(ulpdu).chain(&[0; 3][..pad]) {
            push(&mut out, *byte);
        }
        // The first byte of the CRC brings the marker that may stand before it: the CRC covers that too.
        let covered = {
            push(&mut out, 0);
            out.pop();
            out.len()
        };
        let crc = if self.shape.crc {
            crc32c::crc32c(&out[..covered])
        } else {
            0
        };
        out.extend_from_slice(&crc.to_le_bytes());
        out
    }

    /// A frame of this stream as software makes it. The card counts the identification; `as_in` has it.
    pub(super) fn frame(&self, payload: &[u8], as_in: Option<&[u8]>) -> Vec<u8> {
        let identification = as_in
            .and_then(|frame| frame.get(18..20))
            .map_or(self.identification.to_be_bytes(), |bytes| {
                [bytes[0], bytes[1]]
            });
        let mut options = Vec::new();
        if let Some((val, ecr)) = self.shape.timestamps {
            options.extend_from_slice(&[1, 1, 8, 10]);
            options.extend_from_slice(&val.to_be_bytes());
            options.extend_from_slice(&ecr.to_be_bytes());
        }
        let tcp_length = 20 + options.len() + payload.len();
        let mut ip = vec![0x45, 0];
        ip.extend_from_slice(&(20 + tcp_length as u16).to_be_bytes());
        ip.extend_from_slice(&identification);
        ip.extend_from_slice(&[0x40, 0, TTL, 6, 0, 0]);
        ip.extend_from_slice(&LOCAL_IP);
        ip.extend_from_slice(&REMOTE_IP);
        let sum = checksum(&[&ip]);
        ip[10..12].copy_from_slice(&sum.to_be_bytes());
        let mut tcp = [LOCAL_PORT, REMOTE_PORT].concat();
        tcp.extend_from_slice(&self.seq.to_be_bytes());
        tcp.extend_from_slice(&ACK.to_be_bytes());
        tcp.extend_from_slice(&[((20 + options.len()) * 4) as u8, ACK_PSH]);
        tcp.extend_from_slice(&WINDOW.to_be_bytes());
        tcp.extend_from_slice(&[0; 4]);
        tcp.extend_from_slice(&options);
        tcp.extend_from_slice(payload);
        let pseudo = [
            &LOCAL_IP[..],
            &REMOTE_IP,
            &[0, 6],
            &(tcp_length as u16).to_be_bytes(),
        ]
        .concat();
        let sum = checksum(&[&pseudo, &tcp]);
        tcp[16..18].copy_from_slice(&sum.to_be_bytes());
        [&MAC[..], &MAC, &[8, 0], &ip, &tcp].concat()
    }
}

/// What a received packet's key begins with: its source and its destination.
const REMOTE_KEY: [u8; 8] = {
    let ([a, b, c, d], [e, f, g, h]) = (LOCAL_IP, REMOTE_IP);
    [a, b, c, d, e, f, g, h]
};

/// The Internet checksum (RFC 1071) of parts of which all but the last have even lengths.
pub(super) fn checksum(parts: &[&[u8]]) -> u16 {
    let mut sum = 0u32;
    for part in parts {
        for pair in part.chunks(2) {
            sum += u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |byte| u32::from(*byte));
        }
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// The ULPDU of a tagged message's last part.
pub(super) fn tagged(control: u8, stag: u32, to: u64, payload: &[u8]) -> Vec<u8> {
    let mut ulpdu = vec![0xc1, control];
    ulpdu.extend_from_slice(&stag.to_be_bytes());
    ulpdu.extend_from_slice(&to.to_be_bytes());
    ulpdu.extend_from_slice(payload);
    ulpdu
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_fpdu_of_rfc_5044() {
        let stream = Stream {
            flow: 0,
            shape: Shape {
                crc: true,
                markers: Some(0),
                timestamps: None,
            },
            seq: 0x1fc,
            identification: 0,
        };
        // The marker at 0x200 stands four octets behind the beginning of the length field.
        let fpdu = stream.fpdu(&[0xaa; 10]);
        assert_eq!(fpdu[..2], [0, 10]);
        assert_eq!(fpdu[4..8], [0, 0, 0, 4]);
        assert_eq!(fpdu.len(), 2 + 10 + 4 + 4);
        // One that begins with a marker, and one in which it stands before the CRC.
        let stream = Stream {
            seq: 0x200,
            ..stream
        };
        assert_eq!(stream.fpdu(&[0xaa; 10])[..6], [0, 0, 0, 0, 0, 10]);
        let stream = Stream {
            seq: 0x1f4,
            ..stream
        };
        let fpdu = stream.fpdu(&[0xaa; 10]);
        assert_eq!(fpdu[12..16], [0, 0, 0, 12]);
        assert_eq!(fpdu[16..], crc32c::crc32c(&fpdu[..16]).to_le_bytes());
    }
}
