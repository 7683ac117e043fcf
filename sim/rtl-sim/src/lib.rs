//! A testbench for SystemVerilog designs.
//!
//! A build script turns a design into a model with `build` (feature `build`): Verilator
//! compiles it, and two structs, *inputs* and *outputs*, stand for its ports. Whole bus channels are one field each:
//! an AXI4 port is an [`axi::FromMaster`] on one side and an [`axi::FromSlave`] on the other. [`Sim`] exchanges
//! both structs with the design in one foreign call per clock cycle.
//!
//! Bus models ([`axis`], [`axi`], [`axil`]) look at what happened in the cycle and set the inputs of the next:
//!
//! ```ignore
//! rtl_sim::include_model!("copier");
//!
//! let mut sim = Sim::<copier::Model>::new(seed);
//! sim.reset(4);
//! loop {
//!     sim.step();
//!     memory.cycle(sim.cycle(), &mut sim.inputs.m_axi, &sim.outputs.m_axi, &mut host);
//!     control.cycle(sim.cycle(), &mut sim.inputs.s_axil, &sim.outputs.s_axil);
//! }
//! ```
//!
//! After [`Sim::step`], `inputs` still hold what the design saw in that cycle, `outputs` what it answered just before
//! the clock edge. A handshake took place where both valid and ready are set. What a model then writes into `inputs` is seen
//! in the next cycle, so that no bus model can make a combinational loop with the design.

pub mod axi;
pub mod axil;
pub mod axis;
#[cfg(any(feature = "build", test))]
pub mod build;
mod check;
pub mod coverage;
mod replay;
mod seed;
mod sim;
mod stall;

pub use check::{Rule, Violation, Watchdog};
pub use replay::{replay, Run};
pub use seed::Seed;
pub use sim::{Functions, Model, Sim, Stop, StopKind};
pub use stall::{Pace, Stall};

/// Includes the module that the build script generated for the model `name`: `Inputs`, `Outputs` and `Model`.
#[macro_export]
macro_rules! include_model {
    ($name:literal) => {
        include!(concat!(env!("OUT_DIR"), "/", $name, ".rs"));
    };
}
