//! `weft stream`: echo, discard and chargen over plain TCP, on a card's address.

use std::io::Write;
use std::num::NonZeroU16;

use clap::Args;
use weft_tools::run as run_machine;
use weft_tools::stream::{StreamConfig, StreamServer};

use super::device::{stop_on_interrupt, Beside, Station};
use super::Failure;
use crate::output;

/// Small services over plain TCP.
#[derive(Args)]
pub struct Stream {
    /// Sends back what comes (RFC 862).
    #[arg(long, value_name = "PORT", num_args = 0..=1, default_missing_value = "7")]
    echo: Option<NonZeroU16>,
    /// Takes what comes (RFC 863).
    #[arg(long, value_name = "PORT", num_args = 0..=1, default_missing_value = "9")]
    discard: Option<NonZeroU16>,
    /// Sends characters without end (RFC 864).
    #[arg(long, value_name = "PORT", num_args = 0..=1, default_missing_value = "19")]
    chargen: Option<NonZeroU16>,
    /// Streams at a time; each takes a flow of the card, and one more is reset.
    #[arg(long, value_name = "STREAMS", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=1024))]
    at_a_time: u16,
    #[command(flatten)]
    station: Station,
    #[command(flatten)]
    beside: Beside,
}

impl Stream {
    /// Without a word, all three at their usual ports.
    fn config(&self) -> StreamConfig {
        let mut config = StreamConfig {
            echo: self.echo,
            discard: self.discard,
            chargen: self.chargen,
            at_a_time: self.at_a_time,
        };
        if config.ports().is_empty() {
            config.echo = NonZeroU16::new(7);
            config.discard = NonZeroU16::new(9);
            config.chargen = NonZeroU16::new(19);
        }
        config
    }
}

/// Serves until it is interrupted.
pub fn run(args: &Stream) -> Result<(), Failure> {
    let opened = args.station.begin(&args.beside)?;
    let stop = stop_on_interrupt()?;
    let device = &opened.device;
    let config = args.config();
    let mut server = StreamServer::start(device, &config)?;
    let ports: Vec<_> = config
        .ports()
        .into_iter()
        .map(|(port, service)| format!("{service:?} at {port}").to_lowercase())
        .collect();
    eprintln!("{}: {}", device.ip(), ports.join(", "));
    let report = run_machine(device, &mut server, &stop)?;
    drop(server);
    let mut out = output::stdout();
    if args.station.card.json {
        output::json(&mut out, &report)?;
    } else {
        writeln!(
            out,
            "{} streams, {} refused, {} bytes received, {} sent",
            report.streams, report.refused, report.received, report.sent
        )?;
    }
    let error = report.error;
    opened.close()?;
    error.map_or(Ok(()), |error| Err(error.into()))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::Stream;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        stream: Stream,
    }

    #[test]
    fn all_three_at_their_usual_ports_unless_one_is_named() {
        let start = ["stream", "--device", "vfio-user:/a", "--ip", "10.0.0.1/24"];
        let ports = |more: &[&str]| -> Vec<u16> {
            let line = Line::try_parse_from(start.iter().chain(more).copied()).expect("fine");
            let ports = line.stream.config().ports();
            ports.into_iter().map(|(port, _)| port).collect()
        };
        assert_eq!(ports(&[]), [7, 9, 19]);
        assert_eq!(ports(&["--echo", "1007", "--chargen"]), [1007, 19]);
        assert_eq!(ports(&["--discard"]), [9]);
    }
}
