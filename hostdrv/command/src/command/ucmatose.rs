//! `weft ucmatose`.

use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use clap::Args;
use weft_tools::run as run_machine;
use weft_tools::ucmatose::{
    Load, UcmatoseClient, UcmatoseNote, UcmatoseReport, UcmatoseServer, PORT,
};

use super::device::{nanoseconds, stop_on_interrupt, Beside, Mpa, Peer, Station};
use super::Failure;
use crate::output;
use crate::progress::Progress;

/// ucmatose's options, with ucmatose's letters.
#[derive(Args)]
pub struct Ucmatose {
    /// Client: the server's address. Without it this is the server.
    #[arg(short = 's', value_name = "ADDRESS")]
    server: Option<Peer>,
    /// The address to bind to: the card's own (`--ip`), or 0.0.0.0.
    #[arg(short = 'b', value_name = "ADDRESS")]
    bind: Option<Ipv4Addr>,
    /// The server's port.
    #[arg(short = 'p', value_name = "PORT", default_value_t = PORT)]
    port: u16,
    /// Connections.
    #[arg(short = 'c', value_name = "CONNECTIONS", default_value_t = 1)]
    connections: usize,
    /// Messages each way on a connection.
    #[arg(short = 'C', value_name = "MESSAGES", default_value_t = 10)]
    messages: usize,
    /// Bytes of a message; 0: no messages.
    #[arg(short = 'S', value_name = "SIZE", default_value_t = 100)]
    size: usize,
    /// Does everything so many times: connect, move, disconnect. A server of rdma-core does it once; 0 for a server: until interrupted.
    #[arg(long, value_name = "ROUNDS", default_value_t = 1)]
    storm: u64,
    /// Compares what arrives with what Weft's ucmatose sends; not possible with rdma-core's, which sends whatever its memory holds.
    #[arg(long)]
    verify: bool,
    /// All connections take their receives from one shared receive queue.
    #[arg(long)]
    srq: bool,
    /// Gives a connection up when nothing happens on it for so many seconds; 0: never.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    timeout: f64,
    #[command(flatten)]
    mpa: Mpa,
    #[command(flatten)]
    station: Station,
    #[command(flatten)]
    beside: Beside,
}

fn print(report: &UcmatoseReport, out: &mut impl Write) -> io::Result<()> {
    if let Some(negotiated) = &report.negotiated {
        writeln!(out, "agreed: {negotiated}")?;
    }
    writeln!(
        out,
        "{} rounds, {} connections, {} failures, {} rejected, {} messages of {} bytes received, {} bytes verified, {:.3} ms",
        report.rounds,
        report.connections,
        report.failures,
        report.rejected,
        report.messages,
        report.bytes,
        report.bytes_verified,
        report.elapsed_ns as f64 / 1e6
    )?;
    if let Some(connect) = report.connect {
        writeln!(out, "a connect: {connect}")?;
    }
    if let Some(round) = report.round {
        writeln!(out, "a round:   {round}")?;
    }
    // One reason of many connections is said once.
    for alike in report
        .failed
        .chunk_by(|a, b| a.error.to_string() == b.error.to_string())
    {
        let (first, last) = (&alike[0], &alike[alike.len() - 1]);
        write!(out, "round {} connection {}", first.round, first.connection)?;
        if alike.len() > 1 {
            write!(
                out,
                " to round {} connection {} ({} of them)",
                last.round,
                last.connection,
                alike.len()
            )?;
        }
        writeln!(out, ": {}", first.error)?;
    }
    writeln!(out, "{}", if report.passed() { "passed" } else { "FAILED" })
}

fn locked(bar: &Mutex<Progress>) -> MutexGuard<'_, Progress> {
    bar.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs either role.
pub fn run(args: &Ucmatose) -> Result<(), Failure> {
    let own = args.station.ip.address;
    if let Some(bind) = args
        .bind
        .filter(|bind| !bind.is_unspecified() && *bind != own)
    {
        return Err(format!("cannot bind to {bind}: the card's address is {own} (--ip)").into());
    }
    if let Some(peer) = args.server {
        args.station.check_peer(peer.0)?;
    }
    let opened = args.station.begin(&args.beside)?;
    let stop = stop_on_interrupt()?;
    let device = &opened.device;
    let load = Load {
        connections: args.connections,
        rounds: args.storm,
        messages: args.messages,
        size: args.size,
        verify: args.verify,
        srq: args.srq,
        terms: args.mpa.terms(),
        patience_ns: nanoseconds(args.timeout),
    };
    let json = args.station.card.json;
    let all = load.rounds
        * if args.server.is_some() {
            1
        } else {
            load.connections as u64
        };
    let shown = Arc::new(Mutex::new(Progress::new(all, !json && args.storm != 1)));
    let bar = Arc::clone(&shown);
    let observer = Box::new(move |note| match note {
        UcmatoseNote::Round { done, .. } | UcmatoseNote::Connection { done } => {
            locked(&bar).at(done, "")
        }
        _ => {}
    });
    let report = match args.server {
        Some(peer) => {
            let mut client =
                UcmatoseClient::start(device, peer.port(args.port), load, Some(observer))?;
            run_machine(device, &mut client, &stop)?
        }
        None => {
            let mut server = UcmatoseServer::start(device, args.port, load, Some(observer))?;
            eprintln!("listening on {}", server.local_addr());
            run_machine(device, &mut server, &stop)?
        }
    };
    locked(&shown).finish();
    opened.close()?;
    let mut out = output::stdout();
    if json {
        output::json(&mut out, &report)?;
    } else {
        print(&report, &mut out)?;
    }
    match (&report.error, report.passed()) {
        (Some(error), _) => Err(error.clone().into()),
        (None, true) => Ok(()),
        (None, false) => Err(format!("{} connections failed", report.failures).into()),
    }
}
