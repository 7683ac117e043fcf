//! `weft rping`.

use std::io::{self, Write};
use std::net::Ipv4Addr;

use clap::Args;
use weft_hostdrv::tools::rping::{
    Client, ClientConfig, Note, Observer, Server, ServerConfig, SessionReport, PORT, SIZE,
};
use weft_hostdrv::tools::run as run_machine;

use super::device::{nanoseconds, stop_on_interrupt, Beside, Mpa, Peer, Station};
use super::Failure;
use crate::output;

/// rping's options, with rping's letters.
#[derive(Args)]
#[command(group(clap::ArgGroup::new("role").required(true).args(["client", "server"])))]
pub struct Rping {
    /// Client: connects and pings.
    #[arg(short = 'c')]
    client: bool,
    /// Server: listens and answers.
    #[arg(short = 's')]
    server: bool,
    /// The server's address; as a server the card's own (`--ip`) is meant and this is not needed.
    #[arg(short = 'a', value_name = "ADDRESS", required_if_eq("client", "true"))]
    address: Option<Peer>,
    /// The server's port.
    #[arg(short = 'p', value_name = "PORT", default_value_t = PORT)]
    port: u16,
    /// Bytes of a ping, 26 to 65535. rdma-core's server needs to be told the same.
    #[arg(short = 'S', value_name = "SIZE", default_value_t = SIZE)]
    size: usize,
    /// Pings; 0: until interrupted.
    #[arg(short = 'C', value_name = "COUNT", default_value_t = 0)]
    count: u64,
    /// Server: any number of clients, several at a time, until interrupted.
    #[arg(short = 'P')]
    persistent: bool,
    /// Server with -P: ends after so many clients.
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 0,
        requires = "persistent"
    )]
    sessions: u64,
    /// Prints the data of each ping.
    #[arg(short = 'v')]
    verbose: bool,
    /// Checks the data. Weft's rping always does; the letter is there because rping has it.
    #[arg(short = 'V')]
    _validate: bool,
    /// Prints each step.
    #[arg(short = 'd')]
    debug: bool,
    /// Gives up when nothing happens for so many seconds on a connection; 0: never [default: 60 as client, 0 as server].
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<f64>,
    #[command(flatten)]
    mpa: Mpa,
    #[command(flatten)]
    station: Station,
    #[command(flatten)]
    beside: Beside,
}

impl Rping {
    fn observer(&self) -> Observer {
        let (json, verbose, debug) = (self.station.card.json, self.verbose, self.debug);
        let server = self.server;
        Box::new(move |note| {
            let printed = match note {
                Note::Step(step) if debug => writeln!(io::stderr(), "{step}"),
                Note::Ping(data) if verbose && !json => {
                    let text = data.split(|byte| *byte == 0).next().unwrap_or_default();
                    let text: String = text.iter().map(|byte| shown(*byte)).collect();
                    let who = if server {
                        "server ping data"
                    } else {
                        "ping data"
                    };
                    writeln!(output::stdout(), "{who}: {text}")
                }
                Note::Ended(report) if !json => print(report, &mut output::stdout()),
                _ => Ok(()),
            };
            // Output that nobody takes does not stop the ping.
            drop(printed);
        })
    }
}

/// A byte of a ping on a terminal: it may be anything.
fn shown(byte: u8) -> char {
    match byte {
        b' '..=b'~' => byte.into(),
        _ => '.',
    }
}

fn print(report: &SessionReport, out: &mut impl Write) -> io::Result<()> {
    let peer = report.peer.map_or(String::new(), |peer| peer.to_string());
    let connect = report.connect_ns.map_or(String::new(), |ns| {
        format!(", connected in {:.3} ms", ns as f64 / 1e6)
    });
    writeln!(out, "peer {peer}{connect}")?;
    if let Some(negotiated) = &report.negotiated {
        writeln!(out, "agreed: {negotiated}")?;
    }
    if !report.peer_private_data.is_empty() {
        writeln!(out, "private data: \"{}\"", report.peer_private_data)?;
    }
    writeln!(
        out,
        "{} pings, {} bytes verified each way, {:.3} ms",
        report.iterations,
        report.bytes_verified,
        report.elapsed_ns as f64 / 1e6
    )?;
    if let Some(latency) = report.latency {
        writeln!(out, "a ping: {latency}")?;
    }
    match &report.error {
        None => writeln!(out, "passed"),
        Some(error) => writeln!(out, "FAILED: {error}"),
    }
}

/// Runs either role.
pub fn run(args: &Rping) -> Result<(), Failure> {
    let stop = stop_on_interrupt()?;
    let opened = args.station.begin(&args.beside)?;
    let device = opened.device.clone();
    let json = args.station.card.json;
    let mut out = output::stdout();
    if args.client {
        let address = args.address.map_or(Ipv4Addr::UNSPECIFIED, |peer| peer.0);
        let config = ClientConfig {
            count: args.count,
            size: args.size,
            terms: args.mpa.terms(),
            patience_ns: nanoseconds(args.timeout.unwrap_or(60.0)),
            ..ClientConfig::new(Peer(address).port(args.port))
        };
        let mut client = Client::start(&device, config, Some(args.observer()))?;
        let report = run_machine(&device, &mut client, &stop)?;
        drop(client);
        opened.close()?;
        if json {
            serde_json::to_writer_pretty(&mut out, &report)?;
            writeln!(out)?;
        }
        return match report.error {
            None => Ok(()),
            Some(error) => Err(error.into()),
        };
    }
    let config = ServerConfig {
        port: args.port,
        terms: args.mpa.terms(),
        patience_ns: nanoseconds(args.timeout.unwrap_or(0.0)),
        ..if args.persistent {
            ServerConfig {
                sessions: args.sessions,
                ..ServerConfig::persistent()
            }
        } else {
            ServerConfig::default()
        }
    };
    let mut server = Server::start(&device, config, Some(args.observer()))?;
    eprintln!("listening on {}", server.local_addr());
    let report = run_machine(&device, &mut server, &stop)?;
    drop(server);
    opened.close()?;
    if json {
        serde_json::to_writer_pretty(&mut out, &report)?;
        writeln!(out)?;
    }
    if report.passed() {
        return Ok(());
    }
    if let Some(error) = report.error {
        return Err(error.into());
    }
    let failed = report.sessions.iter().filter(|s| !s.passed()).count();
    Err(match report.sessions.len() {
        0 => "no client came".into(),
        all => format!("{failed} of {all} connections failed").into(),
    })
}
