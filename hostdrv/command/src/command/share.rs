//! `weft share`: a card for several processes of this host.

use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use clap::Args;
use weft_share::{Broker, Limits};

use super::device::{stop_on_interrupt, Beside, Station};
use super::Failure;
use crate::output;

/// A broker.
#[derive(Args)]
pub struct Share {
    /// Where clients ask.
    #[arg(long, value_name = "PATH")]
    socket: PathBuf,
    /// Clients at a time; one more is turned away.
    #[arg(long, value_name = "CLIENTS", default_value_t = 32)]
    clients: usize,
    /// Queue pairs of a client.
    #[arg(long, value_name = "PAIRS", default_value_t = 16)]
    queue_pairs: usize,
    /// Regions of a client.
    #[arg(long, value_name = "REGIONS", default_value_t = 256)]
    regions: usize,
    /// Bytes of memory of a client, its queues as well.
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 20)]
    memory: u64,
    /// Per cent of all clients, and of what the card has, that one user may have.
    #[arg(long, value_name = "PERCENT", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..=100))]
    user_share: u64,
    /// Lets clients give memory of their own, sealed files, instead of the broker's: only where who may write to the socket means no harm.
    #[arg(long)]
    trusted: bool,
    #[command(flatten)]
    station: Station,
    #[command(flatten)]
    beside: Beside,
}

/// Lends until it is interrupted.
pub fn run(args: &Share) -> Result<(), Failure> {
    let opened = args.station.begin(&args.beside)?;
    let stop = stop_on_interrupt()?;
    let device = &opened.device;
    let limits = Limits {
        clients: args.clients,
        queue_pairs: args.queue_pairs,
        regions: args.regions,
        memory: args.memory,
        user_share: args.user_share,
        trusted: args.trusted,
        ..Limits::default()
    };
    let mut broker = Broker::bind(device, &args.socket, limits)?;
    if let Err(error) = broker.refuse_descriptors() {
        eprintln!(
            "{}: this system refuses no descriptors ({error}), as Linux 6.16 does: who may write to the socket can keep others from coming",
            device.ip()
        );
    }
    eprintln!("{}: shared at {}", device.ip(), args.socket.display());
    broker.serve(|| stop.load(Ordering::Relaxed))?;
    let report = broker.report();
    drop(broker);
    let mut out = output::stdout();
    if args.station.card.json {
        output::json(&mut out, &report)?;
    } else {
        writeln!(
            out,
            "{} clients, {} turned away; refused: {} requests, {} commands",
            report.came, report.turned_away, report.refused_requests, report.refused_commands
        )?;
    }
    opened.close()
}
