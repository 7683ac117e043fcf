//! `gmii_tx` and `gmii_rx`: frames become what IEEE 802.3 says, and only that becomes a good frame.

use rtl_sim::replay;
use std::collections::VecDeque;
use weft_board_tests::{crc32, enter_reset, gmii, FCS};

/// A frame with its FCS.
fn with_fcs(frame: &[u8]) -> Vec<u8> {
    [frame, &crc32(FCS, frame).to_le_bytes()].concat()
}

fn any_frame(rng: &mut fastrand::Rng, least: usize) -> Vec<u8> {
    let most = [64, 80, 300, 1514, 9000][rng.usize(0..5)];
    let mut frame = vec![0; rng.usize(least..=most)];
    rng.fill(&mut frame);
    frame
}

#[test]
fn frames_are_sent_as_ethernet_wants_them() {
    replay("gmii_tx", 0..20, |run| {
        let mut rng = run.seed.rng("test");
        let mut sim = run.sim::<gmii::Model>();
        let frames: Vec<_> = (0..60).map(|_| any_frame(&mut rng, 60)).collect();
        enter_reset(&mut sim);
        sim.reset(4);
        let (mut number, mut at, mut idle) = (0, 0, 0_u32);
        let (mut line, mut done, mut gap, mut shortest) = (Vec::new(), 0, 1000_u32, 1000_u32);
        for _ in 0..400_000 {
            sim.step();
            if sim.outputs.underrun {
                return Err("a frame ran dry".into());
            }
            if sim.outputs.tx_valid {
                if line.is_empty() {
                    shortest = shortest.min(gap);
                }
                line.push(sim.outputs.tx_byte);
                gap = 0;
            } else {
                gap = gap.saturating_add(1);
                if !line.is_empty() {
                    let want = [&[0x55; 7][..], &[0xd5], &with_fcs(&frames[done])].concat();
                    if line != want {
                        return Err(format!("frame {done} of {} bytes", frames[done].len()).into());
                    }
                    line.clear();
                    done += 1;
                    if done == frames.len() {
                        break;
                    }
                }
            }
            if sim.inputs.tx_tvalid && sim.outputs.tx_tready {
                at += 16;
                if sim.inputs.tx_tlast {
                    (number, at) = (number + 1, 0);
                    // Now and then nothing, mostly the next at once.
                    idle = if rng.u32(0..3) == 0 {
                        rng.u32(0..50)
                    } else {
                        0
                    };
                }
            }
            let frame = frames.get(number).filter(|_| idle == 0);
            idle = idle.saturating_sub(1);
            sim.inputs.tx_tvalid = frame.is_some();
            if let Some(frame) = frame {
                let beat = &frame[at..(at + 16).min(frame.len())];
                sim.inputs.tx_tdata = [0xee; 16];
                sim.inputs.tx_tdata[..beat.len()].copy_from_slice(beat);
                sim.inputs.tx_tkeep = (u32::from(u16::MAX) >> (16 - beat.len())) as u16;
                sim.inputs.tx_tlast = at + 16 >= frame.len();
            }
        }
        if done != frames.len() || shortest != 12 {
            return Err(format!("{done} frames, {shortest} bytes of gap").into());
        }
        Ok(())
    });
}

/// What is on the line, byte by byte: valid, error, byte.
type Line = Vec<(bool, bool, u8)>;

#[test]
fn only_whole_frames_are_good() {
    replay("gmii_rx", 0..30, |run| {
        let mut rng = run.seed.rng("test");
        let mut sim = run.sim::<gmii::Model>();
        let mut line: Line = Vec::new();
        // Frame, good?
        let mut due: VecDeque<(Vec<u8>, bool)> = VecDeque::new();
        // The rest of a frame that was on the line in reset.
        line.extend((0..rng.usize(0..40)).map(|_| (true, false, rng.u8(..))));
        line.push((false, false, 0));
        for _ in 0..80 {
            let least = if rng.u32(0..4) == 0 { 1 } else { 60 };
            let frame = any_frame(&mut rng, least);
            let mut bytes = with_fcs(&frame);
            let mut good = bytes.len() >= 64;
            let mut error = None;
            match rng.u32(0..8) {
                // A wrong bit.
                0 => {
                    let at = rng.usize(0..bytes.len());
                    bytes[at] ^= 1 << rng.u32(0..8);
                    good = false;
                }
                // Cut off.
                1 => {
                    bytes.truncate(rng.usize(0..bytes.len()));
                    good = false;
                }
                // An error of the PHY.
                2 => {
                    error = Some(rng.usize(0..bytes.len()));
                    good = false;
                }
                _ => {}
            }
            // A receiver may see less of the preamble, or none of it.
            let preamble = if rng.bool() { 7 } else { rng.usize(0..9) };
            let broken = preamble > 0 && rng.u32(0..16) == 0;
            line.extend((0..preamble).map(|n| {
                (
                    true,
                    false,
                    if broken && n == preamble - 1 {
                        0x5d
                    } else {
                        0x55
                    },
                )
            }));
            line.push((true, false, 0xd5));
            line.extend(
                bytes
                    .iter()
                    .enumerate()
                    .map(|(n, byte)| (true, error == Some(n), *byte)),
            );
            // In the gap the PHY tells its state; with an error it is something else.
            let gap = if rng.bool() { 12 } else { rng.usize(1..30) };
            line.extend((0..gap).map(|_| (false, rng.u32(0..8) == 0, rng.u8(..))));
            if bytes.len() > 4 && !broken {
                due.push_back((bytes[..bytes.len() - 4].to_vec(), good));
            }
        }
        // The last beat comes two cycles behind the last byte.
        line.extend([(false, false, 0); 4]);
        enter_reset(&mut sim);
        (sim.inputs.rx_valid, sim.inputs.rx_error, sim.inputs.rx_byte) = line[0];
        sim.reset(4);
        let mut frame = Vec::new();
        for (valid, error, byte) in line {
            (sim.inputs.rx_valid, sim.inputs.rx_error, sim.inputs.rx_byte) = (valid, error, byte);
            sim.step();
            let outputs = &sim.outputs;
            if !outputs.rx_tvalid {
                continue;
            }
            let count = outputs.rx_tkeep.trailing_ones() as usize;
            if outputs.rx_tkeep.count_ones() as usize != count || (!outputs.rx_tlast && count != 16)
            {
                return Err(format!("keep is {:#x}", outputs.rx_tkeep).into());
            }
            frame.extend_from_slice(&outputs.rx_tdata[..count]);
            if outputs.rx_tlast {
                let want = due.pop_front().ok_or("a frame from nowhere")?;
                if want != (std::mem::take(&mut frame), !outputs.rx_tuser) {
                    return Err(format!(
                        "of {} bytes, good: {}, came another",
                        want.0.len(),
                        want.1
                    )
                    .into());
                }
            } else if outputs.rx_tuser {
                return Err("bad before its end".into());
            }
        }
        if !due.is_empty() || !frame.is_empty() {
            return Err(format!("{} frames never came", due.len()).into());
        }
        Ok(())
    });
}
