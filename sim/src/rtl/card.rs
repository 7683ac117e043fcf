//! One Verilated card. The three widths are three types with the same text, as their port structs differ.

use std::collections::VecDeque;
use std::path::Path;

use rtl_sim::axi::{self, Mark, MemorySlave, Totals};
use rtl_sim::axil::{self, Access, Master};
use rtl_sim::axis::{self, Sink, Source};
use rtl_sim::{Seed, Sim, Violation};

use weft_layout::doorbell;

use super::memory::Behind;
use super::{Pushes, Surroundings};
use crate::card::{Card, Event};
use crate::iommu::HostMemory;
use crate::kind::CardKind;

mod models {
    #![allow(missing_docs)]
    rtl_sim::include_model!("weft_card_512");
    rtl_sim::include_model!("weft_card_128");
    rtl_sim::include_model!("weft_card_256");
}
use models::{weft_card_128, weft_card_256, weft_card_512};

/// Cycles of a reset.
const RESET: u64 = 8;
/// Cycles that a reset waits for register accesses before it: on a bus they would have come first.
const BEFORE_RESET: u32 = 64;
/// Register accesses wait while tables clear themselves, a row a cycle, and this much longer.
const AFTER_SWEEP: usize = 500;
/// Cycles for which everything must be at rest before the clock may stop.
const REST: u32 = 8;
/// Bytes of the longest frame that the card may send.
const LONGEST_FRAME: usize = 9216;

/// A card that does nothing by itself.
fn never<T>(_: &T) -> Option<u64> {
    None
}

#[cfg(not(processor))]
use never as alarm_of_processor;

/// When the timer of the card's processor is to go off.
#[cfg(processor)]
fn alarm_of_processor(outputs: &weft_card_128::Outputs) -> Option<u64> {
    outputs.alarm.then_some(outputs.alarm_at)
}

macro_rules! card {
    ($name:ident, $kind:path, $model:path, $alarm:path, $bytes:literal, $doc:literal) => {
        #[doc = $doc]
        pub struct $name {
            sim: Sim<$model>,
            registers: Master,
            memory: MemorySlave<$bytes>,
            pushes: Pushes,
            /// Interrupts and answers that wait for what was written before them.
            interrupts: VecDeque<(Mark, u8)>,
            answers: VecDeque<(Mark, u32)>,
            rx: Source<$bytes>,
            tx: Sink<$bytes>,
            /// Beats for the push window: where, which bytes, which of them count.
            window: VecDeque<(u16, [u8; $bytes], u64)>,
            check_memory: axi::Checker<$bytes>,
            check_registers: axil::Checker,
            check_tx: axis::Checker<$bytes>,
            rest: u32,
            /// A reset was asked for; so many cycles are left for what was posted before it.
            reset_in: Option<u32>,
            failure: Option<String>,
        }

        impl $name {
            /// A card after power-on.
            pub fn new(seed: Seed, around: Surroundings) -> Self {
                let mut card = Self {
                    sim: Sim::new(around.start.unwrap_or(seed)),
                    registers: Master::new(rtl_sim::Stall::Never, around.registers, seed),
                    memory: MemorySlave::new(around.memory.clone(), seed),
                    pushes: around.pushes,
                    interrupts: VecDeque::new(),
                    answers: VecDeque::new(),
                    rx: Source::new(rtl_sim::Stall::Never, seed),
                    tx: Sink::new(around.mac.clone(), seed),
                    window: VecDeque::new(),
                    check_memory: axi::Checker::new("m_axi"),
                    check_registers: axil::Checker::new("s_axil")
                        .limit(($kind.sizes().stags + AFTER_SWEEP) as u64),
                    check_tx: axis::Checker::new("mac_tx")
                        .longest_packet(LONGEST_FRAME)
                        .gapless(),
                    rest: 0,
                    reset_in: None,
                    failure: None,
                };
                card.power_on();
                card
            }

            fn power_on(&mut self) {
                self.sim.inputs = Default::default();
                self.sim.inputs.msix_ready = true;
                self.sim.reset(RESET);
                self.rest = 0;
            }

            /// The bus protocols, as the cycle left them.
            fn check(&mut self, now: u64) -> Result<(), Violation> {
                let (inputs, outputs) = (&self.sim.inputs, &self.sim.outputs);
                self.check_memory
                    .cycle(now, false, &outputs.m_axi, &inputs.m_axi)?;
                self.check_registers
                    .cycle(now, false, &inputs.s_axil, &outputs.s_axil)?;
                self.check_tx
                    .cycle(now, false, &outputs.mac_tx, &inputs.mac_tx)
            }

            /// What went over the memory bus.
            pub fn memory_totals(&self) -> Totals {
                self.memory.totals()
            }

            /// Beats sent to the MAC.
            pub fn beats_sent(&self) -> u64 {
                self.tx.beats()
            }
        }

        impl Card for $name {
            fn name(&self) -> String {
                format!("RTL, {} bits", $bytes * 8)
            }

            fn write(&mut self, address: u32, value: u32) {
                self.rest = 0;
                self.registers.write(address.into(), value);
            }

            fn push(&mut self, offset: u32, bytes: &[u8]) {
                self.rest = 0;
                let start = (offset - doorbell::JOB_PUSH) as usize;
                let mut beat = None::<(u16, [u8; $bytes], u64)>;
                for (at, byte) in (start..).zip(bytes) {
                    let place = (at / $bytes * $bytes) as u16;
                    if let Some(full) = beat.take_if(|beat| beat.0 != place) {
                        self.window.push_back(full);
                    }
                    let (_, data, strobes) = beat.get_or_insert((place, [0; $bytes], 0));
                    data[at % $bytes] = *byte;
                    *strobes |= 1 << (at % $bytes);
                }
                self.window.extend(beat);
            }

            fn read(&mut self, address: u32) {
                self.rest = 0;
                self.registers.read(address.into());
            }

            fn receive(&mut self, frame: Vec<u8>, bad: bool) {
                self.rest = 0;
                self.rx.push_with_user(&frame, bad.into());
            }

            fn cycle(&mut self, now: u64, memory: &mut dyn HostMemory, events: &mut Vec<Event>) {
                if self.failure.is_some() {
                    return;
                }
                // The cycles that were left out have passed for the design too.
                let behind = (now + RESET).saturating_sub(self.sim.cycle());
                if behind > 0 {
                    self.sim.skip(behind);
                }
                self.sim.inputs.time = now;
                self.reset_in = match self.reset_in {
                    Some(left) if left > 0 && !self.registers.is_idle() => Some(left - 1),
                    Some(_) => {
                        self.sim.inputs.reset_req = true;
                        None
                    }
                    None => None,
                };
                let beat = self.window.pop_front();
                self.sim.inputs.push_valid = beat.is_some();
                if let Some((place, data, strobes)) = beat {
                    self.sim.inputs.push_addr = place.into();
                    self.sim.inputs.push_data = data;
                    self.sim.inputs.push_strb = strobes as _;
                }
                if let Err(stop) = self.sim.try_step() {
                    self.failure = Some(stop.to_string());
                    return;
                }
                let now = self.sim.cycle();
                if let Err(violation) = self.check(now) {
                    self.failure = Some(violation.to_string());
                    return;
                }
                let (inputs, outputs) = (&mut self.sim.inputs, &self.sim.outputs);
                let msix = outputs.msix_valid;
                // What this cycle's responses told the card, it knows from the next one on.
                let mark = self.memory.mark();
                if msix && inputs.msix_ready {
                    let vector = outputs.msix_vector as u8;
                    self.interrupts.push_back((mark, vector));
                }
                self.registers
                    .cycle(now, &mut inputs.s_axil, &outputs.s_axil);
                self.memory
                    .cycle(now, &mut inputs.m_axi, &outputs.m_axi, &mut Behind(memory));
                self.rx.cycle(&mut inputs.mac_rx, &outputs.mac_rx);
                self.tx.cycle(now, &mut inputs.mac_tx, &outputs.mac_tx);
                while let Some(done) = self.registers.pop() {
                    if matches!(done.access, Access::Read { .. }) {
                        self.answers.push_back((mark, done.data as u32));
                    }
                }
                while let Some((mark, vector)) = self.interrupts.front().copied() {
                    if self.pushes.interrupts && !self.memory.is_seen(mark) {
                        break;
                    }
                    self.interrupts.pop_front();
                    events.push(Event::Interrupt(vector));
                }
                while let Some((mark, value)) = self.answers.front().copied() {
                    if self.pushes.answers && !self.memory.is_seen(mark) {
                        break;
                    }
                    self.answers.pop_front();
                    events.push(Event::Read(value));
                }
                while let Some(packet) = self.tx.pop() {
                    events.push(Event::Frame(packet.data));
                }
                let at_rest = outputs.quiescent
                    && !msix
                    && self.window.is_empty()
                    && self.registers.is_idle()
                    && self.memory.is_idle()
                    && self.interrupts.is_empty()
                    && self.answers.is_empty()
                    && self.rx.is_idle()
                    && !self.tx.in_packet();
                self.rest = if at_rest { self.rest + 1 } else { 0 };
                // Register accesses that were posted before the reset are not to have an effect after it.
                if outputs.reset_done && self.registers.is_idle() {
                    inputs.reset_req = false;
                }
            }

            fn idle(&self) -> bool {
                self.rest >= REST && !self.resetting()
            }

            fn alarm(&self) -> Option<u64> {
                $alarm(&self.sim.outputs)
            }

            fn reset(&mut self) {
                self.rest = 0;
                self.reset_in = Some(BEFORE_RESET);
            }

            fn resetting(&self) -> bool {
                self.reset_in.is_some()
                    || self.sim.inputs.reset_req
                    || self.sim.outputs.reset_done
                    || !self.memory.is_seen(self.memory.mark())
            }

            fn record_waves(&mut self, path: &Path, cycles: u64) -> bool {
                self.sim.rolling_waves(path, cycles)
            }

            fn has_waves(&self) -> bool {
                true
            }

            fn failure(&self) -> Option<String> {
                self.failure.clone()
            }
        }
    };
}

card!(
    Rtl512,
    CardKind::Rtl512,
    weft_card_512::Model,
    never,
    64,
    "The card at 512 bits."
);
card!(
    Rtl256,
    CardKind::Rtl256,
    weft_card_256::Model,
    never,
    32,
    "The card at 256 bits, with 4096 flows and 16384 STags."
);
card!(
    Rtl128,
    CardKind::Rtl128,
    weft_card_128::Model,
    alarm_of_processor,
    16,
    "The card at 128 bits."
);
