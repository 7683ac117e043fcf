//! `serial_uart`: bytes through the line, at speeds a little off, with stalls; and what it says when one is lost.

use rtl_sim::{replay, Pace, Stall};
use std::collections::VecDeque;
use weft_board_tests::{enter_reset, serial_uart};

/// Cycles a bit in the bench.
const BIT: f64 = 25.0 / 3.0;

/// The other end's transmitter: the level of the line at a time.
struct Talker {
    bits: Vec<bool>,
    bit: f64,
    begun: u64,
}

impl Talker {
    fn new(byte: u8, stop: bool, bit: f64, now: u64) -> Talker {
        let data = (0..8).map(|n| byte >> n & 1 == 1);
        let bits = [false].into_iter().chain(data).chain([stop]).collect();
        Talker {
            bits,
            bit,
            begun: now,
        }
    }

    fn level(&self, now: u64) -> Option<bool> {
        self.bits
            .get(((now - self.begun) as f64 / self.bit) as usize)
            .copied()
    }
}

#[test]
fn bytes_come_at_any_tolerable_speed() {
    replay("serial_uart_receive", 0..16, |run| {
        let mut rng = run.seed.rng("test");
        let mut sim = run.sim::<serial_uart::Model>();
        let bit = BIT * (0.975 + 0.05 * rng.f64());
        let mut due: VecDeque<u8> = VecDeque::new();
        let (mut talker, mut left, mut pause) = (None::<Talker>, 300, 0_u64);
        enter_reset(&mut sim);
        sim.inputs.rxd = true;
        sim.reset(4);
        for now in 0..200_000_u64 {
            sim.step();
            if sim.outputs.error {
                return Err("an error of the line".into());
            }
            if sim.outputs.rx_valid && sim.inputs.rx_ready {
                let want = due.pop_front().ok_or("a byte from nowhere")?;
                if sim.outputs.rx_byte != want {
                    return Err(format!("{:#x} came as {:#x}", want, sim.outputs.rx_byte).into());
                }
            }
            sim.inputs.rx_ready = rng.u32(0..8) != 0;
            sim.inputs.rxd = match &talker {
                Some(t) => t.level(now).unwrap_or_else(|| {
                    pause = if rng.bool() { 0 } else { rng.u64(0..60) };
                    true
                }),
                None => true,
            };
            if talker.as_ref().is_some_and(|t| t.level(now).is_none()) {
                talker = None;
            }
            if talker.is_none() {
                if pause > 0 {
                    pause -= 1;
                } else if left > 0 {
                    let byte = rng.u8(..);
                    due.push_back(byte);
                    left -= 1;
                    talker = Some(Talker::new(byte, true, bit, now + 1));
                    sim.inputs.rxd = true;
                } else if due.is_empty() {
                    return Ok(());
                }
            }
        }
        Err(format!("{} bytes never came", due.len()).into())
    });
}

#[test]
fn a_missing_stop_bit_and_a_full_queue_are_told() {
    replay("serial_uart_errors", 0..8, |run| {
        let mut rng = run.seed.rng("test");
        let mut sim = run.sim::<serial_uart::Model>();
        enter_reset(&mut sim);
        sim.inputs.rxd = true;
        sim.reset(4);
        let mut now = 0;
        let mut say = |sim: &mut rtl_sim::Sim<serial_uart::Model>, byte: u8, stop: bool| {
            let talker = Talker::new(byte, stop, BIT, now);
            let mut errors = 0;
            while let Some(level) = talker.level(now) {
                sim.inputs.rxd = level;
                sim.step();
                now += 1;
                errors += u32::from(sim.outputs.error);
            }
            sim.inputs.rxd = true;
            for _ in 0..20 {
                sim.step();
                now += 1;
                errors += u32::from(sim.outputs.error);
            }
            errors
        };
        // A spike is no byte.
        sim.inputs.rxd = false;
        sim.step();
        sim.inputs.rxd = true;
        let byte = rng.u8(..);
        for n in 0..16 {
            if say(&mut sim, byte.wrapping_add(n), true) != 0 {
                return Err(format!("an error at byte {n}").into());
            }
        }
        if say(&mut sim, 0x55, true) != 1 {
            return Err("a byte without room was not told".into());
        }
        for n in 0..16 {
            if !sim.outputs.rx_valid || sim.outputs.rx_byte != byte.wrapping_add(n) {
                return Err(format!("byte {n} of the queue").into());
            }
            sim.inputs.rx_ready = true;
            sim.step();
            sim.inputs.rx_ready = false;
            sim.step();
        }
        if sim.outputs.rx_valid {
            return Err("a byte too many".into());
        }
        if say(&mut sim, 0xa5, false) == 0 {
            return Err("a byte without a stop bit was not told".into());
        }
        Ok(())
    });
}

#[test]
fn bytes_go_at_the_speed_of_the_line() {
    replay("serial_uart_send", 0..8, |run| {
        let mut rng = run.seed.rng("test");
        let mut sim = run.sim::<serial_uart::Model>();
        let mut pace = Pace::new(Stall::any(&mut rng), rng.fork());
        enter_reset(&mut sim);
        sim.inputs.rxd = true;
        sim.reset(4);
        let (mut sent, mut taken) = (VecDeque::new(), 0);
        // A listener that looks at the middle of each bit.
        let mut began: Option<u64> = None;
        let mut level = Vec::new();
        for now in 0..60_000_u64 {
            sim.step();
            if sim.inputs.tx_valid && sim.outputs.tx_ready {
                sent.push_back(sim.inputs.tx_byte);
                sim.inputs.tx_valid = false;
            }
            match began {
                None if !sim.outputs.txd => (began, level) = (Some(now), vec![]),
                None => {}
                Some(start) => {
                    let middle = start + (BIT * (level.len() as f64 + 0.5)) as u64;
                    if now == middle {
                        level.push(sim.outputs.txd);
                    }
                    if level.len() == 10 {
                        let byte = (0..8).fold(0_u8, |b, n| b | u8::from(level[n + 1]) << n);
                        let want = sent.pop_front();
                        if level[0] || !level[9] || want != Some(byte) {
                            return Err(format!("{want:x?} went as {byte:#x}, {level:?}").into());
                        }
                        taken += 1;
                        began = None;
                    }
                }
            }
            if !sim.inputs.tx_valid && pace.start() {
                (sim.inputs.tx_valid, sim.inputs.tx_byte) = (true, rng.u8(..));
            }
        }
        // 10 bits a byte, and at most two cycles from one to the next.
        let most = 60_000.0 / (10.0 * BIT);
        if (taken as f64) < most * 0.6 || taken as f64 > most {
            return Err(format!("{taken} bytes in the time of {most:.0}").into());
        }
        Ok(())
    });
}
