//! What settings and a peer's MSS make of a new connection: its window, its segments, its sender.

use crate::interface::config::EngineConfig;
use weft_tcp::rtt::Granularity;
use weft_tcp::sender::Settings;

/// What the sender of a connection is to do.
pub fn sender_settings(config: &EngineConfig) -> Settings {
    Settings {
        granularity: Granularity {
            alone: config.rto_min,
            in_flight: config.rto_min_in_flight.min(config.rto_min),
        },
        rto_max: config.rto_max,
        peer_ack_delay: config.peer_ack_delay,
        congestion: config.congestion,
        pacing: config.pacing,
        runs: config.memory.runs,
    }
}

/// The receive window of a new connection.
pub fn window_size(config: &EngineConfig) -> u32 {
    config
        .receive_window
        .clamp(1 << 17, 1 << 29)
        .next_power_of_two()
}

/// The smallest shift with which it fits into 16 bits (RFC 7323 §2.2).
pub fn own_scale(config: &EngineConfig) -> u8 {
    let window = window_size(config);
    (0..14)
        .find(|shift| window >> shift <= 0xffff)
        .unwrap_or(14)
}

/// Without an MSS option (RFC 9293 §3.7.1, MUST-15).
pub const DEFAULT_MSS: u16 = 536;
/// Octets of the timestamps option in each segment.
const TIMESTAMPS: u16 = 12;
/// The smallest segment that holds an FPDU of 128 octets of ULPDU, with a marker. MPA makes no smaller ones (RFC 5044 §4.5), and
/// the card does not cut one in two.
pub const MIN_SEGMENT: u16 = 140;

/// The same of a connection in stream mode: who says an MSS of less than 48 octets, timestamps included, wants to make work.
pub const MIN_STREAM_SEGMENT: u16 = 36;

/// The most data that a segment to a peer that said `mss` may have on a way of this MTU (RFC 9293 §3.7.1, MUST-16). `None`: less than `least`.
/// An MSS of 0 says nothing, as with Linux.
pub fn segment_size(mtu: u16, mss: Option<u16>, timestamps: bool, least: u16) -> Option<u32> {
    let theirs = mss.filter(|mss| *mss > 0).unwrap_or(DEFAULT_MSS);
    let options = if timestamps { TIMESTAMPS } else { 0 };
    let size = mtu.saturating_sub(40).min(theirs);
    let size = size.saturating_sub(options);
    (size >= least).then_some(u32::from(size))
}
