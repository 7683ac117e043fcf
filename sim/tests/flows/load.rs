//! Full load, and fences under it.

use super::{Flows, IN_FLIGHT, MEMORY};
use weft_layout::{reg, report_kind};
use weft_sim::card::CYCLE_NS;

/// Bytes of a frame with a Write of 1400.
const FRAME: usize = 1400 + 20 + 54;

/// Traffic on flow 0, as much as the card takes, and on another one as much again.
pub struct Load {
    pub other: usize,
    send: bool,
    fed: usize,
    done: usize,
}

impl Load {
    /// Writes on both.
    pub fn writes() -> Load {
        Load {
            other: 1,
            send: false,
            fed: 0,
            done: 0,
        }
    }

    /// Sends on the other one.
    pub fn sends() -> Load {
        Load {
            send: true,
            ..Load::writes()
        }
    }

    /// Some cycles of it.
    pub fn run(&mut self, s: &mut Flows) {
        while self.fed - self.done < IN_FLIGHT / FRAME {
            let number = if self.fed % 2 == 0 { 0 } else { self.other };
            let flow = &mut s.flows[number];
            let to = (self.fed * 1500 % (MEMORY - 1400)) as u64;
            let ulpdu = match self.send && number > 0 {
                true => flow.send(&[self.fed as u8; 200]),
                false => flow.write(to, &[self.fed as u8; 1400]),
            };
            let frame = flow.segment(&[ulpdu]);
            s.deliver(frame);
            self.fed += 1;
        }
        s.bench.world.run_cycles(8).expect("a card");
        self.done += s
            .bench
            .reports()
            .iter()
            .filter(|r| r.0[0] == report_kind::SEGMENT)
            .count();
    }

    /// Runs until FENCE_DONE has this number: how many cycles that took, or nothing if it were more than `limit`.
    pub fn fence(&mut self, s: &mut Flows, number: u32, limit: u64) -> Option<u64> {
        let from = s.bench.world.now();
        s.bench.write(reg::FENCE, number);
        loop {
            self.run(s);
            let cycles = (s.bench.world.now() - from) / CYCLE_NS;
            if s.bench.read(reg::FENCE_DONE).expect("a card") == number {
                return Some(cycles);
            }
            if cycles >= limit {
                return None;
            }
        }
    }
}
