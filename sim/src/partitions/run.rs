//! One load at one rung: two cards, their devices, and the connections between them.

use std::collections::VecDeque;
use std::hint::black_box;

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use weft_hostdrv::cm::ConnParam;
use weft_hostdrv::verbs::{QpInit, RecvWr, SendWr, Wc, WcOpcode, WcStatus};
use weft_hostdrv::Rung;

use super::figures::{Counts, Figures, HostFigures, Latencies, Moved};
use super::workload::Load;
use super::PartitionsError;
use crate::fabric::{Fabric, FabricConfig, FabricError};
use crate::host::{HostConfig, Hosts};
use crate::idle_polls::IdlePolls;
use crate::kind::CardKind;
use crate::link::{Faults, LinkConfig};
use crate::pair::{Operation, Pair, LATER, LIMIT};
use crate::seed::{generator, Stream};
use crate::transport::lock;

/// The first port that the second end listens on.
const PORT: u16 = 4800;

/// A message under way.
struct Under {
    length: usize,
    posted: u64,
}

/// A connection, with what is under way on it.
pub(super) struct Connection<'a> {
    pub(super) pair: Pair<'a>,
    under_way: VecDeque<Under>,
    /// Sends that the second end has received: answered, or done with.
    received: usize,
    sent: usize,
    posted: usize,
    /// The bytes that each slot of either end's target got last: always those that lie there in the source.
    filled: Vec<[Option<usize>; 2]>,
}

/// What a load runs on.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Both cards.
    pub kind: CardKind,
    /// The seed.
    pub seed: u64,
    /// Largest IPv4 packet.
    pub mtu: u16,
    /// Rate of the link.
    pub gbps: u64,
    /// Both hosts.
    pub host: HostConfig,
}

/// Whether a rung can be had.
pub enum Had {
    /// It can; with the clock of the processor that does it, in kHz, if one does.
    There(Option<u32>),
    /// Why not.
    Refused(String),
}

/// IdlePolls whether this rung can be had.
pub fn look(place: Place, rung: Rung) -> Result<Had, PartitionsError> {
    // With the engine on the card, which all of a device's queue pairs have, it is the device that can be had or not.
    let rungs = match rung {
        Rung::Firmware => vec![rung],
        _ => Vec::new(),
    };
    let made = Fabric::new(&FabricConfig {
        seed: place.seed,
        cards: vec![place.kind; 2],
        mtu: place.mtu,
        rungs,
        ..FabricConfig::default()
    });
    let fabric = match made {
        Err(FabricError::Device(why)) if rung == Rung::Firmware => {
            return Ok(Had::Refused(why.to_string()))
        }
        made => made?,
    };
    let device = fabric.device(0);
    let cq = device.create_cq(4, None)?;
    let made = device.alloc_pd()?.create_qp(&QpInit::new(&cq).rung(rung));
    Ok(match made {
        Ok(_) => Had::There(device.processor().map(|processor| processor.clock_khz())),
        Err(why) => Had::Refused(why.to_string()),
    })
}

/// Runs a load between two ends: the one that posts of this rung, the other one likewise unless the load says otherwise.
pub fn run(place: Place, rung: Rung, load: &Load) -> Result<Figures, PartitionsError> {
    with_looks(place, rung, load, &IdlePolls::default())
}

/// The same twice, the second time so that a profiler can tell what is counted.
pub(super) fn to_be_counted(
    place: Place,
    rung: Rung,
    load: &Load,
) -> Result<Figures, PartitionsError> {
    let looks = IdlePolls::noted();
    with_looks(place, rung, load, &looks)?;
    with_looks(place, rung, load, &looks.again())
}

fn with_looks(
    place: Place,
    rung: Rung,
    load: &Load,
    looks: &IdlePolls,
) -> Result<Figures, PartitionsError> {
    let Place {
        kind,
        seed,
        mtu,
        gbps,
        host,
    } = place;
    let link = LinkConfig {
        gbps,
        delay_ns: load.delay_ns,
        ..LinkConfig::default()
    };
    let fabric = Fabric::new(&FabricConfig {
        seed,
        cards: vec![kind; 2],
        link,
        mtu,
        rungs: load.rungs(rung)?.to_vec(),
        replay: load.replay,
        congestion: load.controller()?,
        looks: looks.clone(),
        ..FabricConfig::default()
    })?;
    let largest = load.sizes.iter().copied().max().unwrap_or(0);
    let slots = 2 * load.depth;
    let room = (largest * slots).max(64);
    let source: Vec<u8> = (0..room).map(|at| (at * 31 + at / 253) as u8).collect();
    let mut connections = Vec::new();
    for number in 0..load.connections {
        let port = PORT + number as u16;
        let param = ConnParam::default();
        let pair = Pair::connect(&fabric, port, &param, &param, &source, room)?;
        connections.push(Connection::new(pair, slots));
    }
    let mut work = Work {
        fabric: &fabric,
        load,
        largest,
        rng: generator(seed, Stream::Application),
        latencies: Latencies::default(),
        bytes: 0,
        posted: 0,
        done: 0,
    };
    // Each connection stands on both sides when its first message has gone through.
    for connection in &mut connections {
        connection.open(&work)?;
    }
    // Losses begin when all stand: what is measured is the data path.
    let faults = Faults {
        loss: load.loss,
        resegment: load.resegmented,
        ..Faults::default()
    };
    let mut world = lock(fabric.world());
    world.link(0).set_config(LinkConfig { faults, ..link });
    for end in [0, 1] {
        world.link(0).take_waits(end);
    }
    drop(world);
    let before = [0, 1].map(|n| Counts::of(&fabric, n));
    let start = fabric.now();
    let mut hosts = (!host.is_free()).then(|| Hosts::new(&fabric, host));
    match looks.are_known() {
        true => weft_partitions_counted(&mut work, &mut connections, hosts.as_mut())?,
        false => work.all(&mut connections, hosts.as_mut())?,
    }
    let used = hosts.map(|hosts| [0, 1].map(|n| hosts.used(n)));
    let time_ns = fabric.now() - start;
    let ends = [0, 1].map(|n| Counts::of(&fabric, n).since(&before[n]));
    let mut world = lock(fabric.world());
    let wires = [0, 1].map(|end| world.link(0).take_waits(end));
    drop(world);
    fabric.run_for(LATER)?;
    for connection in &connections {
        connection.check(&source, largest)?;
    }
    let moved = Moved {
        messages: load.messages,
        bytes: work.bytes,
        time_ns,
    };
    let mut figures = Figures::new(moved, work.latencies, ends, wires);
    figures.hosts = used.map(|used| used.map(|host| HostFigures::new(host, &figures, gbps)));
    Ok(figures)
}

/// All messages. While this runs, instructions are counted ([`super::instructions`]).
#[inline(never)]
fn weft_partitions_counted(
    work: &mut Work<'_>,
    connections: &mut [Connection<'_>],
    hosts: Option<&mut Hosts<'_>>,
) -> Result<(), PartitionsError> {
    let all = work.all(connections, hosts);
    // So that it stays a call.
    black_box(all)
}

/// What all connections share.
pub(super) struct Work<'a> {
    pub(super) fabric: &'a Fabric,
    pub(super) load: &'a Load,
    largest: usize,
    rng: ChaCha8Rng,
    latencies: Latencies,
    bytes: u64,
    pub(super) posted: usize,
    pub(super) done: usize,
}

impl Work<'_> {
    /// The next message.
    pub(super) fn draw(&mut self) -> (Operation, usize) {
        let load = self.load;
        let weights = [
            (Operation::Send, load.send),
            (Operation::Write, load.write),
            (Operation::Read, load.read),
        ];
        let mut at = self.rng.random_range(0..load.send + load.write + load.read);
        let found = weights.into_iter().find(|(_, weight)| {
            let here = at < *weight;
            at = at.wrapping_sub(*weight);
            here
        });
        let operation = found.map_or(Operation::Write, |(operation, _)| operation);
        let size = self.rng.random_range(0..load.sizes.len());
        (operation, load.sizes[size])
    }

    /// All messages.
    fn all(
        &mut self,
        connections: &mut [Connection<'_>],
        hosts: Option<&mut Hosts<'_>>,
    ) -> Result<(), PartitionsError> {
        if let Some(hosts) = hosts {
            return self.all_at_pace(connections, hosts);
        }
        while self.done < self.load.messages {
            for connection in &mut *connections {
                while self.posted < self.load.messages && connection.has_room(self.load.depth) {
                    let (operation, length) = self.draw();
                    connection.post(self, operation, length)?;
                    self.posted += 1;
                }
            }
            let (number, end, wc) = self.fabric.run_until("a completion", LIMIT, || {
                let all = connections.iter().enumerate();
                let mut ends = all.flat_map(|(n, c)| [(n, 0, c), (n, 1, c)]);
                ends.find_map(|(n, end, connection)| {
                    let cq = &connection.pair.ends[end].cq;
                    let nothing = |wc: &Result<Option<Wc>, _>| matches!(wc, Ok(None));
                    let polled = self.fabric.looks().look(|| cq.poll_one(), nothing);
                    polled.transpose().map(|wc| wc.map(|wc| (n, end, wc)))
                })
            })??;
            connections[number].take(self, end, &wc)?;
        }
        Ok(())
    }
}

impl<'a> Connection<'a> {
    fn new(pair: Pair<'a>, slots: usize) -> Self {
        Self {
            pair,
            under_way: VecDeque::new(),
            received: 0,
            sent: 0,
            posted: 0,
            filled: vec![[None; 2]; slots],
        }
    }

    /// Receives at both ends, and a Write of no bytes, that the responder may speak too.
    fn open(&mut self, work: &Work<'_>) -> Result<(), PartitionsError> {
        let slots = self.filled.len();
        for end in [0, 1] {
            for slot in 0..slots {
                self.post_receive(end, slot, work.largest)?;
            }
        }
        let to = self.pair.ends[1].target.remote();
        self.pair.ends[0]
            .qp
            .post_send(SendWr::write(0, to).signaled())?;
        let wc = self.pair.completion(0, "the first Write")?;
        succeeded(&wc)?;
        self.pair.established()?;
        Ok(())
    }

    /// A receive into a slot of an end's target.
    fn post_receive(&self, end: usize, slot: usize, largest: usize) -> Result<(), PartitionsError> {
        let end = &self.pair.ends[end];
        let receive = RecvWr::new(slot as u64);
        let at = end.target.sge((slot * largest) as u64, largest as u32);
        end.qp.post_recv(receive.sge(at))?;
        Ok(())
    }

    /// One more may be under way. (The second end has a receive for each Send: it posts one again before another comes.)
    pub(super) fn has_room(&self, depth: usize) -> bool {
        self.under_way.len() < depth && self.sent - self.received < depth
    }

    pub(super) fn post(
        &mut self,
        work: &mut Work<'_>,
        operation: Operation,
        length: usize,
    ) -> Result<(), PartitionsError> {
        let slots = self.filled.len();
        let slot = match operation {
            Operation::Send => self.sent % slots,
            _ => self.posted % slots,
        };
        let at = (slot * work.largest) as u64;
        let [a, b] = &self.pair.ends;
        let number = self.posted as u64;
        let bytes = length as u32;
        match operation {
            Operation::Send => {
                let send = SendWr::send(number).signaled();
                a.qp.post_send(send.sge(a.source.sge(at, bytes)))?;
                self.sent += 1;
            }
            Operation::Write => {
                let write = SendWr::write(number, b.target.remote().offset(at)).signaled();
                a.qp.post_send(write.sge(a.source.sge(at, bytes)))?;
                self.fill(1, slot, length);
            }
            Operation::Read => {
                let read = SendWr::read(number, b.source.remote().offset(at)).signaled();
                a.qp.post_send(read.sge(a.target.sge(at, bytes)))?;
                self.fill(0, slot, length);
            }
        }
        self.posted += 1;
        self.under_way.push_back(Under {
            length,
            posted: work.fabric.now(),
        });
        Ok(())
    }

    fn fill(&mut self, end: usize, slot: usize, length: usize) {
        self.filled[slot][end] = Some(length);
    }

    /// A completion of one of the ends.
    pub(super) fn take(
        &mut self,
        work: &mut Work<'_>,
        end: usize,
        wc: &Wc,
    ) -> Result<(), PartitionsError> {
        succeeded(wc)?;
        let echo = work.load.echo;
        match (end, wc.opcode) {
            // The second end has got a Send.
            (1, WcOpcode::Recv) => {
                let (slot, length) = (wc.wr_id as usize, wc.byte_len as usize);
                self.received += 1;
                self.fill(1, slot, length);
                self.post_receive(1, slot, work.largest)?;
                if echo {
                    let b = &self.pair.ends[1];
                    let at = (slot * work.largest) as u64;
                    b.qp.post_send(SendWr::send(0).sge(b.source.sge(at, wc.byte_len)))?;
                }
            }
            // The answer: they come in the order of the Sends.
            (0, WcOpcode::Recv) => {
                let slot = wc.wr_id as usize;
                self.fill(0, slot, wc.byte_len as usize);
                self.post_receive(0, slot, work.largest)?;
                self.end(work);
            }
            (0, WcOpcode::Send) if echo => {}
            (0, _) => self.end(work),
            _ => {}
        }
        Ok(())
    }

    /// The oldest message is done.
    fn end(&mut self, work: &mut Work<'_>) {
        let Some(done) = self.under_way.pop_front() else {
            return;
        };
        work.latencies.add(work.fabric.now() - done.posted);
        work.bytes += done.length as u64 * if work.load.echo { 2 } else { 1 };
        work.done += 1;
    }

    /// What each slot got last is there.
    fn check(&self, source: &[u8], largest: usize) -> Result<(), PartitionsError> {
        for (slot, filled) in self.filled.iter().enumerate() {
            for (end, last) in filled.iter().enumerate() {
                let Some(length) = *last else {
                    continue;
                };
                let at = slot * largest;
                let is = self.pair.ends[end].target.to_vec(at, length)?;
                if is != source[at..at + length] {
                    return Err(PartitionsError::Bytes { end, slot, length });
                }
            }
        }
        Ok(())
    }
}

fn succeeded(wc: &Wc) -> Result<(), PartitionsError> {
    match wc.status {
        WcStatus::Success => Ok(()),
        status => Err(PartitionsError::Completion {
            opcode: format!("{:?}", wc.opcode),
            status,
        }),
    }
}
