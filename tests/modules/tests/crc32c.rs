//! `crc32c` against the CRC one bit at a time.

use rtl_sim::replay;
use std::collections::VecDeque;
use std::error::Error;
use weft_module_tests::{crc32c_128, crc32c_512};

/// CRC32C as in RFC 3720 appendix B.4: reflected, one bit at a time.
fn reference(bytes: &[u8]) -> u32 {
    let mut state = !0;
    for byte in bytes {
        state ^= u32::from(*byte);
        for _ in 0..8 {
            let out = state & 1;
            state >>= 1;
            if out == 1 {
                state ^= 0x82f6_3b78;
            }
        }
    }
    !state
}

/// Packets with the four bytes that follow them on the wire.
fn published() -> Vec<(Vec<u8>, [u8; 4])> {
    // RFC 3720 B.4: the iSCSI SCSI Read (10) command PDU.
    let mut read10 = vec![0; 48];
    read10[..2].copy_from_slice(&[0x01, 0xc0]);
    for (at, value) in [
        (16, 0x14),
        (22, 4),
        (27, 0x14),
        (31, 0x18),
        (32, 0x28),
        (40, 2),
    ] {
        read10[at] = value;
    }
    // RFC 5044 §4.4, figure 5: the marker, the FPDU's length, DDP header and 24 bytes of zeros.
    let mut figure5 = vec![0, 0, 0, 0, 0, 0x2a, 0x41, 0x43];
    figure5.extend([0; 11]);
    figure5.push(1);
    figure5.extend([0; 28]);
    // Figure 6: a marker inside.
    let mut figure6 = vec![0, 0x2a, 0x41, 0x43];
    figure6.extend([0; 11]);
    figure6.push(2);
    figure6.extend([0; 4]);
    figure6.extend([0, 0, 0, 0x14]);
    figure6.extend([0; 24]);
    vec![
        (vec![0; 32], [0xaa, 0x36, 0x91, 0x8a]),
        (vec![0xff; 32], [0x43, 0xab, 0xa8, 0x62]),
        ((0..32).collect(), [0x4e, 0x79, 0xdd, 0x46]),
        ((0..32).rev().collect(), [0x5c, 0xdb, 0x3f, 0x11]),
        (read10, [0x56, 0x3a, 0x96, 0xd9]),
        (figure5, [0x52, 0x23, 0x99, 0x83]),
        (figure6, [0x84, 0x92, 0x58, 0x98]),
    ]
}

#[test]
fn the_reference_knows_the_published_values() {
    for (packet, wire) in published() {
        assert_eq!(reference(&packet).to_le_bytes(), wire);
    }
}

macro_rules! crc32c_tests {
    ($width:ident, $design:ident, $bytes:literal) => {
        mod $width {
            use super::*;

            /// 3 stages of the core, and one for each power of two of padding.
            const LATENCY: u64 = 3 + ($bytes as u64).ilog2() as u64;

            /// Packets with these CRCs, with the given shares of cycles with a beat and of enabled cycles.
            fn check(
                run: &rtl_sim::Run,
                packets: &[(Vec<u8>, u32)],
                valid: f64,
                enable: f64,
            ) -> Result<(), Box<dyn Error>> {
                let mut rng = run.seed.rng("pace");
                let mut sim = run.sim::<$design::Model>();
                let mut due = VecDeque::new();
                let mut enabled = 0;
                let (mut packet, mut at, mut done) = (0, 0, 0);
                sim.reset(3);
                while done < packets.len() {
                    let inputs = &mut sim.inputs;
                    inputs.en = rng.f64() < enable;
                    inputs.valid = packet < packets.len() && rng.f64() < valid;
                    inputs.data.fill_with(|| rng.u8(..));
                    if inputs.valid {
                        let rest = &packets[packet].0[at..];
                        let count = rest.len().min($bytes);
                        inputs.data[..count].copy_from_slice(&rest[..count]);
                        inputs.count = count as u8;
                        inputs.first = at == 0;
                        inputs.last = count == rest.len();
                    }
                    sim.step();
                    if !sim.inputs.en {
                        continue;
                    }
                    let expected = due.front().is_some_and(|(when, _)| *when == enabled);
                    if sim.outputs.valid != expected {
                        return Err(format!("packet {done}: valid is {}", !expected).into());
                    }
                    if expected {
                        let crc = due.pop_front().map(|(_, crc): (u64, u32)| crc);
                        if Some(sim.outputs.crc) != crc {
                            let length = packets[done].0.len();
                            let got = sim.outputs.crc;
                            return Err(format!("packet {done}, {length} bytes: {got:#x}").into());
                        }
                        done += 1;
                    }
                    if sim.inputs.valid {
                        at += usize::from(sim.inputs.count);
                        if sim.inputs.last {
                            due.push_back((enabled + LATENCY, packets[packet].1));
                            (packet, at) = (packet + 1, 0);
                        }
                    }
                    enabled += 1;
                }
                Ok(())
            }

            #[test]
            fn published_values() {
                let packets: Vec<_> = published()
                    .into_iter()
                    .map(|(packet, wire)| (packet, u32::from_le_bytes(wire)))
                    .collect();
                replay("published_values", 0..1, |run| {
                    check(run, &packets, 1.0, 1.0)
                });
            }

            #[test]
            fn every_tail_back_to_back_and_with_pauses() {
                replay("every_tail", 0..6, |run| {
                    let mut rng = run.seed.rng("packets");
                    let mut lengths: Vec<usize> = (1..=3 * $bytes).collect();
                    rng.shuffle(&mut lengths);
                    lengths.extend([1; 20]);
                    lengths.extend((0..20).map(|_| rng.usize(1..2000)));
                    let packets: Vec<_> = lengths
                        .into_iter()
                        .map(|length| {
                            let packet: Vec<u8> = (0..length).map(|_| rng.u8(..)).collect();
                            let crc = reference(&packet);
                            (packet, crc)
                        })
                        .collect();
                    match run.seed.0 % 2 {
                        0 => check(run, &packets, 1.0, 1.0),
                        _ => check(run, &packets, 0.6, 0.8),
                    }
                });
            }
        }
    };
}

crc32c_tests!(bits_128, crc32c_128, 16);
crc32c_tests!(bits_512, crc32c_512, 64);
