//! The control processor as a card: its registers are reached cycle by cycle, and its DMA goes to a piece of memory.

use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rtl_sim::axi::{self, Fault, Memory, MemorySlave, Ram, Timing};
use rtl_sim::axil::{self, Master};
use rtl_sim::{Run, Sim, Stall};
use weft_hostdrv::dma::DmaBuffer;
use weft_hostdrv::transport::{Bar, Transport, TransportError};

/// IOVA of host memory.
pub const HOST: u64 = 0x12_3456_0000;
/// Bytes of it.
pub const HOST_BYTES: usize = 1 << 14;
/// So long no access of a register takes.
const PATIENCE: u64 = 100_000;

/// Host memory, and whether it answers.
#[derive(Debug)]
pub struct Host {
    /// The bytes, from [`HOST`] on.
    pub ram: Ram,
    /// Bursts that came.
    pub bursts: u64,
}

impl Memory for Host {
    fn read(&mut self, addr: u64, bytes: &mut [u8]) -> Result<(), Fault> {
        self.bursts += 1;
        self.ram.read(addr, bytes)
    }

    fn write(&mut self, addr: u64, bytes: &[u8], strobe: u128) -> Result<(), Fault> {
        self.bursts += 1;
        self.ram.write(addr, bytes, strobe)
    }
}

macro_rules! card {
    ($card:ident, $design:ident, $bytes:literal, $div:literal) => {
        /// The control processor behind a bus of this width.
        pub struct $card {
            parts: Mutex<$design::Parts>,
        }

        mod $design {
            use super::*;
            use crate::$design::Model;

            pub struct Parts {
                pub sim: Sim<Model>,
                pub host: Host,
                pub registers: Master,
                pub memory: MemorySlave<$bytes>,
                register_rules: axil::Checker,
                memory_rules: axi::Checker<$bytes>,
            }

            impl Parts {
                pub fn new(run: &Run, stall: Stall, timing: Timing) -> Self {
                    let mut parts = Self {
                        sim: run.sim::<Model>(),
                        host: Host {
                            ram: Ram::new(HOST, HOST_BYTES),
                            bursts: 0,
                        },
                        registers: Master::new(stall, 1, run.seed),
                        memory: MemorySlave::new(timing, run.seed),
                        register_rules: axil::Checker::new("s_axil"),
                        memory_rules: axi::Checker::new("m_axi"),
                    };
                    parts.sim.reset(3);
                    parts
                }

                pub fn step(&mut self) {
                    let now = self.sim.cycle();
                    self.sim.inputs.time = now;
                    self.sim.step();
                    let now = self.sim.cycle();
                    let (inputs, outputs) = (&mut self.sim.inputs, &self.sim.outputs);
                    let registers =
                        self.register_rules
                            .cycle(now, false, &inputs.s_axil, &outputs.s_axil);
                    let memory = self
                        .memory_rules
                        .cycle(now, false, &outputs.m_axi, &inputs.m_axi);
                    if let Some(violation) = registers.err().or(memory.err()) {
                        panic!("{violation}");
                    }
                    self.registers
                        .cycle(now, &mut inputs.s_axil, &outputs.s_axil);
                    self.memory
                        .cycle(now, &mut inputs.m_axi, &outputs.m_axi, &mut self.host);
                }

                pub fn access(&mut self) -> u32 {
                    let until = self.sim.cycle() + PATIENCE;
                    loop {
                        self.step();
                        if let Some(done) = self.registers.pop() {
                            return done.data as u32;
                        }
                        assert!(self.sim.cycle() < until, "a register does not answer");
                    }
                }
            }
        }

        impl $card {
            /// Cycles of the card's clock for one of the processor's.
            pub const DIV: u64 = $div;

            /// A card after reset, with buses that pause and answer as the seed decides.
            pub fn new(run: &Run) -> Self {
                let stall = Stall::any(&mut run.seed.rng("card"));
                Self::with(run, stall, Timing::any(run.seed))
            }

            /// The same with these buses.
            pub fn with(run: &Run, registers: Stall, memory: Timing) -> Self {
                Self {
                    parts: Mutex::new($design::Parts::new(run, registers, memory)),
                }
            }

            fn parts(&self) -> MutexGuard<'_, $design::Parts> {
                self.parts.lock().unwrap_or_else(PoisonError::into_inner)
            }

            /// Host memory, looked at or changed.
            pub fn host<T>(&self, look: impl FnOnce(&mut Host) -> T) -> T {
                look(&mut self.parts().host)
            }

            /// Lets so many cycles pass, and counts those in which the card said that nothing will happen.
            pub fn pass(&self, cycles: u64) -> u64 {
                let mut parts = self.parts();
                let mut quiescent = 0;
                for _ in 0..cycles {
                    parts.step();
                    quiescent += u64::from(parts.sim.outputs.quiescent);
                }
                quiescent
            }

            /// When its timer is to go off, by its clock.
            pub fn alarm(&self) -> Option<u64> {
                let outputs = &self.parts().sim.outputs;
                outputs.alarm.then_some(outputs.alarm_at)
            }

            /// What a function-level reset of the card around it asks for.
            pub fn hold(&self, stop: bool) {
                self.parts().sim.inputs.stop = stop;
            }

            /// It has heard of [`hold`](Self::hold), and has nothing on the bus.
            pub fn is_stopped(&self) -> bool {
                self.parts().sim.outputs.stopped
            }

            /// Nothing is on the bus to host memory.
            pub fn is_bus_idle(&self) -> bool {
                self.parts().memory.is_idle()
            }
        }

        impl Transport for $card {
            fn read32(&self, _: Bar, offset: u32) -> Result<u32, TransportError> {
                let mut parts = self.parts();
                parts.registers.read(offset.into());
                Ok(parts.access())
            }

            fn write32(&self, _: Bar, offset: u32, value: u32) -> Result<(), TransportError> {
                let mut parts = self.parts();
                parts.registers.write(offset.into(), value);
                parts.access();
                Ok(())
            }

            fn config_read32(&self, _: u16) -> Result<u32, TransportError> {
                Err(TransportError::Unsupported("configuration space"))
            }

            fn dma_alloc(&self, _: usize) -> Result<DmaBuffer, TransportError> {
                Err(TransportError::Unsupported("DMA memory"))
            }

            unsafe fn map(&self, _: NonNull<u8>, _: usize) -> Result<u64, TransportError> {
                Err(TransportError::Unsupported("mapping"))
            }

            fn unmap(&self, _: u64, _: usize) -> Result<(), TransportError> {
                Err(TransportError::Unsupported("mapping"))
            }

            fn now(&self) -> u64 {
                4 * self.parts().sim.cycle()
            }

            fn wait(&self, _: u16, _: Option<u64>) -> Result<bool, TransportError> {
                Err(TransportError::Unsupported("interrupts"))
            }

            fn wake(&self, _: u16) {}

            fn reset(&self) -> Result<(), TransportError> {
                Err(TransportError::Unsupported("reset"))
            }

            fn name(&self) -> String {
                stringify!($design).into()
            }
        }
    };
}

card!(Card128, control_processor_128, 16, 1);
card!(Card512, control_processor_512, 64, 1);
card!(Card128Slow, control_processor_128_slow, 16, 4);
card!(Card512Slow, control_processor_512_slow, 64, 3);
