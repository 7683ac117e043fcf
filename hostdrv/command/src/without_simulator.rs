//! The subcommands of the simulator in a build that has none: they are listed, and say how to get them.

use std::ffi::OsString;

use clap::{Args, Subcommand};

use crate::command::Failure;

/// What only the simulator can do.
#[derive(Subcommand)]
pub enum Command {
    /// Two simulated cards move a file (needs the simulator, which this build has not).
    Demo(Anything),
    /// Bandwidth and latency of simulated cards (needs the simulator, which this build has not).
    Perf(Anything),
    /// A workload at every rung of the partition ladder (needs the simulator, which this build has not).
    Partitions(Anything),
    /// What a workload would do at other sizes (needs the simulator, which this build has not).
    Project(Anything),
    /// A demonstration again, with waves (needs the simulator, which this build has not).
    Replay(Anything),
    /// Simulated cards as PCI devices over vfio-user (needs the simulator, which this build has not).
    Serve(Anything),
}

/// Its arguments, which nobody looks at.
#[derive(Args)]
#[command(disable_help_flag = true)]
pub struct Anything {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    _arguments: Vec<OsString>,
}

impl Command {
    /// Refuses.
    pub fn run(&self) -> Result<(), Failure> {
        let name = match self {
            Self::Demo(_) => "demo",
            Self::Perf(_) => "perf",
            Self::Partitions(_) => "partitions",
            Self::Project(_) => "project",
            Self::Replay(_) => "replay",
            Self::Serve(_) => "serve",
        };
        Err(format!("`weft {name}` needs the simulator, which this build has not; `cargo install` and `cargo build` add it with `--features sim`").into())
    }
}
