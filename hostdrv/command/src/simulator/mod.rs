//! What the simulator adds: cards that `--device sim` names, and the subcommands that need it.

use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use weft_hostdrv::{transport, Congestion};
use weft_sim::figures::{self, Draws};
use weft_sim::kind::CardKind;
use weft_sim::perf::loss::{self, Traffic};
use weft_sim::perf::pcie::{Port, PORTS};
use weft_sim::serve::{private, PrivateSpec};

use crate::command::device;
use crate::command::reach::{Reached, Way};
use crate::command::Failure;

pub mod demo;
mod heard;
mod host;
pub mod partitions;
pub mod perf;
pub mod project;
pub mod serve;

/// Simulated cards of this process.
pub struct Simulated;

impl Way for Simulated {
    fn kinds(&self) -> &'static [&'static str] {
        &["sim"]
    }

    fn help(&self) -> &'static str {
        "sim[:key=value,...] for a simulated one of its own (card=rtl512, rtl256, rtl128 or model; port=...; see docs/simulator.md)"
    }

    fn reach(&self, spec: &str) -> Result<Reached, Failure> {
        let (_, spec) = spec.split_once(':').unwrap_or((spec, ""));
        let served = private(&spec.parse::<PrivateSpec>()?)?;
        let socket = served
            .sockets()
            .first()
            .ok_or("the simulated card has no socket")?;
        let transport = transport::open(&format!("vfio-user:{}", socket.display()))?;
        Ok(Reached::while_kept(transport, served))
    }
}

/// Modes of `weft perf` without the options of --loss: a requirement alone is not asked for where another mode excludes it.
const OTHERS: [&str; 4] = ["scale", "queue", "mixed", "pcie"];

/// What only the simulator can do.
#[derive(Subcommand)]
pub enum Command {
    /// Two cards connect in twelve ways and move a file by Send, Write and Read; every byte is checked.
    Demo {
        /// The file to move; a README of Weft's if none is given.
        file: Option<PathBuf>,
        #[command(flatten)]
        seed: Seed,
        #[command(flatten)]
        kept_in: Out,
        #[command(flatten)]
        common: Common,
    },
    /// Bandwidth and latency, of the card's data path alone and of the whole stack.
    Perf {
        #[command(flatten)]
        seed: Seed,
        #[command(flatten)]
        kept: Kept,
        /// Instead: goodput of each congestion controller where the network loses and reorders.
        #[arg(long, group = "for_a_time")]
        loss: bool,
        /// Instead: how fast as many connections are made as the card has flows, and how fairly 64 of them share the line.
        #[arg(long, group = "for_a_time")]
        scale: bool,
        /// Instead: each congestion controller behind a slow port that marks, with marks (ECN) and without.
        #[arg(long, group = "for_a_time")]
        queue: bool,
        /// Instead: frames of several kinds mixed, each row as fast as the card takes them and at the pace of its wire.
        #[arg(long, conflicts_with_all = ["loss", "scale", "queue", "mtu"])]
        mixed: bool,
        /// Instead: the data path behind PCIe ports, as `3x16` or `3x16+tags=32+wide+beside=50`: read requests in flight, reads with a long tail, per cent of the link that another device takes.
        #[arg(long, value_name = "PORT,..", value_delimiter = ',', num_args = 0.., require_equals = true, default_missing_values = PORTS, conflicts_with_all = ["loss", "scale", "queue", "mixed", "mtu"])]
        pcie: Option<Vec<Port>>,
        /// Of --loss: these controllers.
        #[arg(long, value_name = "NAME,..", value_delimiter = ',', requires = "loss", conflicts_with_all = OTHERS, value_parser = device::congestion(), default_values = loss::CONTROLLERS.map(Congestion::name))]
        congestion: Vec<Congestion>,
        /// Of --loss: with markers (RFC 5044 §4.3) in what is sent.
        #[arg(long, requires = "loss", conflicts_with_all = OTHERS)]
        markers: bool,
        /// Of --loss: the two ends agree that each segment begins with an FPDU.
        #[arg(long, requires = "loss", conflicts_with = "markers", conflicts_with_all = OTHERS)]
        aligned: bool,
        /// Of --loss: bytes of a Write.
        #[arg(long, value_name = "BYTES", requires = "loss", conflicts_with_all = OTHERS, default_value_t = loss::BYTES as u32, value_parser = clap::value_parser!(u32).range(1..=1 << 24))]
        write_bytes: u32,
        /// Simulated time of each run of --loss, --scale or --queue.
        #[arg(long, value_name = "N", requires = "for_a_time", conflicts_with_all = ["mixed", "pcie"], default_value_t = 3)]
        milliseconds: u64,
        #[command(flatten)]
        common: Common,
    },
    /// A workload at every rung of the partition ladder: what each costs in registers, DMA, copies, latency and bandwidth.
    Partitions(partitions::Arguments),
    /// What a workload would do at sizes that cannot be simulated: line rates, PCIe generations, hosts, queue pairs; from measured costs.
    Project(project::Arguments),
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
        kept_in: Out,
        #[command(flatten)]
        common: Common,
    },
    /// Serves simulated cards as PCI devices over vfio-user sockets, until it is told to end.
    Serve(serve::Arguments),
}

impl Command {
    /// Does it.
    pub fn run(&self) -> Result<(), Failure> {
        match self {
            Self::Demo {
                file,
                seed,
                kept_in,
                common,
            } => demo::run(file.as_deref(), common, &kept_in.out, seed.seed, 0),
            Self::Perf {
                seed,
                kept,
                loss,
                scale,
                queue,
                mixed,
                pcie,
                congestion,
                markers,
                aligned,
                write_bytes,
                milliseconds,
                common,
            } => {
                if *loss {
                    let traffic = Traffic {
                        markers: *markers,
                        aligned: *aligned,
                        write_bytes: *write_bytes as usize,
                    };
                    perf::loss(common, seed.seed, *milliseconds, congestion, traffic, kept)
                } else if *scale {
                    perf::scale(common, seed.seed, *milliseconds, kept)
                } else if *queue {
                    perf::queue(common, seed.seed, *milliseconds, kept)
                } else if *mixed {
                    perf::mixed(common, seed.seed, kept)
                } else if let Some(ports) = pcie {
                    perf::pcie(common, seed.seed, ports, kept)
                } else {
                    perf::run(common, seed.seed, kept)
                }
            }
            Self::Partitions(arguments) => partitions::run(arguments),
            Self::Project(arguments) => project::run(arguments),
            Self::Replay {
                seed,
                file,
                waves,
                kept_in,
                common,
            } => demo::run(file.as_deref(), common, &kept_in.out, *seed, *waves),
            Self::Serve(arguments) => serve::run(arguments),
        }
    }

    /// What is told of the work unless a filter is given.
    pub fn level(&self) -> &'static str {
        match self {
            Self::Serve(arguments) if !arguments.quiet() => "info",
            _ => "warn",
        }
    }
}

/// A kind of card by its name.
pub fn card_kind() -> impl TypedValueParser<Value = CardKind> {
    PossibleValuesParser::new(["rtl512", "rtl256", "rtl128", "model"])
        .try_map(|name| name.parse::<CardKind>())
}

/// The seed of a simulation.
#[derive(Args)]
pub struct Seed {
    /// Decides every random choice.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// Where figures are kept, besides what is printed.
#[derive(Args)]
pub struct Kept {
    /// Also writes figures and tables to this page (HTML, self-contained).
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Also writes each figure as SVG, PDF and CSV into this folder.
    #[arg(long, value_name = "DIR")]
    pub figures: Option<PathBuf>,
}

impl Kept {
    /// Keeps what was measured where it was asked for. `source` is the command that measures it again, and the version.
    fn keep(&self, measured: &impl Draws, source: &str) -> Result<(), Failure> {
        if let Some(path) = &self.html {
            write_page(path, &measured.page(source)?)?;
        }
        if let Some(folder) = &self.figures {
            figures::write(&measured.figures(source), folder)?;
        }
        Ok(())
    }
}

fn write_page(path: &Path, page: &str) -> Result<(), Failure> {
    let cannot = |error| format!("cannot write {}: {error}", path.display());
    Ok(figures::replace(path, page.as_bytes()).map_err(cannot)?)
}

/// Where captures of a run are kept.
#[derive(Args)]
pub struct Out {
    /// Folder for captures, logs and waves.
    #[arg(long, default_value = "weft-out", value_hint = clap::ValueHint::DirPath)]
    pub out: PathBuf,
}

/// What every simulation is asked.
#[derive(Args)]
pub struct Common {
    /// Prints a JSON object instead of text.
    #[arg(long)]
    pub json: bool,
    /// The card.
    #[arg(long, default_value_t = CardKind::widest(), value_parser = card_kind())]
    pub card: CardKind,
    /// Largest IPv4 packet.
    #[arg(long, default_value_t = 1500, value_parser = clap::value_parser!(u16).range(576..=9000))]
    pub mtu: u16,
}
