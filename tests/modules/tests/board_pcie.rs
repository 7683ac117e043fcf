//! What stands between the card and a PCIe core: interrupts that are asked for until they were sent, a function-level reset that waits for the
//! card, and the board's words beside the card's registers.

use rtl_sim::{replay, Sim};
use std::collections::VecDeque;
use weft_module_tests::board_pcie;

/// As in `rtl/board_pcie_bench.sv`.
const VECTORS: usize = 5;
const FIRST: u32 = 0xff00;
const WORDS: u32 = 4;

fn reset(sim: &mut Sim<board_pcie::Model>) {
    sim.inputs.rst_ni = true;
    sim.settle();
    sim.inputs.rst_ni = false;
    sim.settle();
    sim.reset(3);
}

#[test]
fn an_interrupt_is_asked_for_until_it_was_sent() {
    replay("irq_request", 0..20, |run| {
        let mut rng = run.seed.rng("test");
        let mut sim = run.sim::<board_pcie::Model>();
        reset(&mut sim);
        // What each vector is owed: a request since its last one was begun.
        let mut owed = [false; VECTORS];
        let (mut standing, mut last) = (None::<usize>, None);
        let (mut masked, mut sent, mut failed) = (false, 0, 0);
        let mut idle = 0;
        for now in 0..6000_u64 {
            let quiet = now > 5000;
            sim.step();
            let (inputs, outputs) = (&mut sim.inputs, &sim.outputs);
            if !outputs.vector_ready {
                return Err("a request has to wait".into());
            }
            let vector = usize::from(outputs.irq_vector);
            if outputs.irq_valid && standing.is_none() {
                if !owed[vector] {
                    return Err(format!("vector {vector} was not asked for").into());
                }
                // What the card asked for in the cycle in which this one was begun is another one.
                owed[vector] = last == Some(vector);
                standing = Some(vector);
            }
            if !outputs.irq_valid && standing.is_some() {
                return Err("a request went away".into());
            }
            // In the cycle that was stepped the core answered, the card asked, or all was forgotten.
            if inputs.irq_ack {
                (standing, sent) = (None, sent + 1);
            } else if inputs.irq_fail {
                owed[standing.take().unwrap_or(0)] = true;
                failed += 1;
            }
            last = inputs.vector_valid.then_some(usize::from(inputs.vector));
            if let Some(vector) = last {
                owed[vector] = true;
            }
            if inputs.clear {
                owed = [false; VECTORS];
            }
            // Something is owed: it is asked for within the pause and a little.
            idle = match standing.is_none() && owed != [false; VECTORS] {
                true => idle + 1,
                false => 0,
            };
            if idle > 24 {
                return Err(format!("{owed:?} owed, and nothing is asked").into());
            }
            masked ^= rng.u32(0..200) == 0;
            masked &= !quiet;
            // The core may answer from the next cycle on, to what stands there then.
            let stands = standing.is_some();
            let answer = stands && rng.u32(0..6) == 0;
            inputs.irq_ack = answer && !masked;
            inputs.irq_fail = answer && masked;
            inputs.vector_valid = !quiet && rng.u32(0..30) == 0;
            inputs.vector = rng.u8(..VECTORS as u8);
            inputs.clear = !quiet && rng.u32(0..400) == 0;
        }
        if standing.is_some() || owed != [false; VECTORS] || sent < 20 || failed < 5 {
            return Err(format!("{owed:?} {standing:?}, {sent} sent, {failed} failed").into());
        }
        Ok(())
    });
}

#[test]
fn a_function_level_reset_waits_for_the_card() {
    replay("flr_request", 0..10, |run| {
        let mut rng = run.seed.rng("test");
        let mut sim = run.sim::<board_pcie::Model>();
        reset(&mut sim);
        for round in 0..60 {
            let function = if rng.bool() { 0 } else { rng.u8(1..) };
            (sim.inputs.flr_set, sim.inputs.flr_fnc) = (true, function);
            sim.step();
            sim.inputs.flr_set = false;
            let wait = rng.u32(0..40);
            let mut told = 0;
            for cycle in 0..60 {
                sim.inputs.done =
                    function == 0 && cycle >= wait && (cycle == wait || sim.outputs.req);
                sim.step();
                let outputs = &sim.outputs;
                if function == 0 && cycle <= wait && !outputs.req {
                    return Err(format!(
                        "round {round}: the request went after {cycle} cycles of {wait}"
                    )
                    .into());
                }
                if function != 0 && outputs.req {
                    return Err("somebody else's reset".into());
                }
                if outputs.flr_done {
                    told += 1;
                    if outputs.flr_done_fnc != function
                        || (function == 0 && cycle <= wait)
                        || outputs.req
                    {
                        return Err(
                            format!("round {round}: told in cycle {cycle} of {wait}").into()
                        );
                    }
                }
            }
            if told != 1 || sim.outputs.req {
                return Err(format!("round {round}: told {told} times").into());
            }
        }
        Ok(())
    });
}

#[test]
fn the_boards_words_lie_beside_the_cards_registers() {
    replay("board_regs", 0..20, |run| {
        let mut rng = run.seed.rng("test");
        let mut sim = run.sim::<board_pcie::Model>();
        let words: Vec<u32> = (0..WORDS).map(|_| rng.u32(..)).collect();
        for (at, word) in words.iter().enumerate() {
            sim.inputs.words[4 * at..][..4].copy_from_slice(&word.to_le_bytes());
        }
        reset(&mut sim);
        // Reads of the host that wait for their data, and those that the card has.
        let (mut asked, mut card) = (VecDeque::new(), VecDeque::<u32>::new());
        let (mut own, mut others) = (0, 0);
        for _ in 0..6000 {
            sim.step();
            let (inputs, outputs) = (&mut sim.inputs, &sim.outputs);
            let inside = |address: u32| (FIRST..FIRST + 4 * WORDS).contains(&address);
            if outputs.s_rvalid && inputs.s_rready {
                let address: u32 = asked.pop_front().ok_or("data out of nowhere")?;
                let want = match inside(address) {
                    true => (words[(address - FIRST) as usize / 4], 0),
                    false => (address ^ 0x5a5a_0000, 2),
                };
                if (outputs.s_rdata, outputs.s_rresp) != want {
                    return Err(format!("{address:#x}: {:#x}", outputs.s_rdata).into());
                }
                own += usize::from(inside(address));
                others += usize::from(!inside(address));
            }
            let held = outputs.s_rvalid && !inputs.s_rready;
            if inputs.m_rvalid && outputs.m_rready {
                card.pop_front();
                inputs.m_rvalid = false;
            }
            if outputs.m_arvalid && inputs.m_arready {
                if inside(outputs.m_araddr) {
                    return Err("the card was asked for the board's word".into());
                }
                card.push_back(outputs.m_araddr);
            }
            if inputs.s_arvalid && outputs.s_arready {
                asked.push_back(inputs.s_araddr);
                inputs.s_arvalid = false;
            }
            if !inputs.s_arvalid {
                inputs.s_arvalid = rng.bool();
                let near = FIRST - 16 + 4 * rng.u32(0..WORDS + 8);
                inputs.s_araddr = if rng.bool() {
                    near
                } else {
                    rng.u32(0..0x8000) << 2
                };
            }
            inputs.s_rready = if held { rng.bool() } else { rng.u32(0..4) != 0 };
            inputs.m_arready = rng.bool();
            if !inputs.m_rvalid {
                if let Some(address) = card.front() {
                    inputs.m_rvalid = rng.bool();
                    inputs.m_rdata = address ^ 0x5a5a_0000;
                    inputs.m_rresp = 2;
                }
            }
        }
        if own < 100 || others < 100 {
            return Err(format!("{own} of the board, {others} of the card").into());
        }
        Ok(())
    });
}
