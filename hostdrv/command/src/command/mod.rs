//! The subcommands that work on a card, real or simulated, a file each, and what they share.

use clap::Subcommand;

pub mod capture;
pub mod counts;
pub mod device;
pub mod firmware;
pub mod probe;
pub mod reach;
pub mod regs;
pub mod resolver;
pub mod rping;
pub mod run;
pub mod selftest;
pub mod share;
pub mod stream;
pub mod tap;
pub mod trace;
pub mod ucmatose;

/// Why a command failed, as the user reads it.
pub type Failure = Box<dyn std::error::Error>;

/// What can be done with a card.
#[derive(Subcommand)]
pub enum Command {
    /// Captures what a card receives and sends to a pcapng file, by the card itself.
    Capture(Box<capture::CaptureArgs>),
    /// The control processor of a card: loads its firmware, shows its state, log and counts, and what is left of it after a crash.
    Firmware(firmware::Firmware),
    /// Finds cards, and says of each what is wrong with it and what to do.
    Probe(probe::Probe),
    /// Every register and every counter with its meaning; nothing is written, nothing is reset.
    Regs(regs::Regs),
    /// Ways to the hosts of a cluster, from a table, for the programs of this host: they connect without a question on the wire.
    Resolver(resolver::Resolver),
    /// The ping of every RDMA installation, either side, towards another Weft or rdma-core's rping.
    Rping(Box<rping::Rping>),
    /// Runs a program for libibverbs and librdmacm, as it is, on a card; or two, on two simulated cards.
    Run(Box<run::Run>),
    /// Tests the card from register bits to messages through its whole data path; it needs no cable. The card is reset.
    Selftest(selftest::Selftest),
    /// Lends the card to several processes of this host: queue pairs and memory by files, each process behind its own checks.
    Share(Box<share::Share>),
    /// Echo, discard and chargen over plain TCP on the card's address: its TCP without MPA, for other people's suites.
    Stream(Box<stream::Stream>),
    /// What the card did, event by event, from its own trace ring: works even when DMA does not.
    Trace(trace::TraceArgs),
    /// Many connections and messages both ways, once or in a storm, towards another Weft or rdma-core's ucmatose.
    Ucmatose(Box<ucmatose::Ucmatose>),
    /// A card as a network interface of Linux: the kernel's own stack beside iWARP.
    Tap(Box<tap::Tap>),
}

impl Command {
    /// Does it.
    pub fn run(&self) -> Result<(), Failure> {
        match self {
            Self::Capture(args) => capture::run(args),
            Self::Firmware(args) => firmware::run(args),
            Self::Probe(args) => probe::run(args),
            Self::Regs(args) => regs::run(args),
            Self::Resolver(args) => resolver::run(args),
            Self::Rping(args) => rping::run(args),
            Self::Run(args) => run::run(args),
            Self::Selftest(args) => selftest::run(args),
            Self::Share(args) => share::run(args),
            Self::Stream(args) => stream::run(args),
            Self::Trace(args) => trace::run(args),
            Self::Ucmatose(args) => ucmatose::run(args),
            Self::Tap(args) => tap::run(args),
        }
    }
}
