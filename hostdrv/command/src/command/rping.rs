//! `weft rping`.

use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use clap::{Args, ValueEnum};
use weft_hostdrv::bounded;
use weft_hostdrv::cm::{AddrHints, AddrInfo, Address, Gid};
use weft_hostdrv::Device;
use weft_tools::by_kernel::ByKernel;
use weft_tools::rping::{
    ClientConfig, Keys, RpingClient, RpingNote, RpingObserver, RpingServer, ServerConfig,
    ServerReport, SessionReport, PORT, SIZE,
};
use weft_tools::run as run_machine;

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
    /// Server with -P: clients at a time. One that has been silent for 10 s gives way to the next.
    #[arg(long, value_name = "COUNT", default_value_t = 64, requires = "persistent", value_parser = clap::value_parser!(u16).range(1..))]
    clients: u16,
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
    /// Client: what the server is given to read and to write with; a window or a fast registration is made for each use, and invalidated behind it.
    #[arg(
        long,
        value_name = "KEYS",
        default_value = "region",
        requires = "client"
    )]
    keys: KeysOption,
    /// Client: connects by the route record in this file, and asks nobody. If there is none, it is made and written first.
    #[arg(long, value_name = "FILE", requires = "client")]
    record: Option<PathBuf>,
    /// Connects to, or listens at, a GID and a service ID instead of an IP address and a port.
    #[arg(long, conflicts_with = "record")]
    native: bool,
    /// Server: events come by callback, instead of being taken from a channel.
    #[arg(long, requires = "server")]
    callbacks: bool,
    /// The kernel's stack makes the TCP connection, on an interface of this name that it gets on the card; then the connection is taken out of
    /// the kernel into the card, where RDMA begins. The peer notices nothing. It takes root. As server: one client.
    #[arg(long, value_name = "INTERFACE", conflicts_with_all = ["record", "native", "persistent"])]
    hand_over: Option<String>,
    #[command(flatten)]
    mpa: Mpa,
    #[command(flatten)]
    station: Station,
    #[command(flatten)]
    beside: Beside,
}

/// As [`Keys`].
#[derive(Clone, Copy, Debug, ValueEnum)]
enum KeysOption {
    /// A region's STag, the same one for all pings.
    Region,
    /// A memory window of type 2.
    Window,
    /// A region registered by work of the send queue.
    Fast,
}

impl From<KeysOption> for Keys {
    fn from(keys: KeysOption) -> Self {
        match keys {
            KeysOption::Region => Self::Region,
            KeysOption::Window => Self::Window,
            KeysOption::Fast => Self::FastRegistered,
        }
    }
}

/// The best way to a node.
fn find(device: &Device, node: &str, port: u16) -> Result<AddrInfo, Failure> {
    let found = device.get_addr_info(node, &port.to_string(), &AddrHints::default(), None)?;
    let first = found.into_iter().next();
    first.ok_or_else(|| format!("there is no way to {node}").into())
}

/// The way in a file, or the way that is found and then kept there.
fn way(device: &Device, file: &Path, to: SocketAddrV4) -> Result<AddrInfo, Failure> {
    let shown = file.display();
    let kept = match bounded::read(file) {
        Ok(bytes) => AddrInfo::from_bytes(&bytes).map_err(|error| format!("{shown}: {error}"))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let first = find(device, &to.ip().to_string(), to.port())?;
            std::fs::write(file, first.to_bytes()).map_err(|error| format!("{shown}: {error}"))?;
            first
        }
        Err(error) => return Err(format!("{shown}: {error}").into()),
    };
    match kept.destination == Address::Ip(to) {
        true => Ok(kept),
        false => {
            let leads = kept.destination;
            Err(format!("{shown}: the record leads to {leads}, not to {to}").into())
        }
    }
}

impl Rping {
    /// Begins as client, by the way that was asked for.
    fn client(&self, device: &Device, stop: &AtomicBool) -> Result<RpingClient, Failure> {
        let address = self.address.map_or(Ipv4Addr::UNSPECIFIED, |peer| peer.0);
        let server = Peer(address).port(self.port);
        let gid = Gid::of_ip(address).to_string();
        let way = match &self.record {
            Some(file) => Some(way(device, file, server)?),
            None if self.native => Some(find(device, &gid, self.port)?),
            None => None,
        };
        let config = ClientConfig {
            count: self.count,
            size: self.size,
            terms: self.mpa.terms(),
            way,
            keys: self.keys.into(),
            patience_ns: nanoseconds(self.timeout.unwrap_or(60.0)),
            ..ClientConfig::new(server)
        };
        let observer = Some(self.observer());
        let Some(interface) = &self.hand_over else {
            return Ok(RpingClient::start(device, config, observer)?);
        };
        let mut kernel = ByKernel::open(device, interface, self.station.ip.prefix)?;
        let socket = kernel.connect(server, stop)?;
        eprintln!("{}", handed_over(&socket.local_addr()?, &server));
        Ok(RpingClient::take_over(device, config, &socket, observer)?)
    }

    /// Begins as server.
    fn server(&self, device: &Device, stop: &AtomicBool) -> Result<RpingServer, Failure> {
        let config = ServerConfig {
            port: self.port,
            native: self.native,
            callbacks: self.callbacks,
            terms: self.mpa.terms(),
            patience_ns: nanoseconds(self.timeout.unwrap_or(0.0)),
            ..if self.persistent {
                ServerConfig {
                    sessions: self.sessions,
                    at_a_time: self.clients.into(),
                    ..ServerConfig::persistent()
                }
            } else {
                ServerConfig::default()
            }
        };
        let observer = Some(self.observer());
        let Some(interface) = &self.hand_over else {
            let server = RpingServer::start(device, config, observer)?;
            eprintln!("listening on {}", server.local_addr());
            return Ok(server);
        };
        let mut kernel = ByKernel::open(device, interface, self.station.ip.prefix)?;
        let listener = kernel.listen(self.port)?;
        eprintln!("the kernel is listening on {}", listener.local_addr()?);
        let socket = kernel.accept(&listener, stop)?;
        eprintln!(
            "{}",
            handed_over(&socket.local_addr()?, &socket.peer_addr()?)
        );
        Ok(RpingServer::take_over(device, config, &socket, observer)?)
    }

    fn observer(&self) -> RpingObserver {
        let (json, verbose, debug) = (self.station.card.json, self.verbose, self.debug);
        let server = self.server;
        Box::new(move |note| {
            let printed = match note {
                RpingNote::Step(step) if debug => writeln!(io::stderr(), "{step}"),
                RpingNote::Ping(data) if verbose && !json => {
                    let text = data.split(|byte| *byte == 0).next().unwrap_or_default();
                    let text: String = text.iter().map(|byte| shown(*byte)).collect();
                    let who = if server {
                        "server ping data"
                    } else {
                        "ping data"
                    };
                    writeln!(output::stdout(), "{who}: {text}")
                }
                RpingNote::Ended(report) if !json => print(report, &mut output::stdout()),
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

fn handed_over(own: &impl std::fmt::Display, peer: &impl std::fmt::Display) -> String {
    format!("the kernel's connection from {own} to {peer} goes on in the card")
}

/// Runs either role.
pub fn run(args: &Rping) -> Result<(), Failure> {
    // A record, or the names of native addresses, may have a way of their own.
    if let (Some(peer), None, false, true) = (args.address, &args.record, args.native, args.client)
    {
        args.station.check_peer(peer.0)?;
    }
    let opened = args.station.begin(&args.beside)?;
    let stop = stop_on_interrupt()?;
    let json = args.station.card.json;
    let mut out = output::stdout();
    if args.client {
        let mut client = args.client(&opened.device, &stop)?;
        let report = run_machine(&opened.device, &mut client, &stop)?;
        drop(client);
        opened.close()?;
        if json {
            output::json(&mut out, &report)?;
        }
        return match report.error {
            None => Ok(()),
            // Without JSON it was said behind the figures.
            Some(_) if !json => Err("the ping failed".into()),
            Some(error) => Err(error.into()),
        };
    }
    let mut server = args.server(&opened.device, &stop)?;
    let report = run_machine(&opened.device, &mut server, &stop)?;
    drop(server);
    opened.close()?;
    if json {
        output::json(&mut out, &report)?;
    }
    passed(report)
}

fn passed(report: ServerReport) -> Result<(), Failure> {
    if report.passed() {
        return Ok(());
    }
    if let Some(error) = report.error {
        return Err(error.into());
    }
    Err(match report.ended {
        0 => "no client came".into(),
        all => format!("{} of {all} connections failed", report.failed).into(),
    })
}
