//! `write_whole`: what comes out are whole bursts in which every beat has a strobe; beats without are answered and written nowhere.

use rtl_sim::{replay, Pace, Stall};
use std::collections::VecDeque;
use weft_module_tests::write_whole;

/// Bytes of a beat.
const LANES: usize = 16;

/// A beat: bytes and strobes.
type Beat = ([u8; LANES], u16);

#[derive(Clone, Debug)]
struct Burst {
    address: u64,
    beats: Vec<Beat>,
}

impl Burst {
    fn any(rng: &mut fastrand::Rng) -> Burst {
        let beats = if rng.bool() {
            rng.usize(1..4)
        } else {
            rng.usize(1..=64)
        };
        // Most are as a placement is; a drain ends some early, or before they begin.
        let real = match rng.u32(0..4) {
            0 => rng.usize(0..=beats),
            _ => beats,
        };
        let (first, last) = (rng.usize(0..LANES), rng.usize(1..=LANES));
        let beat = |at: usize| {
            let mut strobes = if at < real { u16::MAX } else { 0 };
            if at == 0 {
                strobes &= u16::MAX << first;
            }
            if at == beats - 1 && (beats > 1 || last > first) {
                strobes &= u16::MAX >> (LANES - last);
            }
            strobes
        };
        let strobes: Vec<u16> = (0..beats).map(beat).collect();
        let beats = strobes.into_iter().map(|strobes| {
            let mut data = [0; LANES];
            data.fill_with(|| rng.u8(..));
            (data, strobes)
        });
        let beats = beats.collect();
        Burst {
            address: rng.u64(..),
            beats,
        }
    }
}

#[test]
fn bursts_come_out_whole_and_without_empty_beats() {
    replay("write_whole", 0..30, |run| {
        let mut rng = run.seed.rng("test");
        let mut sim = run.sim::<write_whole::Model>();
        let bursts: Vec<Burst> = (0..150).map(|_| Burst::any(&mut rng)).collect();
        let mut paces = [(); 5].map(|()| Pace::new(Stall::any(&mut rng), rng.fork()));
        // The card's side: addresses may run ahead of beats.
        let (mut aw, mut w, mut beat) = (0, 0, 0);
        // What must come out, and what of it did.
        let mut due: VecDeque<Burst> = VecDeque::new();
        let mut open: VecDeque<Burst> = VecDeque::new();
        let mut out = 0;
        // Answers: what the bridge gave, and what the card may see.
        let mut answers: VecDeque<u8> = VecDeque::new();
        let mut expected: VecDeque<Option<u8>> = VecDeque::new();
        let mut given: VecDeque<u8> = VecDeque::new();
        let mut answered = 0;
        sim.inputs.rst_ni = true;
        sim.settle();
        sim.inputs.rst_ni = false;
        sim.settle();
        sim.reset(3);
        for now in 0..60_000_u64 {
            if answered == bursts.len() {
                break;
            }
            sim.step();
            let (inputs, outputs) = (&mut sim.inputs, &sim.outputs);
            // Answers to the card.
            if outputs.s_axi_bvalid && inputs.s_axi_bready {
                let want = match expected.pop_front() {
                    Some(None) => 0,
                    Some(Some(_)) => given.pop_front().ok_or("an answer that nobody gave")?,
                    None => return Err("an answer to nothing".into()),
                };
                if outputs.s_axi_bresp != want {
                    return Err(format!("answer {answered} is {}", outputs.s_axi_bresp).into());
                }
                answered += 1;
            }
            if inputs.m_axi_bvalid && outputs.m_axi_bready {
                inputs.m_axi_bvalid = false;
            }
            // Bursts to the bridge: only whole ones.
            if outputs.m_axi_awvalid {
                let burst = due.front().ok_or("a burst before it was whole")?;
                let strobed = burst
                    .beats
                    .iter()
                    .filter(|(_, strobes)| *strobes != 0)
                    .count();
                if (outputs.m_axi_awaddr, usize::from(outputs.m_axi_awlen) + 1)
                    != (burst.address, strobed)
                {
                    return Err(format!(
                        "a burst of {} beats at {:#x}",
                        outputs.m_axi_awlen, outputs.m_axi_awaddr
                    )
                    .into());
                }
                if inputs.m_axi_awready {
                    open.extend(due.pop_front());
                }
            }
            if outputs.m_axi_wvalid && inputs.m_axi_wready {
                let burst = open.front().ok_or("a beat before its address")?;
                let strobed = burst
                    .beats
                    .iter()
                    .filter(|(_, strobes)| *strobes != 0)
                    .count();
                let (data, strobes) = burst.beats[out];
                if outputs.m_axi_wdata != data || outputs.m_axi_wstrb != strobes || strobes == 0 {
                    return Err(format!("beat {out} of {strobed} is another").into());
                }
                out += 1;
                if outputs.m_axi_wlast != (out == strobed) {
                    return Err(format!("the end is not at beat {out} of {strobed}").into());
                }
                if out == strobed {
                    open.pop_front();
                    out = 0;
                    let answer = if rng.u32(0..8) == 0 { 2 } else { 0 };
                    answers.push_back(answer);
                }
            }
            // From the card.
            if inputs.s_axi_awvalid && outputs.s_axi_awready {
                inputs.s_axi_awvalid = false;
                aw += 1;
            }
            if inputs.s_axi_wvalid && outputs.s_axi_wready {
                inputs.s_axi_wvalid = false;
                beat += 1;
                if beat == bursts[w].beats.len() {
                    let burst = bursts[w].clone();
                    let any = burst.beats.iter().any(|(_, strobes)| *strobes != 0);
                    expected.push_back(any.then_some(0));
                    if any {
                        due.push_back(burst);
                    }
                    (w, beat) = (w + 1, 0);
                }
            }
            if !inputs.s_axi_awvalid && aw < bursts.len() {
                inputs.s_axi_awvalid = paces[0].start();
                inputs.s_axi_awaddr = bursts[aw].address;
            }
            // A beat is not shown before its address.
            if !inputs.s_axi_wvalid
                && w < bursts.len()
                && (w < aw || inputs.s_axi_awvalid && w == aw)
            {
                let burst = &bursts[w];
                inputs.s_axi_wvalid = paces[1].start();
                (inputs.s_axi_wdata, inputs.s_axi_wstrb) = burst.beats[beat];
                inputs.s_axi_wlast = beat + 1 == burst.beats.len();
            }
            inputs.s_axi_bready = true;
            inputs.m_axi_awready = paces[2].next(outputs.m_axi_awvalid && !inputs.m_axi_awready);
            inputs.m_axi_wready = paces[3].next(outputs.m_axi_wvalid && !inputs.m_axi_wready);
            if !inputs.m_axi_bvalid && !answers.is_empty() && paces[4].start() {
                let answer = answers.pop_front().unwrap_or(0);
                (inputs.m_axi_bvalid, inputs.m_axi_bresp) = (true, answer);
                given.push_back(answer);
            }
            if now == 59_999 {
                return Err(
                    format!("stuck: {aw} addresses, {w} bursts, {answered} answers").into(),
                );
            }
        }
        if !due.is_empty() || !open.is_empty() {
            return Err("bursts left".into());
        }
        Ok(())
    });
}

#[test]
fn a_beat_each_cycle() {
    replay("write_whole_rate", 0..1, |run| {
        let mut sim = run.sim::<write_whole::Model>();
        sim.inputs.rst_ni = true;
        sim.settle();
        sim.inputs.rst_ni = false;
        sim.settle();
        sim.reset(3);
        (sim.inputs.m_axi_awready, sim.inputs.m_axi_wready) = (true, true);
        (sim.inputs.s_axi_bready, sim.inputs.m_axi_bvalid) = (true, true);
        // Bursts of one beat, one behind the other.
        (sim.inputs.s_axi_awvalid, sim.inputs.s_axi_wvalid) = (true, true);
        (sim.inputs.s_axi_wlast, sim.inputs.s_axi_wstrb) = (true, 1);
        sim.step_many(40);
        for _ in 0..200 {
            sim.step();
            let outputs = &sim.outputs;
            assert!(outputs.m_axi_awvalid && outputs.m_axi_wvalid && outputs.m_axi_wlast);
            assert!(outputs.s_axi_awready && outputs.s_axi_wready && outputs.s_axi_bvalid);
        }
        Ok(())
    });
}
