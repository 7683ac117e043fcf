//! `bar_port`: what a bridge writes and reads comes to the push window and to the registers whole, once and in order.

use rtl_sim::{replay, Pace, Sim, Stall};
use std::collections::VecDeque;
use weft_module_tests::bar_port;

/// Bytes of a beat.
const LANES: u32 = 16;
/// The push window's first byte.
const WINDOW: u32 = 0x1_1000;

/// What comes to the card, in its order.
#[derive(Clone, Debug, PartialEq)]
enum Arrival {
    /// A beat of the window: its place, bytes and strobes.
    Pushed(u16, [u8; 16], u16),
    /// A register's address, bytes and strobes.
    Written(u32, u32, u8),
}

#[derive(Clone, Debug)]
struct Write {
    id: u8,
    address: u32,
    size: u8,
    beats: Vec<([u8; 16], u16)>,
}

impl Write {
    /// A narrow or a full burst within 4 KiB, as a bridge gives them: strobes only in the lanes of its size.
    fn any(rng: &mut fastrand::Rng) -> Write {
        let page = [0, 0x4000, 0x1_0000, WINDOW, WINDOW, WINDOW][rng.usize(..6)];
        let size = if rng.bool() { 4 } else { rng.u8(2..=4) };
        let first = page + (rng.u32(0..0xff0) & !3);
        let most = (page + 0x1000 - first).div_ceil(1 << size).min(8);
        let mut address = first;
        let beats = (0..rng.u32(1..=most)).map(|_| {
            let mut data = [0; 16];
            data.fill_with(|| rng.u8(..));
            let end = ((address >> size) + 1) << size;
            let lanes = (address % LANES)..(end - (address & !(LANES - 1)));
            address = end;
            let mut strobes = lanes.fold(0_u16, |strobes, lane| strobes | 1 << lane);
            strobes &= match rng.u32(0..8) {
                0 => 0,
                1 => rng.u16(..),
                _ => u16::MAX,
            };
            (data, strobes)
        });
        let beats = beats.collect();
        let id = rng.u8(..16);
        Write {
            id,
            address: first,
            size,
            beats,
        }
    }

    /// What of it comes to the card: written after AXI4 A3.4.1, and not as the module does it.
    fn arrivals(&self) -> Vec<Arrival> {
        let width = 1_u32 << self.size;
        let aligned = self.address / width * width;
        let mut arrivals = Vec::new();
        for (at, (data, strobes)) in (0..).zip(&self.beats) {
            let address = if at == 0 {
                self.address
            } else {
                aligned + at * width
            };
            if (WINDOW..WINDOW + 0x1000).contains(&address) {
                arrivals.push(Arrival::Pushed((address % 0x1000) as u16, *data, *strobes));
                continue;
            }
            for word in 0..LANES / 4 {
                let strobes = (strobes >> (4 * word)) as u8 & 0xf;
                let bytes = &data[4 * word as usize..][..4];
                let value = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
                if strobes != 0 {
                    let place = address / LANES * LANES + 4 * word;
                    arrivals.push(Arrival::Written(place, value, strobes));
                }
            }
        }
        arrivals
    }
}

/// A register that refuses: both its answers say so.
fn refusal(address: u32) -> u8 {
    if address % 0x100 == 0x40 {
        2
    } else {
        0
    }
}

fn reset(sim: &mut Sim<bar_port::Model>) {
    sim.inputs.rst_ni = true;
    sim.settle();
    sim.inputs.rst_ni = false;
    sim.settle();
    sim.reset(3);
}

#[test]
fn writes_come_to_the_card_in_order() {
    replay("bar_port_writes", 0..40, |run| {
        let mut rng = run.seed.rng("test");
        let mut sim = run.sim::<bar_port::Model>();
        let writes: Vec<Write> = (0..200).map(|_| Write::any(&mut rng)).collect();
        let mut paces = [(); 5].map(|()| Pace::new(Stall::any(&mut rng), rng.fork()));
        let mut due: VecDeque<Arrival> = writes.iter().flat_map(Write::arrivals).collect();
        let (mut aw, mut w, mut beat, mut answered) = (0, 0, 0, 0);
        // A register's write: its address, its word, and the answer that is owed.
        let (mut place, mut word, mut owed) = (None, None, None::<u8>);
        reset(&mut sim);
        for now in 0..200_000_u64 {
            if answered == writes.len() {
                break;
            }
            sim.step();
            let (inputs, outputs) = (&mut sim.inputs, &sim.outputs);
            let mut arrived = None;
            if outputs.push_valid {
                arrived = Some(Arrival::Pushed(
                    outputs.push_addr,
                    outputs.push_data,
                    outputs.push_strb,
                ));
            }
            if outputs.m_axil_awvalid
                && inputs.m_axil_awready
                && place.replace(outputs.m_axil_awaddr).is_some()
            {
                return Err("two addresses".into());
            }
            if outputs.m_axil_wvalid
                && inputs.m_axil_wready
                && word
                    .replace((outputs.m_axil_wdata, outputs.m_axil_wstrb))
                    .is_some()
            {
                return Err("two words".into());
            }
            if inputs.m_axil_bvalid && outputs.m_axil_bready {
                inputs.m_axil_bvalid = false;
            }
            if let (Some(address), Some((value, strobes))) = (place, word) {
                if owed.is_some() || inputs.m_axil_bvalid {
                    return Err("a write before the answer to the one before".into());
                }
                (place, word, owed) = (None, None, Some(refusal(address)));
                arrived = Some(Arrival::Written(address, value, strobes));
            }
            if let Some(arrived) = arrived {
                let want = due.pop_front();
                if want.as_ref() != Some(&arrived) {
                    return Err(format!("{arrived:x?} and not {want:x?}").into());
                }
            }
            if outputs.s_axi_bvalid && inputs.s_axi_bready {
                let write = &writes[answered];
                // Nothing of it is under way any more: what is due next is of a later one.
                let later: usize = writes[answered + 1..]
                    .iter()
                    .map(|w| w.arrivals().len())
                    .sum();
                let worst = write.arrivals().into_iter().map(|arrival| match arrival {
                    Arrival::Written(address, ..) => refusal(address),
                    Arrival::Pushed(..) => 0,
                });
                let want = (write.id, worst.max().unwrap_or(0), later);
                let got = (outputs.s_axi_bid, outputs.s_axi_bresp, due.len());
                if got != want {
                    return Err(format!("answer {answered} is {got:?} and not {want:?}").into());
                }
                answered += 1;
            }
            // The bridge.
            if inputs.s_axi_awvalid && outputs.s_axi_awready {
                inputs.s_axi_awvalid = false;
                aw += 1;
            }
            if inputs.s_axi_wvalid && outputs.s_axi_wready {
                inputs.s_axi_wvalid = false;
                beat += 1;
                if beat == writes[w].beats.len() {
                    (w, beat) = (w + 1, 0);
                }
            }
            if !inputs.s_axi_awvalid && aw < writes.len() {
                let write = &writes[aw];
                inputs.s_axi_awvalid = paces[0].start();
                (inputs.s_axi_awid, inputs.s_axi_awaddr) = (write.id, write.address);
                inputs.s_axi_awsize = write.size;
            }
            if !inputs.s_axi_wvalid && w < writes.len() && w <= aw {
                inputs.s_axi_wvalid = paces[1].start();
                (inputs.s_axi_wdata, inputs.s_axi_wstrb) = writes[w].beats[beat];
                inputs.s_axi_wlast = beat + 1 == writes[w].beats.len();
            }
            inputs.s_axi_bready = rng.u32(0..4) != 0;
            // The card.
            inputs.m_axil_awready = paces[2].next(outputs.m_axil_awvalid && !inputs.m_axil_awready);
            inputs.m_axil_wready = paces[3].next(outputs.m_axil_wvalid && !inputs.m_axil_wready);
            if !inputs.m_axil_bvalid && owed.is_some() && paces[4].start() {
                inputs.m_axil_bvalid = true;
                inputs.m_axil_bresp = owed.take().unwrap_or(0);
            }
            if now == 199_999 {
                return Err(
                    format!("stuck: {aw} addresses, {w} bursts, {answered} answers").into(),
                );
            }
        }
        if !due.is_empty() {
            return Err(format!("{} arrivals left", due.len()).into());
        }
        Ok(())
    });
}

#[test]
fn reads_give_the_word_in_every_place() {
    replay("bar_port_reads", 0..20, |run| {
        let mut rng = run.seed.rng("test");
        let mut sim = run.sim::<bar_port::Model>();
        let mut paces = [(); 4].map(|()| Pace::new(Stall::any(&mut rng), rng.fork()));
        let reads: Vec<(u8, u32, u8, u8)> = (0..200)
            .map(|_| {
                let address = rng.u32(0..0x8000) << 2;
                let (id, size) = (rng.u8(..16), rng.u8(2..=4));
                let most = ((0x1000 - address % 0x1000) >> size).clamp(1, 8) as u8;
                (id, address, size, rng.u8(0..most))
            })
            .collect();
        // What each beat has: number of the read, the word's address, last.
        let mut due: VecDeque<(u8, u32, bool)> = VecDeque::new();
        for (id, address, size, more) in &reads {
            let width = 1_u32 << size;
            for beat in 0..=u32::from(*more) {
                let at = if beat == 0 {
                    *address
                } else {
                    address / width * width + beat * width
                };
                due.push_back((*id, at, beat == u32::from(*more)));
            }
        }
        let (mut asked, mut pending) = (0, None::<u32>);
        reset(&mut sim);
        for _ in 0..100_000_u64 {
            if due.is_empty() {
                break;
            }
            sim.step();
            let (inputs, outputs) = (&mut sim.inputs, &sim.outputs);
            if outputs.s_axi_rvalid && inputs.s_axi_rready {
                let (id, address, last) = due.pop_front().ok_or("data out of nowhere")?;
                let word = (address ^ 0x5a5a_0000).to_le_bytes();
                let got = (outputs.s_axi_rid, outputs.s_axi_rresp, outputs.s_axi_rlast);
                if got != (id, refusal(address), last)
                    || outputs.s_axi_rdata.chunks(4).any(|place| place != word)
                {
                    return Err(format!("{address:#x}: {got:?} {:x?}", outputs.s_axi_rdata).into());
                }
            }
            if inputs.m_axil_rvalid && outputs.m_axil_rready {
                inputs.m_axil_rvalid = false;
            }
            if outputs.m_axil_arvalid
                && inputs.m_axil_arready
                && pending.replace(outputs.m_axil_araddr).is_some()
            {
                return Err("two reads at once".into());
            }
            if inputs.s_axi_arvalid && outputs.s_axi_arready {
                inputs.s_axi_arvalid = false;
                asked += 1;
            }
            if !inputs.s_axi_arvalid && asked < reads.len() {
                let (id, address, size, more) = reads[asked];
                inputs.s_axi_arvalid = paces[0].start();
                (inputs.s_axi_arid, inputs.s_axi_araddr) = (id, address);
                (inputs.s_axi_arsize, inputs.s_axi_arlen) = (size, more);
            }
            inputs.s_axi_rready = paces[1].next(outputs.s_axi_rvalid && !inputs.s_axi_rready);
            inputs.m_axil_arready = paces[2].next(outputs.m_axil_arvalid && !inputs.m_axil_arready);
            if !inputs.m_axil_rvalid && paces[3].start() {
                if let Some(address) = pending.take() {
                    inputs.m_axil_rvalid = true;
                    inputs.m_axil_rdata = address ^ 0x5a5a_0000;
                    inputs.m_axil_rresp = refusal(address);
                }
            }
        }
        if !due.is_empty() {
            return Err(format!("stuck with {} beats due", due.len()).into());
        }
        Ok(())
    });
}

#[test]
fn a_pushed_job_takes_two_cycles_and_its_beats() {
    replay("bar_port_rate", 0..1, |run| {
        let mut sim = run.sim::<bar_port::Model>();
        reset(&mut sim);
        let inputs = &mut sim.inputs;
        (
            inputs.s_axi_awvalid,
            inputs.s_axi_wvalid,
            inputs.s_axi_bready,
        ) = (true, true, true);
        (inputs.s_axi_awaddr, inputs.s_axi_awsize) = (WINDOW, 4);
        inputs.s_axi_wstrb = u16::MAX;
        let (mut given, mut jobs, mut pushed) = (0_u32, 0, 0);
        // The first beat is a cycle in the slice; then there is no pause.
        for _ in 0..10 * 10 + 1 {
            // Eight beats are a job.
            sim.inputs.s_axi_wlast = given % 8 == 7;
            sim.step();
            given += u32::from(sim.outputs.s_axi_wready);
            pushed += u32::from(sim.outputs.push_valid);
            jobs += u32::from(sim.outputs.s_axi_bvalid);
        }
        if (jobs, pushed) != (10, 80) {
            return Err(format!("{jobs} jobs, {pushed} beats in 101 cycles").into());
        }
        Ok(())
    });
}
