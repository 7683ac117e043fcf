//! An engine on the card's processor: what it is told of its configuration, and what it has of its own.
//!
//! The host makes a [`record`] of it, and where the engine is to be the [`configuration`] comes out of that again. Sizes of memory are not in it: the
//! firmware has what there is.

use core::fmt;

use weft_layout::{EcnUse, ProcEngine};
use weft_tcp::control::Congestion;

use crate::interface::config::Ecn;
use crate::interface::config::{EngineConfig, Memory};
use crate::interface::random::Seed;
use crate::interface::resource_split::ResourceSplit;
use crate::interface::rung::Rung;
use crate::management::commands::{congestion, congestion_number, same};

/// Connections at a time.
pub const CONNECTIONS: u16 = 32;
/// Work requests that all queues have together. Half of them may be sends, and a queue has no more than half.
pub const WORK: u32 = 1024;
/// Flows and STags of a card that it can have at most.
pub const FLOWS: u16 = 256;
/// See [`FLOWS`].
pub const STAGS: u32 = 1024;
/// Receive window of a connection.
pub const WINDOW: u32 = 1 << 17;
/// Bytes that all connections together may hold beyond their reserves.
pub const REASSEMBLY: u32 = 16 << 10;
/// Half-open connections.
pub const HALF_OPEN: u16 = 32;
/// Memory for each connection; what there is for all is in [`crate::management::budget`].
pub const MEMORY: Memory = Memory {
    // An FPDU of an Ethernet frame.
    reserve: 1536,
    longest: 6 << 10,
    in_flight: 6,
    runs: 32,
    gaps: 16,
    reads: 16,
    sends: Some(WORK / 2),
    // Entries of four pieces.
    words: Some(WORK / 2 * 16),
    each: 40,
    counted: true,
};
const _: () = assert!(MEMORY.reserve >= MAX_MTU as u32);
/// Largest IPv4 packet.
pub const MAX_MTU: u16 = 1500;
const MIN_MTU: u16 = 576;

same!(Ecn, EcnUse, ecn_number, ecn: Never WhenAsked Ask);

/// Why an engine on the card cannot be as it is configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotOnCard {
    /// Its packets are of another size.
    Mtu(u16),
    /// A program's own controller is code of the host.
    Congestion(&'static str),
    /// It is to have other sizes of memory than it has, or fewer of the card's rows than there are.
    Sizes,
}

impl fmt::Display for NotOnCard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotOnCard::Mtu(mtu) => write!(
                f,
                "an MTU of {mtu}: the engine on the card's processor (rung firmware) has {MIN_MTU} to {MAX_MTU}"
            ),
            NotOnCard::Congestion(name) => write!(
                f,
                "congestion control `{name}`: the engine on the card's processor (rung firmware) has those of its firmware: take one of them, or an engine on the host"
            ),
            NotOnCard::Sizes => f.write_str(
                "the engine on the card's processor (rung firmware) has the receive window, reassembly memory, send buffer, SYN cache and number of connections \
                 that there is memory for: leave them as they are by default",
            ),
        }
    }
}

impl core::error::Error for NotOnCard {}

fn is_set(ways: u8, way: u8) -> bool {
    ways & way != 0
}

/// What the host writes, but for where things lie and, with the second port, the frame ring.
///
/// # Errors
/// Something is asked for that an engine on the card does not have.
pub fn record(config: &EngineConfig) -> Result<ProcEngine, NotOnCard> {
    if !(MIN_MTU..=MAX_MTU).contains(&config.mtu) {
        return Err(NotOnCard::Mtu(config.mtu));
    }
    if let Congestion::Custom(custom) = config.congestion {
        return Err(NotOnCard::Congestion(custom.name));
    }
    let ways = [
        (config.pacing, ProcEngine::PACING),
        (config.timestamps, ProcEngine::TIMESTAMPS),
        (config.prompt_ack, ProcEngine::PROMPT_ACK),
        (config.fast_path, ProcEngine::SHORT_WAY),
        (config.attach, ProcEngine::ATTACH),
        (config.carry, ProcEngine::CARRY),
        (config.beyond, ProcEngine::BEYOND),
        (config.pack, ProcEngine::PACK),
    ];
    let ways = ways.iter().filter(|(on, _)| *on).map(|(_, way)| way).sum();
    let (mut seed, mut seed_more) = ([0; 16], [0; 16]);
    seed.copy_from_slice(&config.seed.0[..16]);
    seed_more.copy_from_slice(&config.seed.0[16..]);
    let record = ProcEngine {
        mac: config.mac,
        mtu: config.mtu,
        ip: config.ip,
        netmask: config.netmask,
        gateway: config.gateway.unwrap_or_default(),
        replay: config.replay,
        congestion: congestion_number(config.congestion),
        ecn: ecn_number(config.ecn),
        retries: config.retries,
        syn_retries: config.syn_retries,
        burst: config.burst,
        ways,
        initial_window: config.initial_window_segments,
        seed,
        seed_more,
        resets: config.resets,
        challenge_acks: config.challenge_acks,
        peer_ack_delay: config.peer_ack_delay,
        delayed_ack: config.delayed_ack,
        rto_min: config.rto_min,
        rto_min_in_flight: config.rto_min_in_flight,
        rto_max: config.rto_max,
        time_wait: config.time_wait,
        mpa_timeout: config.mpa_timeout,
        first_message_timeout: config.first_message_timeout,
        drain_timeout: config.drain_timeout,
        close_timeout: config.close_timeout,
        keepalive: config.keepalive.unwrap_or(0),
        ..ProcEngine::default()
    };
    let told = configuration(&record).ok_or(NotOnCard::Sizes)?;
    // Of its own, or as the card says.
    let usual = EngineConfig::default();
    let told = EngineConfig {
        on_card: config.on_card,
        hash_secret: config.hash_secret,
        split: config.split,
        max_connections: usual.max_connections,
        max_work: usual.max_work,
        receive_window: usual.receive_window,
        reassembly_memory: usual.reassembly_memory,
        memory: usual.memory,
        syn_cache: usual.syn_cache,
        ..told
    };
    if told == *config {
        Ok(record)
    } else {
        Err(NotOnCard::Sizes)
    }
}

/// The configuration of an engine on the card, but for the numbers of the card's rows; `None`: the record says what cannot be.
pub fn configuration(record: &ProcEngine) -> Option<EngineConfig> {
    if !(MIN_MTU..=MAX_MTU).contains(&record.mtu) {
        return None;
    }
    let mut seed = Seed([0; 32]);
    seed.0[..16].copy_from_slice(&record.seed);
    seed.0[16..].copy_from_slice(&record.seed_more);
    Some(EngineConfig {
        mac: record.mac,
        ip: record.ip,
        netmask: record.netmask,
        gateway: (record.gateway != [0; 4]).then_some(record.gateway),
        mtu: record.mtu,
        split: if record.frames == 0 {
            ResourceSplit::Whole
        } else {
            ResourceSplit::Second
        },
        max_connections: Some(CONNECTIONS),
        max_work: Some(WORK),
        seed,
        receive_window: WINDOW,
        reassembly_memory: REASSEMBLY,
        memory: MEMORY,
        initial_window_segments: record.initial_window,
        congestion: congestion(record.congestion)
            .filter(|c| !matches!(c, Congestion::Custom(_)))?,
        pacing: is_set(record.ways, ProcEngine::PACING),
        ecn: ecn(record.ecn)?,
        peer_ack_delay: record.peer_ack_delay,
        timestamps: is_set(record.ways, ProcEngine::TIMESTAMPS),
        rung: Rung::Firmware,
        on_card: true,
        attach: is_set(record.ways, ProcEngine::ATTACH),
        replay: record.replay,
        carry: is_set(record.ways, ProcEngine::CARRY),
        beyond: is_set(record.ways, ProcEngine::BEYOND),
        pack: is_set(record.ways, ProcEngine::PACK),
        fast_path: is_set(record.ways, ProcEngine::SHORT_WAY),
        syn_cache: HALF_OPEN,
        resets: record.resets,
        challenge_acks: record.challenge_acks,
        delayed_ack: record.delayed_ack,
        prompt_ack: is_set(record.ways, ProcEngine::PROMPT_ACK),
        burst: record.burst,
        rto_min: record.rto_min,
        rto_min_in_flight: record.rto_min_in_flight,
        rto_max: record.rto_max,
        retries: record.retries,
        syn_retries: record.syn_retries,
        time_wait: record.time_wait,
        mpa_timeout: record.mpa_timeout,
        first_message_timeout: record.first_message_timeout,
        drain_timeout: record.drain_timeout,
        close_timeout: record.close_timeout,
        keepalive: (record.keepalive > 0).then_some(record.keepalive),
        ..EngineConfig::default()
    })
}
