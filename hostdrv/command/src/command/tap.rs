//! `weft tap`: a card as a network interface of Linux.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use serde::Serialize;
use weft_hostdrv::Device;
use weft_tools::interface::{InterfaceError, NetInterface};
use weft_tools::rping::{RpingServer, ServerConfig, ServerReport};
use weft_tools::Machine;

use super::counts::{named, object, of_card, Counters};
use super::device::{nanoseconds, stop_on_interrupt, Station};
use super::Failure;
use crate::output;

/// How long the loop sleeps before it looks whether it is to end.
const LOOK_NS: u64 = 100_000_000;
/// How long connections may take to close in the end.
const CLOSE_NS: u64 = 2_000_000_000;

/// A card as a network interface.
#[derive(Args)]
pub struct Tap {
    /// The interface's name. It is made, and gone again in the end, unless it was made beforehand (`ip tuntap add`).
    #[arg(long, value_name = "NAME", default_value = "weft0")]
    tap: String,
    /// Leaves the kernel's addresses alone; else it gets the card's, `--ip`.
    #[arg(long)]
    no_address: bool,
    /// Lets everybody connect to the engine's listeners; else the kernel's packet filter decides (nftables, iptables), as for its own.
    #[arg(long)]
    no_packet_filter: bool,
    /// Serves rping as well, on the same address: any number of clients.
    #[arg(long, value_name = "PORT", num_args = 0..=1, default_missing_value = "7174")]
    rping_server: Option<u16>,
    /// Ends after so many seconds; else when it is interrupted.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 0.0,
        hide_default_value = true
    )]
    seconds: f64,
    #[command(flatten)]
    station: Station,
}

/// What it has to say in the end.
#[derive(Serialize)]
struct Report {
    /// Frames and drops between card and kernel.
    #[serde(serialize_with = "object")]
    interface: Counters,
    /// The engine's side of the same card.
    #[serde(serialize_with = "object")]
    engine: Counters,
    /// The card's counters that are not 0.
    #[serde(serialize_with = "object")]
    card: Counters,
    /// The rping server's.
    #[serde(skip_serializing_if = "Option::is_none")]
    rping: Option<ServerReport>,
    /// Why it ended early.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Runs it.
pub fn run(args: &Tap) -> Result<(), Failure> {
    let (_card, device) = args.station.open()?;
    let stop = stop_on_interrupt()?;
    let prefix = (!args.no_address).then_some(args.station.ip.prefix);
    let mut interface = NetInterface::open(&device, &args.tap, prefix)?;
    if !args.no_packet_filter && !args.no_address {
        interface.honour_packet_filter()?;
    }
    let mut server = match args.rping_server {
        Some(port) => {
            let config = ServerConfig {
                port,
                ..ServerConfig::persistent()
            };
            Some(RpingServer::start(&device, config, None)?)
        }
        None => None,
    };
    eprintln!("{}", announcement(args, &device, server.as_ref()));

    let end = nanoseconds(args.seconds).map(|ns| device.now().saturating_add(ns));
    let (rping, result) = serve(&device, &mut interface, &mut server, &stop, end);
    let report = report(&device, &interface, rping, result.as_ref().err());
    let mut out = output::stdout();
    if args.station.card.json {
        output::json(&mut out, &report)?;
    } else {
        print(&report, &mut out)?;
    }
    Ok(result?)
}

fn announcement(args: &Tap, device: &Device, server: Option<&RpingServer>) -> String {
    let mac = device.mac().map(|byte| format!("{byte:02x}")).join(":");
    let address = match args.no_address {
        true => String::new(),
        false => format!(", {}/{}", device.ip(), args.station.ip.prefix),
    };
    let mut line = format!(
        "{} is up on {}: {mac}{address}, MTU {}",
        args.tap,
        device.name(),
        device.mtu()
    );
    if let Some(server) = server {
        line += &format!("; rping listens on {}", server.local_addr());
    }
    line
}

/// Moves frames until it is to stop.
fn serve(
    device: &Device,
    interface: &mut NetInterface,
    server: &mut Option<RpingServer>,
    stop: &AtomicBool,
    mut end: Option<u64>,
) -> (Option<ServerReport>, Result<(), InterfaceError>) {
    let mut stopping = false;
    loop {
        let now = device.now();
        let over = end.is_some_and(|at| at <= now);
        if stopping && over {
            return (None, Ok(()));
        }
        if !stopping && (over || stop.load(Ordering::Relaxed)) {
            let Some(server) = server else {
                return (None, Ok(()));
            };
            // Its connections are closed in order, if their peers answer.
            server.stop();
            (stopping, end) = (true, Some(now.saturating_add(CLOSE_NS)));
        }
        let handled = match interface.progress() {
            Ok(handled) => handled,
            Err(error) => return (None, Err(error)),
        };
        if let Some(report) = server.as_mut().and_then(Machine::poll) {
            return (Some(report), Ok(()));
        }
        if handled > 0 {
            continue;
        }
        let machine = server.as_ref().and_then(Machine::deadline);
        let look = now.saturating_add(LOOK_NS);
        let deadline = [machine, end].into_iter().flatten().fold(look, u64::min);
        // What the server did may have made work.
        let result = match interface.progress() {
            Ok(0) => interface.wait(Some(deadline)),
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = result {
            return (None, Err(error));
        }
    }
}

fn report(
    device: &Device,
    interface: &NetInterface,
    rping: Option<ServerReport>,
    error: Option<&InterfaceError>,
) -> Report {
    let engine = device.engine_stats();
    Report {
        interface: interface.stats().iter().collect(),
        engine: named([
            ("frames_for_host", engine.frames_for_host),
            ("segments", engine.segments),
            ("retransmits", engine.retransmits),
            ("resets_sent", engine.resets_sent),
        ]),
        card: of_card(device),
        rping,
        error: error.map(ToString::to_string),
    }
}

fn print(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let parts = [
        ("interface", &report.interface),
        ("engine", &report.engine),
        ("card", &report.card),
    ];
    for (title, counters) in parts {
        writeln!(out, "{title}")?;
        for (name, n) in counters {
            writeln!(out, "  {name:<28}{n:>12}")?;
        }
    }
    if let Some(rping) = &report.rping {
        let (connections, pings) = (rping.ended, rping.iterations);
        writeln!(out, "rping: {connections} connections, {pings} pings")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use weft_tools::rping::PORT;

    use super::Tap;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        tap: Tap,
    }

    #[test]
    fn the_ping_server_has_rpings_port() {
        let start = ["tap", "--device", "vfio-user:/a", "--ip", "10.0.0.1/24"];
        let port = |more: &[&str]| {
            let line = start.iter().chain(more).copied();
            Line::try_parse_from(line).map(|line| line.tap.rping_server)
        };
        assert_eq!(port(&[]).expect("fine"), None);
        assert_eq!(port(&["--rping-server"]).expect("fine"), Some(PORT));
        assert_eq!(port(&["--rping-server", "99"]).expect("fine"), Some(99));
    }
}
