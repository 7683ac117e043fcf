//! `msix_table` against a table of its own: what is asked for is sent once, when nothing masks it, with its vector's address and data.

use rtl_sim::axil::{self, Access, Master};
use rtl_sim::{replay, Pace, Stall};
use std::collections::VecDeque;
use weft_module_tests::msix_table;

const VECTORS: usize = 5;
const PBA: u64 = 0x800;

#[derive(Clone, Copy, Debug)]
struct Entry {
    words: [u32; 3],
    masked: bool,
}

#[test]
fn each_request_is_one_message_when_nothing_masks_it() {
    replay("msix_table", 0..40, |run| {
        let mut rng = run.seed.rng("test");
        let mut sim = run.sim::<msix_table::Model>();
        let mut master = Master::new(Stall::any(&mut rng), 4, run.seed);
        let mut checker = axil::Checker::new("s_axil");
        let mut pace = Pace::new(Stall::any(&mut rng), rng.fork());
        let fresh = Entry {
            words: [0; 3],
            masked: true,
        };
        let mut table = [fresh; VECTORS];
        let mut messages = VecDeque::new();
        sim.reset(3);
        let mut pending = [false; VECTORS];
        for round in 0..60 {
            // The host changes the table, and function mask and enable, at rest.
            let vector = rng.usize(..VECTORS);
            let mut function = (sim.inputs.enable, sim.inputs.mask);
            match rng.u32(..6) {
                0..=3 => {
                    let entry = Entry {
                        words: [rng.u32(..) & !3, rng.u32(..), rng.u32(..)],
                        masked: rng.bool(),
                    };
                    // Masked first, as the specification wants it.
                    let words = entry.words;
                    for (word, value) in [
                        (3, 1),
                        (0, words[0]),
                        (1, words[1]),
                        (2, words[2]),
                        (3, entry.masked.into()),
                    ] {
                        master.write(16 * vector as u64 + 4 * word, value);
                    }
                    // Less than a word is without effect.
                    master.push(Access::Write {
                        addr: 16 * vector as u64 + 12,
                        data: u64::from(!entry.masked),
                        strb: 7,
                    });
                    table[vector] = entry;
                }
                4 => function.0 = rng.u32(..4) != 0 || round < 3,
                _ => function.1 = rng.bool(),
            }
            (sim.inputs.enable, sim.inputs.mask) = function;
            let asked: Vec<usize> = (0..rng.usize(..4)).map(|_| rng.usize(..VECTORS)).collect();
            let mut ask = asked.iter().copied().collect::<VecDeque<_>>();
            let mut rest = 0;
            while rest < 40 {
                // Requests come when the table is written, far apart enough to be told apart.
                sim.inputs.vector_valid = false;
                if master.is_idle() && rest == 30 {
                    if let Some(vector) = ask.pop_front() {
                        sim.inputs.vector_valid = true;
                        sim.inputs.vector = vector as _;
                        if function.0 {
                            pending[vector] = true;
                        }
                    }
                }
                sim.step();
                let now = sim.cycle();
                let (inputs, outputs) = (&mut sim.inputs, &sim.outputs);
                checker.cycle(now, false, &inputs.s_axil, &outputs.s_axil)?;
                if outputs.msg_valid && inputs.msg_ready {
                    messages.push_back((outputs.msg_addr, outputs.msg_data));
                }
                let busy = !master.is_idle() || outputs.msg_valid || inputs.vector_valid;
                rest = if busy { 0 } else { rest + 1 };
                inputs.msg_ready = pace.next(outputs.msg_valid && !inputs.msg_ready);
                master.cycle(now, &mut inputs.s_axil, &outputs.s_axil);
                while let Some(done) = master.pop() {
                    if done.resp != 0 {
                        return Err(format!("{:?}: response {}", done.access, done.resp).into());
                    }
                }
                // What may be sent now is one message each.
                if !function.0 {
                    pending = [false; VECTORS];
                }
                if rest == 29 || rest == 40 {
                    let may = |v: usize| function.0 && !function.1 && !table[v].masked;
                    let mut want: Vec<_> = (0..VECTORS)
                        .filter(|v| pending[*v] && may(*v))
                        .map(|v| {
                            let [low, high, data] = table[v].words;
                            (u64::from(high) << 32 | u64::from(low), data)
                        })
                        .collect();
                    let mut sent: Vec<_> = messages.drain(..).collect();
                    want.sort_unstable();
                    sent.sort_unstable();
                    if want != sent {
                        return Err(format!("round {round}: {sent:x?} sent, not {want:x?}").into());
                    }
                    for (v, pending) in pending.iter_mut().enumerate() {
                        *pending &= !may(v);
                    }
                }
            }
            // Pending bits and an entry read back.
            master.read(PBA);
            let at = rng.usize(..VECTORS);
            for word in 0..4 {
                master.read(16 * at as u64 + 4 * word);
            }
            let mut seen = Vec::new();
            while seen.len() < 5 {
                sim.step();
                let now = sim.cycle();
                let (inputs, outputs) = (&mut sim.inputs, &sim.outputs);
                checker.cycle(now, false, &inputs.s_axil, &outputs.s_axil)?;
                master.cycle(now, &mut inputs.s_axil, &outputs.s_axil);
                seen.extend(std::iter::from_fn(|| master.pop()).map(|done| done.data as u32));
            }
            let bits = pending.iter().enumerate();
            let bits = bits.fold(0, |all, (v, on)| all | u32::from(*on) << v);
            let [low, high, data] = table[at].words;
            let want = [bits, low, high, data, table[at].masked.into()];
            if seen != want {
                return Err(format!("round {round}: read {seen:x?}, not {want:x?}").into());
            }
        }
        Ok(())
    });
}
