//! A segment as it was seen, by the card or here.

use weft_layout::{refusal, SegmentReport};
use weft_wire::ethernet::EthernetHeader;
use weft_wire::ipv4::Ipv4Packet;
use weft_wire::tcp::{flag, Options, SackBlocks, TcpSegment};

use crate::handover::attach::is_carried;
use crate::handover::out_of_order::Piece;
use crate::tcp::acceptance::{Arriving, DropReason};

/// A segment.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// Sequence number.
    pub seq: u32,
    /// Acknowledgment number.
    pub ack: u32,
    /// Control bits.
    pub flags: u8,
    /// Window field.
    pub window: u16,
    /// TSval and TSecr.
    pub timestamps: Option<(u32, u32)>,
    /// SACK blocks.
    pub sack: SackBlocks,
    /// MSS, window scale, SACK permitted: only if the engine parsed it.
    pub options: Options,
    /// Bytes of data.
    pub length: u32,
    /// Of these, from the front, what the card has dealt with.
    pub done: u32,
    /// The card has taken all of it, and carries the rest to the next segment.
    pub carried: bool,
    /// The data, if it is at hand.
    pub payload: &'a [u8],
    /// A switch has marked it (CE).
    pub marked: bool,
    /// The IP header has options (of a segment that the card looked up).
    pub ip_options: bool,
    /// The payload, if it stays in its raw slot.
    pub slot_piece: Option<Piece>,
    /// The card has refused it.
    pub refused: Option<DropReason>,
    /// The card has seen that all of it is old.
    pub duplicate: bool,
}

impl<'a> Seen<'a> {
    /// From a segment that the engine parsed.
    pub fn of_segment(segment: &TcpSegment<'a>) -> Self {
        Seen {
            seq: segment.seq,
            ack: segment.ack,
            flags: segment.flags,
            window: segment.window,
            timestamps: segment.options.timestamps,
            sack: segment.options.sack,
            options: segment.options,
            length: segment.payload.len() as u32,
            done: 0,
            carried: false,
            payload: segment.payload,
            marked: false,
            ip_options: false,
            slot_piece: None,
            refused: None,
            duplicate: false,
        }
    }

    /// From the card's report and the raw frame it may have. `None` if they make no sense, or what is needed of the frame
    /// was not written.
    pub fn of_report(report: &SegmentReport, raw: Option<&'a [u8]>) -> Option<Self> {
        let refused = match report.status & SegmentReport::REFUSAL_MASK {
            refusal::NONE => None,
            refusal => Some(DropReason::of_card(refusal)?),
        };
        let mut sack = SackBlocks::default();
        let blocks = [
            (report.sack0_left, report.sack0_right),
            (report.sack1_left, report.sack1_right),
            (report.sack2_left, report.sack2_right),
        ];
        for (left, right) in blocks
            .iter()
            .take(usize::from(report.flags >> SegmentReport::SACK_COUNT_SHIFT))
        {
            sack.push(*left, *right);
        }
        let mut seen = Seen {
            seq: report.seq,
            ack: report.ack,
            flags: report.tcp_flags,
            window: report.window,
            timestamps: report
                .timestamps()
                .then_some((report.ts_val, report.ts_ecr)),
            sack,
            options: Options::default(),
            length: u32::from(report.payload_len),
            done: u32::from(report.done_len.min(report.payload_len)),
            carried: is_carried(report),
            payload: &[],
            marked: is_marked(report.status),
            ip_options: false,
            slot_piece: None,
            refused,
            duplicate: report.duplicate(),
        };
        let written = report.raw() && !report.raw_failed();
        if let Some((segment, ip_options)) = raw.filter(|_| written).and_then(segment_of_frame) {
            seen.options = segment.options;
            seen.timestamps = segment.options.timestamps;
            seen.sack = segment.options.sack;
            seen.ip_options = ip_options;
            // The report and its frame speak of the same segment.
            if segment.payload.len() as u32 == seen.length {
                seen.payload = segment.payload;
            }
        } else if seen.flags & flag::SYN != 0 {
            // Without its options it says nothing.
            return None;
        }
        Some(seen)
    }

    /// The card has judged it, and taken it in order.
    pub(super) fn is_taken(&self) -> bool {
        self.done > 0 || self.carried
    }

    pub(super) fn arriving(&self) -> Arriving {
        Arriving {
            seq: self.seq,
            length: self.length,
            flags: self.flags,
            ts_val: self.timestamps.map(|(value, _)| value),
            ip_options: self.ip_options,
        }
    }
}

/// A report's status says that a switch has met congestion (CE, RFC 3168 §5).
pub fn is_marked(status: u8) -> bool {
    status & SegmentReport::IP_ECN_MASK == SegmentReport::IP_ECN_MASK
}

/// The TCP segment of a frame whose checksums the card has checked, and whether its IP header has options.
fn segment_of_frame(frame: &[u8]) -> Option<(TcpSegment<'_>, bool)> {
    let (_, packet) = EthernetHeader::parse(frame)?;
    let packet = Ipv4Packet::parse(packet).ok()?;
    let segment = TcpSegment::parse_unchecked(packet.payload).ok()?;
    Some((segment, packet.has_options))
}
