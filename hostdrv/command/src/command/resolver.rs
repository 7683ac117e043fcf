//! `weft resolver`: ways to the hosts of a cluster, from a table, for all programs of this host.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use weft_hostdrv::cm::RESOLVER_SOCKET;
use weft_hostdrv::tools::resolver::Resolver as Service;

use super::device::stop_on_interrupt;
use super::Failure;
use crate::output;

/// A resolver service.
#[derive(Args)]
pub struct Resolver {
    /// The cluster's table, TOML: hosts with name, ip, mac, mtu, services. It is read again when it changes.
    #[arg(long, value_name = "FILE")]
    table: PathBuf,
    /// Where it is asked. Programs ask there unless WEFT_RESOLVER names another socket.
    #[arg(long, value_name = "PATH", default_value = RESOLVER_SOCKET)]
    socket: PathBuf,
    /// What it answered, as JSON in the end.
    #[arg(long)]
    json: bool,
}

/// Answers until it is interrupted.
pub fn run(args: &Resolver) -> Result<(), Failure> {
    let stop = stop_on_interrupt()?;
    let service = Service::start(&args.table, &args.socket)?;
    eprintln!("hosts: {}, at {}", service.hosts(), args.socket.display());
    let report = service.run(&stop)?;
    let mut out = output::stdout();
    if args.json {
        serde_json::to_writer_pretty(&mut out, &report)?;
        writeln!(out)?;
    } else {
        writeln!(
            out,
            "{} questions answered, {} not known, {} no questions, {} turned away",
            report.known, report.unknown, report.nonsense, report.turned_away
        )?;
    }
    Ok(())
}
