//! Ports: what a served card's wire is joined to.

use std::fmt;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use serde::Serialize;
use thiserror::Error;

pub mod datagram;
pub mod replay;
pub mod tap;

/// Shortest frame on a wire, without FCS.
const SHORTEST: usize = 60;
/// Longest frame that a port takes from outside.
const LONGEST: usize = 9216;

/// What a card's port is joined to, as the user writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PortSpec {
    /// Nothing: frames leave and are gone.
    #[default]
    None,
    /// `card:N`: another card of the same process.
    Card(usize),
    /// `dgram:LOCAL[,PEER]`: unix datagram sockets, a frame in each datagram.
    Datagram {
        /// Where frames come in.
        local: PathBuf,
        /// Where they go to; without it, to whoever sent the last one.
        peer: Option<PathBuf>,
    },
    /// `tap:NAME`: a TAP interface of Linux.
    Tap(String),
    /// `pcap:IN[,OUT]`: frames out of one file, and into another.
    Replay {
        /// Frames for the card (pcap or pcapng).
        input: PathBuf,
        /// Frames of the card (pcapng).
        output: Option<PathBuf>,
    },
}

/// A port that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is no port: there are card:N, dgram:LOCAL[,PEER], tap:NAME, pcap:IN[,OUT] and none")]
pub struct PortSpecError(String);

impl FromStr for PortSpec {
    type Err = PortSpecError;

    fn from_str(text: &str) -> Result<Self, PortSpecError> {
        let error = || PortSpecError(text.to_owned());
        if text == "none" {
            return Ok(PortSpec::None);
        }
        let (kind, rest) = text.split_once(':').ok_or_else(error)?;
        let (first, second) = match rest.split_once(',') {
            Some((first, second)) => (first, Some(PathBuf::from(second))),
            None => (rest, None),
        };
        if first.is_empty() || second.as_ref().is_some_and(|s| s.as_os_str().is_empty()) {
            return Err(error());
        }
        match (kind, second) {
            ("card", None) => first.parse().map(PortSpec::Card).map_err(|_| error()),
            ("dgram", peer) => Ok(PortSpec::Datagram {
                local: first.into(),
                peer,
            }),
            ("tap", None) => Ok(PortSpec::Tap(first.to_owned())),
            ("pcap", output) => Ok(PortSpec::Replay {
                input: first.into(),
                output,
            }),
            _ => Err(error()),
        }
    }
}

impl fmt::Display for PortSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, first, second) = match self {
            PortSpec::None => return f.write_str("none"),
            PortSpec::Card(number) => return write!(f, "card:{number}"),
            PortSpec::Tap(name) => return write!(f, "tap:{name}"),
            PortSpec::Datagram { local, peer } => ("dgram", local, peer),
            PortSpec::Replay { input, output } => ("pcap", input, output),
        };
        write!(f, "{kind}:{}", first.display())?;
        match second {
            Some(second) => write!(f, ",{}", second.display()),
            None => Ok(()),
        }
    }
}

/// What went over a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PortCounts {
    /// Frames from outside, given to the card's link.
    pub received: u64,
    /// Frames from the card, taken by the outside.
    pub sent: u64,
    /// Frames that no card can take (too long, or too short to have a header).
    pub refused: u64,
    /// Frames from the card that the outside did not take.
    pub dropped: u64,
}

/// Something outside the simulation that frames come from and go to.
pub trait Outside: Send {
    /// What to poll for frames.
    fn fd(&self) -> Option<BorrowedFd<'_>>;

    /// Takes a frame that came, if one is there.
    fn receive(&mut self) -> io::Result<Option<Vec<u8>>>;

    /// Gives a frame to the outside, now or as soon as it takes it.
    fn send(&mut self, frame: Vec<u8>);

    /// Does what is left to do, and answers after how long to ask again. `ready`: the card receives, and all cards
    /// are at rest.
    fn tick(&mut self, ready: bool) -> Option<Duration> {
        let _ = ready;
        None
    }

    /// The card was reset.
    fn restart(&mut self) {}

    /// Writes out what is buffered; the simulation is at rest.
    fn flush(&mut self) {}

    /// What went over it.
    fn counts(&self) -> PortCounts;
}

impl PortSpec {
    /// Opens what is outside the simulation; nothing for the ports that are inside.
    pub fn open(&self) -> io::Result<Option<Box<dyn Outside>>> {
        Ok(match self {
            PortSpec::None | PortSpec::Card(_) => None,
            PortSpec::Datagram { local, peer } => {
                Some(Box::new(datagram::Datagram::open(local, peer.as_deref())?))
            }
            PortSpec::Tap(name) => Some(Box::new(tap::TapPort::open(name)?)),
            PortSpec::Replay { input, output } => {
                Some(Box::new(replay::Replay::open(input, output.as_deref())?))
            }
        })
    }
}

/// Pads a frame as a MAC does.
fn pad(frame: &mut Vec<u8>) {
    if frame.len() < SHORTEST {
        frame.resize(SHORTEST, 0);
    }
}

/// Could this be a frame?
fn is_frame(len: usize) -> bool {
    (14..=LONGEST).contains(&len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_port_reads_as_it_is_written() {
        for text in [
            "none",
            "card:1",
            "dgram:/tmp/a",
            "dgram:/tmp/a,/tmp/b",
            "tap:weft0",
            "pcap:in.pcap",
            "pcap:in.pcap,out.pcapng",
        ] {
            let port: PortSpec = text.parse().unwrap();
            assert_eq!(port.to_string(), text);
        }
        for text in [
            "", "card:", "card:x", "card:1,2", "dgram:", "dgram:a,", "tap:a,b", "wire:1", "pcap:",
        ] {
            assert!(text.parse::<PortSpec>().is_err(), "{text}");
        }
    }
}
