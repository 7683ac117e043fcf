//! `weft resolver`: ways to the hosts of a cluster, for all programs of this host.

use std::io::Write;
use std::net::SocketAddrV4;
use std::path::PathBuf;

use clap::Args;
use weft_hostdrv::cm::RESOLVER_SOCKET;
use weft_tools::resolver::{Resolver as Service, ResolverConfig};

use super::device::stop_on_interrupt;
use super::Failure;
use crate::output;

/// A resolver service.
#[derive(Args)]
pub struct Resolver {
    /// The cluster's table, TOML: hosts with name, ip, mac, mtu, services; peers. It is read again when it changes. Without one: the system's
    /// names, and what this host's devices tell.
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
    /// Where the resolvers that the table has as peers may ask, by UDP: 0.0.0.0:7475.
    #[arg(long, value_name = "ADDRESS:PORT")]
    peers_at: Option<SocketAddrV4>,
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
    let mut config = ResolverConfig::new(&args.socket);
    if let Some(table) = &args.table {
        config = config.table(table);
    }
    if let Some(at) = args.peers_at {
        config = config.peers_at(at);
    }
    let service = Service::start(config)?;
    eprintln!("hosts: {}, at {}", service.hosts(), args.socket.display());
    let report = service.run(&stop)?;
    let mut out = output::stdout();
    if args.json {
        output::json(&mut out, &report)?;
    } else {
        writeln!(
            out,
            "{} questions answered, {} not known, {} no questions, {} turned away",
            report.known, report.unknown, report.nonsense, report.turned_away
        )?;
        writeln!(
            out,
            "{} announcements by devices, {} not believed; {} answers by peers, {} for peers, {} strangers",
            report.announced, report.not_believed, report.by_peers, report.for_peers, report.strangers
        )?;
    }
    Ok(())
}
