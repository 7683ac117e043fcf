//! The subcommands of `weft`, a file each, and what they share.

use std::io::{self, IsTerminal};
use std::path::PathBuf;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use weft_sim::kind::CardKind;

pub mod capture;
pub mod demo;
pub mod device;
pub mod perf;
pub mod probe;
pub mod regs;
pub mod rping;
pub mod selftest;
pub mod serve;
pub mod tap;
pub mod trace;
pub mod ucmatose;

/// Why a command failed, as the user reads it.
pub type Failure = Box<dyn std::error::Error>;

/// The seed of a simulation.
#[derive(Args)]
pub struct Seed {
    /// Decides every random choice.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// What every simulation is asked.
#[derive(Args)]
pub struct Common {
    /// Folder for captures, logs and waves.
    #[arg(long, default_value = "weft-out")]
    pub out: PathBuf,
    /// Prints a JSON object instead of text.
    #[arg(long)]
    pub json: bool,
    /// The card: rtl512, rtl128 or model.
    #[arg(long, default_value_t = default_card())]
    pub card: CardKind,
    /// Largest IPv4 packet.
    #[arg(long, default_value_t = 1500, value_parser = clap::value_parser!(u16).range(576..=9000))]
    pub mtu: u16,
}

/// The widest card of this build.
pub fn default_card() -> CardKind {
    if CardKind::available().contains(&CardKind::Rtl512) {
        CardKind::Rtl512
    } else {
        CardKind::Model
    }
}

/// Is the card in this build?
pub fn check_card(card: CardKind) -> Result<(), Failure> {
    if CardKind::available().contains(&card) {
        return Ok(());
    }
    Err(format!("this build has no card `{card}`").into())
}

/// A progress bar, on a terminal only.
pub fn progress(length: u64, wanted: bool) -> ProgressBar {
    if !wanted || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(length);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} {elapsed}") {
        bar.set_style(style);
    }
    bar
}
