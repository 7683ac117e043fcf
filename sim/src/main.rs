//! The `weft` command.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

mod command;

use command::{Common, Seed};

/// Weft: an open iWARP RNIC, simulated.
#[derive(Parser)]
#[command(version, about)]
struct Weft {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Two cards connect in twelve ways and move a file by Send, Write and Read; every byte is checked.
    Demo {
        /// The file to move; Weft's own README if none is given.
        file: Option<PathBuf>,
        #[command(flatten)]
        seed: Seed,
        #[command(flatten)]
        common: Common,
    },
    /// Bandwidth and latency, of the card's data path alone and of the whole stack.
    Perf {
        #[command(flatten)]
        seed: Seed,
        #[command(flatten)]
        common: Common,
    },
    /// Serves simulated cards as PCI devices over vfio-user sockets, until it is told to end.
    Serve(command::serve::Arguments),
    /// Runs the demonstration of a seed again, as a failure's message says, and records waves: FST files
    /// of each card's last cycles, in the folder of the capture.
    Replay {
        /// The seed.
        seed: u64,
        /// The file that was moved.
        file: Option<PathBuf>,
        /// How many cycles before the end the waves cover; 0: no waves.
        #[arg(long, default_value_t = 20_000)]
        waves: u64,
        #[command(flatten)]
        common: Common,
    },
    /// Captures what a card receives and sends to a pcapng file, by the card itself.
    Capture(Box<command::capture::CaptureArgs>),
    /// Finds cards, and says of each what is wrong with it and what to do.
    Probe(command::probe::Probe),
    /// Every register and every counter with its meaning; nothing is written, nothing is reset.
    Regs(command::regs::Regs),
    /// The ping of every RDMA installation, either side, towards another Weft or rdma-core's rping.
    Rping(Box<command::rping::Rping>),
    /// Tests the card from register bits to messages through its whole data path; it needs no cable. The card is reset.
    Selftest(command::selftest::Selftest),
    /// What the card did, event by event, from its own trace ring: works even when DMA does not.
    Trace(command::trace::TraceArgs),
    /// Many connections and messages both ways, once or in a storm, towards another Weft or rdma-core's ucmatose.
    Ucmatose(Box<command::ucmatose::Ucmatose>),
    /// A card as a network interface of Linux: the kernel's own stack beside iWARP.
    Tap(Box<command::tap::Tap>),
}

fn main() -> ExitCode {
    let result = match Weft::parse().command {
        Command::Demo { file, seed, common } => command::demo::run(file, &common, seed.seed, 0),
        Command::Perf { seed, common } => command::perf::run(&common, seed.seed),
        Command::Serve(arguments) => command::serve::run(&arguments),
        Command::Replay {
            seed,
            file,
            waves,
            common,
        } => command::demo::run(file, &common, seed, waves),
        Command::Capture(args) => command::capture::run(&args),
        Command::Probe(args) => command::probe::run(&args),
        Command::Regs(args) => command::regs::run(&args),
        Command::Rping(args) => command::rping::run(&args),
        Command::Selftest(args) => command::selftest::run(&args),
        Command::Trace(args) => command::trace::run(&args),
        Command::Ucmatose(args) => command::ucmatose::run(&args),
        Command::Tap(args) => command::tap::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("weft: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Weft::command().debug_assert();
    }
}
