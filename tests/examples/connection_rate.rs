//! Many connections to many hosts, each asked for by ARP or told by a record: frames, simulated time and time of the host.
//!
//! ```sh
//! cargo run -p weft-tests --example connection_rate -- 10000     # connections, each to a host of its own
//! valgrind --tool=callgrind target/debug/examples/connection_rate 10000 record     # one way alone (or arp), its instructions
//! ```
//!
//! One functional model; the hosts are scripted (`weft_tests::peer`): they answer ARP, take a SYN, and reply to the MPA request.

use std::collections::BTreeMap;
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use weft_hostdrv::cm::*;
use weft_hostdrv::verbs::QpInit;
use weft_hostdrv::{Device, DeviceConfig};
use weft_sim::kind::CardKind;
use weft_sim::link::LinkConfig;
use weft_sim::transport::SimTransport;
use weft_sim::world::{Stop, World};
use weft_tests::peer::{mpa_frame, Peer, Station};

const PORT: u16 = 4791;
const MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
const IP: [u8; 4] = [10, 0, 0, 1];
/// Connections under way at a time.
const AT_ONCE: usize = 32;

fn host_ip(number: usize) -> [u8; 4] {
    let number = 256 + number as u16;
    [10, 0, (number >> 8) as u8, number as u8]
}

fn host_mac(number: usize) -> [u8; 6] {
    let [_, _, c, d] = host_ip(number);
    [2, 1, 0, 0, c, d]
}

/// The hosts that somebody speaks with now.
struct Hosts {
    peers: BTreeMap<[u8; 4], Peer>,
    frames: [u64; 2],
}

impl Hosts {
    fn add(&mut self, number: usize) {
        let (mac, ip) = (host_mac(number), host_ip(number));
        let local = Station {
            mac,
            ip,
            port: PORT,
        };
        let card = Station {
            mac: MAC,
            ip: IP,
            port: 0,
        };
        let mut peer = Peer::new(local, card, number as u32);
        peer.listening = true;
        self.peers.insert(ip, peer);
    }

    /// What the hosts say to a frame.
    fn answer(&mut self, frame: &[u8]) -> Vec<Vec<u8>> {
        let arp = frame[12..14] == [8, 6];
        let to = if arp { 38 } else { 30 };
        self.frames[usize::from(arp)] += 1;
        let to = [frame[to], frame[to + 1], frame[to + 2], frame[to + 3]];
        let Some(peer) = self.peers.get_mut(&to) else {
            return Vec::new();
        };
        peer.receive(frame);
        if peer.received.len() >= 20 {
            peer.received.clear();
            peer.send(&mpa_frame(b"MPA ID Rep Frame", 0x40, 1, &[]));
        }
        let frames = peer.take_frames();
        for frame in &frames {
            self.frames[usize::from(frame[12..14] == [8, 6])] += 1;
        }
        frames
    }
}

fn run(connections: usize, records: bool) -> Result<(), Box<dyn Error>> {
    let mut world = World::new(1);
    world.add_card(CardKind::Model.build(1, 0));
    let link = world.open_link(0, LinkConfig::default());
    world.keep_outside();
    let world = Arc::new(Mutex::new(world));
    let config = DeviceConfig::new(MAC, IP.into()).seed(1).keepalive(None);
    let config = config.netmask([255, 255, 0, 0].into());
    let device = Device::open(Arc::new(SimTransport::new(&world, 0)), config)?;
    let (pd, cq) = (device.alloc_pd()?, device.create_cq(1024, None)?);
    let channel = device.create_event_channel();
    let param = ConnParam {
        mpa_revision: Revision::Rev1,
        ..ConnParam::default()
    };
    let source = Source {
        ip: IP.into(),
        mac: MAC,
    };
    let mut hosts = Hosts {
        peers: BTreeMap::new(),
        frames: [0; 2],
    };
    let init = QpInit::new(&cq);
    let (begun, wall) = (device.now(), Instant::now());
    let mut waited = 0;
    for first in (0..connections).step_by(AT_ONCE) {
        let mut ids = Vec::new();
        let mut since = BTreeMap::new();
        for number in first..connections.min(first + AT_ONCE) {
            hosts.add(number);
            let to = SocketAddrV4::new(Ipv4Addr::from(host_ip(number)), PORT);
            let id = channel.create_id();
            if records {
                let route = RouteRecord::iwarp(source, to, host_mac(number), 1500);
                id.resolve_with(&AddrInfo::of_route(route, 0))?;
            } else {
                id.resolve_addr(to)?;
                channel.expect_event(CmEventType::AddrResolved, None)?;
                id.resolve_route()?;
                channel.expect_event(CmEventType::RouteResolved, None)?;
            }
            id.create_qp(&pd, &init)?;
            id.connect(&param)?;
            since.insert(to, device.now());
            ids.push(id);
        }
        let (mut established, mut still) = (0, 0);
        while established < ids.len() {
            while let Some(event) = channel.try_get_event()? {
                if event.event != CmEventType::Established {
                    return Err(format!("{event:?}").into());
                }
                established += 1;
                let peer = event.id.peer_addr().ok_or("no peer")?;
                waited += device.now() - since[&peer];
            }
            let handled = device.progress()?;
            let mut world = world.lock().map_err(|_| "the world broke")?;
            let until = world.now() + 1_000;
            let stop = world.step(until)?;
            let said = world.take_outside();
            let quiet = stop == Stop::Quiet && said.is_empty() && handled == 0;
            still = if quiet { still + 1 } else { 0 };
            if still > 1 {
                // The device has seen all that came, and nobody says anything until a timer of it is due.
                let due = device.next_deadline().unwrap_or(until);
                world.run(Some(due.max(until)))?;
            }
            for (_, frame) in said {
                for answer in hosts.answer(&frame) {
                    world.inject(link, answer);
                }
            }
        }
        drop(ids);
        hosts.peers.clear();
    }
    let (time, wall) = (device.now() - begun, wall.elapsed());
    let n = connections as f64;
    println!(
        "| {} | {} | {} | {:.2} | {:.1} | {:.1} | {:.2} |",
        if records { "a record" } else { "ARP" },
        hosts.frames[1],
        hosts.frames[0],
        (hosts.frames[0] + hosts.frames[1]) as f64 / n,
        waited as f64 / n / 1000.0,
        time as f64 / 1e6,
        wall.as_secs_f64(),
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let connections = match std::env::args().nth(1) {
        Some(number) => number.parse()?,
        None => 10_000,
    };
    println!("{connections} connections, {AT_ONCE} at a time\n");
    println!("| the way by | frames of ARP | of TCP | frames each | µs each to ESTABLISHED | simulated ms in all | s of the host |");
    println!("|---|---|---|---|---|---|---|");
    let only = std::env::args().nth(2);
    for (way, records) in [("arp", false), ("record", true)] {
        if only.as_deref().is_none_or(|only| only == way) {
            run(connections, records)?;
        }
    }
    Ok(())
}
