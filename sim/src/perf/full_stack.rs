//! The whole stack: verbs, driver, engine, two cards and a link. Host software takes no simulated time.

use cpu_time::ProcessTime;
use serde::Serialize;
use weft_hostdrv::cm::{ConnParam, RtrKinds};
use weft_hostdrv::verbs::SendWr;

use crate::card::CYCLE_NS;
use crate::fabric::{Fabric, FabricConfig};
use crate::kind::CardKind;
use crate::link::LinkConfig;
use crate::pair::{Operation, Pair, PairError};
use crate::perf::writes::{Writes, INLINE};
use crate::transport::lock;

/// What the host and its card did for each message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PerMessage {
    /// MMIO reads.
    pub mmio_reads: f64,
    /// MMIO writes.
    pub mmio_writes: f64,
    /// Bytes that the card read from host memory.
    pub dma_read_bytes: f64,
    /// Bytes that it wrote.
    pub dma_write_bytes: f64,
    /// Calls of the engine.
    pub engine_steps: f64,
}

/// Writes of one size, several under way.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Bandwidth {
    /// Bytes of a message.
    pub bytes: usize,
    /// Messages.
    pub messages: usize,
    /// Cycles for a message.
    pub cycles: f64,
    /// Gb/s of message bytes.
    pub gbps: f64,
    /// At the sender.
    pub sender: PerMessage,
    /// At the receiver.
    pub receiver: PerMessage,
}

/// A ping and its pong, both by Send.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PingPong {
    /// Bytes of a message.
    pub bytes: usize,
    /// Cycles for both directions.
    pub cycles: f64,
}

/// What was measured.
#[derive(Clone, Debug, Serialize)]
pub struct FullStack {
    /// Largest IPv4 packet.
    pub mtu: u16,
    /// One-way delay of the link.
    pub link_delay_ns: u64,
    /// Rate of the link.
    pub link_gbps: u64,
    /// Ping-pongs.
    pub pingpong: Vec<PingPong>,
    /// Cycles from the post of a Write of 64 bytes to its completion, nothing else being under way.
    pub lone_write_cycles: f64,
    /// Bandwidth by size.
    pub bandwidth: Vec<Bandwidth>,
    /// Cycles for which a card was clocked in a second of one core's time, both cards together.
    pub simulated_per_second: f64,
}

#[derive(Clone, Copy)]
struct Counts {
    mmio_reads: u64,
    mmio_writes: u64,
    read: u64,
    written: u64,
    steps: u64,
}

impl Counts {
    fn of(fabric: &Fabric, number: usize) -> Self {
        let host = fabric.device(number).host_stats();
        let (read, written) = lock(fabric.world()).iommu(number).bytes();
        Self {
            mmio_reads: host.mmio_reads,
            mmio_writes: host.mmio_writes,
            read,
            written,
            steps: host.engine_steps,
        }
    }

    fn per_message(self, before: Self, messages: usize) -> PerMessage {
        let each = |now: u64, then: u64| (now - then) as f64 / messages as f64;
        PerMessage {
            mmio_reads: each(self.mmio_reads, before.mmio_reads),
            mmio_writes: each(self.mmio_writes, before.mmio_writes),
            dma_read_bytes: each(self.read, before.read),
            dma_write_bytes: each(self.written, before.written),
            engine_steps: each(self.steps, before.steps),
        }
    }
}

/// Ping-pongs and lone Writes of a size.
const ROUNDS: u64 = 20;

/// Measures.
pub fn run(kind: CardKind, seed: u64, mtu: u16) -> Result<FullStack, PairError> {
    let link = LinkConfig {
        gbps: kind.gbps(),
        ..LinkConfig::default()
    };
    let fabric = Fabric::new(&FabricConfig {
        seed,
        cards: vec![kind; 2],
        link,
        mtu,
        ..FabricConfig::default()
    })?;
    let way = ConnParam {
        peer_to_peer: Some(true),
        rtr: Some(RtrKinds::READ),
        ..ConnParam::default()
    };
    let room = 1 << 20;
    let source: Vec<u8> = (0..room).map(|i| (i * 31) as u8).collect();
    let mut pair = Pair::connect(&fabric, 4000, &way, &ConnParam::default(), &source, room)?;
    pair.established()?;
    let clock = ProcessTime::now();
    let clocked = || {
        let world = lock(fabric.world());
        world.work(0).0 + world.work(1).0
    };
    let before = clocked();
    let mut pingpong = Vec::new();
    for bytes in [64, 4096] {
        let mut cycles = 0;
        for _ in 0..ROUNDS {
            for from in [0, 1] {
                cycles += if bytes <= INLINE {
                    let payload = [0x57; INLINE];
                    pair.send(from, 0, bytes, SendWr::send(2).inline(&payload[..bytes]))?
                } else {
                    pair.transfer(Operation::Send, from, 0, 0, bytes)?
                };
            }
        }
        pingpong.push(PingPong {
            bytes,
            cycles: cycles as f64 / ROUNDS as f64,
        });
    }
    let mut cycles = 0;
    for _ in 0..ROUNDS {
        cycles += pair.transfer(Operation::Write, 0, 0, 0, 64)?;
    }
    let lone_write_cycles = cycles as f64 / ROUNDS as f64;
    let mut bandwidth = Vec::new();
    for (bytes, messages) in [
        (64, 400),
        (1024, 400),
        (4096, 300),
        (65_536, 40),
        (1 << 20, 4),
    ] {
        bandwidth.push(writes(&fabric, &pair, bytes, messages)?);
    }
    let simulated_per_second = (clocked() - before) as f64 / clock.elapsed().as_secs_f64();
    pair.disconnect()?;
    Ok(FullStack {
        mtu,
        link_delay_ns: link.delay_ns,
        link_gbps: link.gbps,
        pingpong,
        lone_write_cycles,
        bandwidth,
        simulated_per_second,
    })
}

fn writes(
    fabric: &Fabric,
    pair: &Pair<'_>,
    bytes: usize,
    messages: usize,
) -> Result<Bandwidth, PairError> {
    let before = [0, 1].map(|n| Counts::of(fabric, n));
    let start = fabric.now();
    let mut writes = Writes::default();
    while writes.done < messages {
        writes.one_more(fabric, pair, bytes, messages)?;
    }
    let cycles = (fabric.now() - start) as f64 / CYCLE_NS as f64 / messages as f64;
    let after = [0, 1].map(|n| Counts::of(fabric, n));
    Ok(Bandwidth {
        bytes,
        messages,
        cycles,
        gbps: bytes as f64 * 8.0 / (cycles * CYCLE_NS as f64),
        sender: after[0].per_message(before[0], messages),
        receiver: after[1].per_message(before[1], messages),
    })
}
