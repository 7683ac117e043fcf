//! This side's own numbers wrap: sequence numbers, job numbers.
#![allow(missing_docs)]

use crate::bench;

use bench::*;
use weft_engine::*;
use weft_wire::ethernet::EthernetHeader;
use weft_wire::ipv4::Ipv4Packet;
use weft_wire::tcp::{flag, TcpSegment};

const SIZE: u32 = 200_000;

/// Writes and a Read both ways, and an orderly end.
fn exchange(b: &mut Bench, markers: bool, note: &str) {
    let params = ConnectParams {
        local_port: Some(40_000),
        markers,
        ..Default::default()
    };
    let accept = AcceptParams {
        markers,
        ..Default::default()
    };
    let faults = std::mem::take(&mut b.faults);
    let pair = b.connect(&params, &accept);
    b.faults = faults;
    let access =
        Access::LOCAL_WRITE | Access::REMOTE_WRITE | Access::REMOTE_READ | Access::READ_SINK;
    let length = 4 * u64::from(SIZE);
    let regions = [
        b.hosts[0].region(length, access),
        b.hosts[1].region(length, access),
    ];
    for (n, region) in regions.iter().enumerate() {
        for (i, byte) in b.memory(n, region.1, SIZE as usize).iter_mut().enumerate() {
            *byte = (i * 7 + i / 251 + n) as u8;
        }
    }
    let at = |part: u64| part * u64::from(SIZE);
    for n in 0..2 {
        let there = regions[1 - n].0;
        let from = [sge(regions[n].0, 0, SIZE)];
        b.post_send(n, pair.qps[n], &write(1, there, 0x1000 + at(1), &from))
            .unwrap();
        let to = [sge(regions[n].0, at(2), SIZE)];
        b.post_send(n, pair.qps[n], &read(2, there, 0x1000, &to))
            .unwrap();
    }
    for n in 0..2 {
        let done = b.completions_of(n, 2, 100_000 * MS);
        assert!(done.iter().all(|c| c.status == Status::Success), "{note}");
    }
    for n in 0..2 {
        let sent = b.memory(n, regions[n].1, SIZE as usize).to_vec();
        let there = regions[1 - n].1;
        for part in 1..3 {
            let found = b.memory(1 - n, there + at(part), SIZE as usize);
            assert!(found == &sent[..], "{note}: part {part} of host {n}");
        }
    }
    b.call(0, |e, now, c| e.disconnect(now, pair.conns[0], c))
        .unwrap();
    b.run(2_000 * MS);
    for host in &b.hosts {
        let orderly = |event: &Event| matches!(event, Event::Disconnected { reason, .. } if matches!(reason, DisconnectReason::Local | DisconnectReason::Peer));
        assert!(host.events.iter().any(orderly), "{note}: {:?}", host.events);
        assert_eq!(host.engine.stats().terminates_sent, 0, "{note}");
    }
    b.judge([markers; 2]);
}

/// The initial sequence number of a host, from its SYN.
fn initial(b: &Bench, host: usize) -> u32 {
    b.capture
        .iter()
        .filter(|(_, from, _)| *from == host)
        .find_map(|(_, _, frame)| {
            let (_, packet) = EthernetHeader::parse(frame)?;
            let packet = Ipv4Packet::parse(packet).ok()?;
            let segment =
                TcpSegment::parse(packet.source, packet.destination, packet.payload).ok()?;
            (segment.flags & flag::SYN != 0).then_some(segment.seq)
        })
        .expect("a SYN")
}

/// The clock of the initial sequence numbers is set back or forth until one of them lies where it is to.
#[test]
fn our_sequence_numbers() {
    let loss = Faults {
        loss: 600,
        reorder: 1000,
        ..Default::default()
    };
    for host in 0..2 {
        for (case, before) in [1u32, 700, 30_000, 150_000].into_iter().enumerate() {
            // Half of 2^32 is where signed comparison turns.
            for edge in [0u32, 1 << 31] {
                for faults in [Faults::default(), loss] {
                    let seed = 900 + case as u64;
                    let note = format!("seed {seed}, host {host}, {before} before {edge:#x}");
                    let mut b = Bench::new(seed);
                    let params = ConnectParams {
                        local_port: Some(40_000),
                        ..Default::default()
                    };
                    b.connect(&params, &AcceptParams::default());
                    let ahead = edge.wrapping_sub(before).wrapping_sub(initial(&b, host));
                    let mut b = Bench::new(seed);
                    b.now = u64::from(ahead) * 4_000;
                    b.faults = faults;
                    exchange(&mut b, case % 2 == 0, &note);
                    let found = edge.wrapping_sub(initial(&b, host));
                    assert!(found.abs_diff(before) <= 50, "{note}: {found}");
                }
            }
        }
    }
}

#[test]
fn job_numbers() {
    for (seed, number) in [(950, u32::MAX - 100), (951, (1 << 31) - 100)] {
        let mut b = Bench::new(seed);
        b.hosts[0].card.jobs_begin_at(number);
        b.hosts[1].card.jobs_begin_at(number);
        b.faults.loss = 600;
        exchange(&mut b, false, &format!("seed {seed}"));
    }
}
