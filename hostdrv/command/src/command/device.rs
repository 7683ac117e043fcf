//! Which card a tool works on, and with which addresses.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use weft_hostdrv::cm::Revision;
use weft_hostdrv::transport::OpenError;
use weft_hostdrv::{Congestion, Device, DeviceConfig, Rung, RungError};
use weft_tools::connection::{ConnectionTerms, RtrList};

use super::reach::{self, Reached};
use super::{capture, counts, trace, Failure};

/// How long a card stays up after the tool's work.
const LINGER_NS: u64 = 200_000_000;

/// The card.
#[derive(Args)]
pub struct Card {
    // Environment (programs): `WEFT_DEVICE`: the card, as `--device` names it. Without it: `--device` is required.
    /// The card.
    #[arg(long, env = "WEFT_DEVICE", value_name = "SPEC", help = reach::help())]
    pub device: String,
    /// Waits for a card that another program has, instead of refusing it.
    #[arg(long)]
    pub wait: bool,
    /// Prints a JSON object instead of text.
    #[arg(long)]
    pub json: bool,
}

/// Between two looks at a card that another program has.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

impl Card {
    /// Reaches it; nothing is reset, nothing is checked.
    pub fn reach(&self) -> Result<Reached, Failure> {
        let mut told = false;
        loop {
            match Reached::by(&self.device) {
                Err(error) if self.wait && is_busy(error.as_ref()) => {
                    if !told {
                        eprintln!("weft: waiting: {error}");
                        told = true;
                    }
                    std::thread::sleep(LOOK_AGAIN);
                }
                reached => return reached,
            }
        }
    }
}

fn is_busy(error: &(dyn std::error::Error + 'static)) -> bool {
    matches!(error.downcast_ref(), Some(OpenError::Busy { .. }))
}

/// The card and its place in the network.
#[derive(Args)]
pub struct Station {
    #[command(flatten)]
    pub card: Card,
    // Environment (programs): `WEFT_IP`: address and prefix of the card, as `--ip`. Without it: `--ip` is required.
    /// Its IPv4 address and the length of the network's prefix: 10.0.0.1/24.
    #[arg(long, env = "WEFT_IP", value_name = "A.B.C.D/LEN")]
    pub ip: Network,
    /// Next hop for addresses of other networks.
    #[arg(long, value_name = "A.B.C.D")]
    pub gateway: Option<Ipv4Addr>,
    /// Its station address; made from the IPv4 address (02:57 and its four bytes) if not given.
    #[arg(long, value_name = "XX:XX:XX:XX:XX:XX")]
    pub mac: Option<Mac>,
    /// Largest IPv4 packet.
    #[arg(long, default_value_t = 1500, value_parser = clap::value_parser!(u16).range(576..=9000))]
    pub mtu: u16,
    // Environment (programs): `WEFT_RUNG`: how much of the work is the card's (docs/partitions.md), as `--rung`; the lane makes fewer pings at
    // `firmware`. Without it: `placement`.
    /// How much of the work is the card's: host, crc-send, crc, placement or firmware (docs/partitions.md). `firmware` wants a card with a processor, and its
    /// file in WEFT_FIRMWARE_ENGINE.
    #[arg(long, env = "WEFT_RUNG", default_value_t, value_parser = rung())]
    pub rung: Rung,
    /// Who decides how much of a connection may be in flight: reno, cubic, dctcp or delay (docs/tcp.md).
    #[arg(long, value_name = "NAME", default_value = "cubic", value_parser = congestion())]
    pub congestion: Congestion,
    // Environment (programs): `WEFT_CARRY`: `off`: the card carries no FPDUs over the ends of segments (docs/handover.md), to compare, as `--carry`. Without
    // it: `on`.
    /// The card carries FPDUs over the ends of segments; off to compare.
    #[arg(long, env = "WEFT_CARRY", value_name = "on|off", default_value = "on")]
    pub carry: Switch,
    // Environment (programs): `WEFT_PACK`: `on`: FPDUs that wait in the card share segments (docs/card.md#sending-jobs), as `--pack`. Without it: `off`.
    /// FPDUs that wait in the card behind each other share segments.
    #[arg(long, env = "WEFT_PACK", value_name = "on|off", default_value = "off")]
    pub pack: Switch,
    /// Decides sequence numbers, ports and STag keys; another one with each run if not given.
    #[arg(long)]
    pub seed: Option<u64>,
}

/// A rung by its name.
pub fn rung() -> impl TypedValueParser<Value = Rung> {
    PossibleValuesParser::new(Rung::ALL.map(Rung::name)).try_map(|name| name.parse::<Rung>())
}

/// A congestion controller by its name.
pub fn congestion() -> impl TypedValueParser<Value = Congestion> {
    PossibleValuesParser::new(Congestion::ALL.map(Congestion::name))
        .try_map(|name| Congestion::named(&name).ok_or("no such controller"))
}

/// What is written beside the work.
#[derive(Args)]
pub struct Beside {
    /// Writes what the card does, from its own trace ring, to this file.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Writes what the card receives and sends, captured by the card, to this pcapng file.
    #[arg(long, value_name = "FILE")]
    pub capture: Option<PathBuf>,
    /// Writes who has handled what came in, card or engine, to this file in the end (JSON).
    #[arg(long, value_name = "FILE")]
    pub counts: Option<PathBuf>,
}

/// A card that is up. Fields go in this order.
pub struct Opened {
    capture: Option<capture::Recorder>,
    trace: Option<trace::Recorder>,
    counts: Option<PathBuf>,
    /// The device.
    pub device: Device,
    _reached: Reached,
}

impl Opened {
    /// Lets go of the card when everything said is on the wire: a last acknowledgment, the peer's FIN.
    pub fn close(self) -> Result<(), Failure> {
        let until = self.device.now() + LINGER_NS;
        while self.device.now() < until {
            if self.device.progress()? == 0 {
                self.device.wait(Some(until))?;
            }
        }
        if let Some(file) = &self.counts {
            counts::write(&self.device, file).map_err(|e| format!("{}: {e}", file.display()))?;
        }
        self.capture.map_or(Ok(()), capture::Recorder::stop)?;
        self.trace.map_or(Ok(()), trace::Recorder::stop)
    }
}

impl Station {
    /// Reaches the card and brings it up.
    pub fn open(&self) -> Result<(Reached, Device), Failure> {
        let reached = self.card.reach()?;
        let device = self.bring_up(&reached)?;
        Ok((reached, device))
    }

    fn bring_up(&self, reached: &Reached) -> Result<Device, Failure> {
        if self.rung == Rung::Full {
            // A server would hear it with its first client only.
            return Err(format!("no queue pair of rung full: {}", RungError::NoFastPath).into());
        }
        let mut config = DeviceConfig::new(self.mac(), self.ip.address)
            .mtu(self.mtu)
            .rung(self.rung)
            .congestion(self.congestion)
            .carry(self.carry.into())
            .pack(self.pack.into())
            .netmask(self.ip.mask().into())
            .gateway(self.gateway);
        if let Some(seed) = self.seed {
            config = config.seed(seed);
        }
        Ok(Device::open(Arc::clone(&reached.transport), config)?)
    }

    /// Whether a packet to this address can go anywhere, before a card is asked.
    pub fn check_peer(&self, peer: Ipv4Addr) -> Result<(), Failure> {
        let (own, mask) = (self.ip, u32::from_be_bytes(self.ip.mask()));
        let host = u32::from(peer) & !mask;
        let near = u32::from(peer) & mask == u32::from(own.address) & mask;
        let refused = if peer == own.address {
            format!("{peer} is the card's own address (--ip): give the peer's")
        } else if peer.is_unspecified() || peer.is_loopback() {
            format!("{peer} is no other host's address")
        } else if peer.is_multicast() || peer.is_broadcast() || near && (host == 0 || host == !mask)
        {
            format!("{peer} is a broadcast or group address: a connection is with one host")
        } else if !near && self.gateway.is_none() {
            format!("{peer} is not in the network {own} of --ip, and there is no --gateway: give a next hop, or a shorter prefix")
        } else {
            return Ok(());
        };
        Err(refused.into())
    }

    /// The same, with what is to be written beside the work.
    pub fn begin(&self, beside: &Beside) -> Result<Opened, Failure> {
        let reached = self.card.reach()?;
        let trace = beside.trace.as_ref();
        let trace = trace.map(|path| trace::Recorder::start(&reached.transport, path));
        let trace = trace.transpose()?;
        let device = self.bring_up(&reached)?;
        let capture = beside.capture.as_ref();
        let capture = capture.map(|path| capture::Recorder::start(&device, path));
        Ok(Opened {
            capture: capture.transpose()?,
            trace,
            counts: beside.counts.clone(),
            device,
            _reached: reached,
        })
    }

    fn mac(&self) -> [u8; 6] {
        let [a, b, c, d] = self.ip.address.octets();
        self.mac.map_or([0x02, 0x57, a, b, c, d], |mac| mac.0)
    }
}

/// An address in a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// The address.
    pub address: Ipv4Addr,
    /// Bits of the network's prefix.
    pub prefix: u8,
}

impl Network {
    fn mask(self) -> [u8; 4] {
        let host = u32::MAX.checked_shr(self.prefix.into()).unwrap_or(0);
        (!host).to_be_bytes()
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (address, prefix) = text.split_once('/').unwrap_or((text, "24"));
        let address = address.parse().map_err(|_| {
            format!("`{address}` is no IPv4 address; give address and prefix: 10.0.0.1/24")
        })?;
        match prefix.parse() {
            Ok(prefix @ 1..=30) => Ok(Self { address, prefix }),
            _ => Err(format!("`{prefix}` is no prefix length; it is 1 to 30")),
        }
    }
}

/// A station address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mac(pub [u8; 6]);

impl FromStr for Mac {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("`{text}` is no station address; it looks like 02:57:00:00:00:01");
        let mut bytes = [0; 6];
        let mut parts = text.split(':');
        for byte in &mut bytes {
            let part = parts
                .next()
                .filter(|part| part.len() == 2 && part.bytes().all(|b| b.is_ascii_hexdigit()))
                .ok_or_else(bad)?;
            *byte = u8::from_str_radix(part, 16).map_err(|_| bad())?;
        }
        if parts.next().is_some() {
            return Err(bad());
        }
        if bytes[0] & 1 != 0 {
            return Err(format!(
                "{text} is a group address; a station's first byte is even"
            ));
        }
        Ok(Self(bytes))
    }
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Switch {
    On,
    Off,
}

impl From<Switch> for bool {
    fn from(switch: Switch) -> bool {
        switch == Switch::On
    }
}

/// How to connect.
#[derive(Args)]
pub struct Mpa {
    /// Either side may send first: an RTR follows the start-up (RFC 6581). A server takes what the client asks for, and with `on` nothing
    /// else.
    #[arg(long, value_name = "on|off")]
    pub peer_to_peer: Option<Switch>,
    /// RTR kinds to offer, or as a server to be content with: read, write, send, or several with commas.
    #[arg(long, value_name = "KINDS")]
    pub rtr: Option<RtrList>,
    /// Ask for CRC32C; it is on if either side asks.
    #[arg(long, value_name = "on|off", default_value = "on")]
    pub crc: Switch,
    /// Ask the peer for markers.
    #[arg(long)]
    pub markers: bool,
    /// Ask that each segment begin with an FPDU; as a server grant it. For ways without boxes that make segments anew; needs revision 2 and CRC32C.
    #[arg(long)]
    pub aligned: bool,
    /// MPA revision to ask for, 1 or 2.
    #[arg(long, value_name = "REVISION", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=2))]
    pub mpa_rev: u8,
    /// If the peer closes the connection instead of replying, try once more with revision 1.
    #[arg(long)]
    pub fall_back: bool,
    /// Reads of the peer at a time [default: 1, as a server what the client asks for].
    #[arg(long, value_name = "READS")]
    pub ird: Option<u16>,
    /// Reads of this side at a time [default: as ird].
    #[arg(long, value_name = "READS")]
    pub ord: Option<u16>,
    /// Private data for the peer's application; towards Linux' siw at most 251 bytes.
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub private_data: String,
}

impl Mpa {
    /// As the tools take it.
    pub fn terms(&self) -> ConnectionTerms {
        ConnectionTerms {
            peer_to_peer: self.peer_to_peer.map(Into::into),
            rtr: self.rtr.map(|list| list.0),
            no_crc: self.crc == Switch::Off,
            markers: self.markers,
            aligned: self.aligned,
            revision: if self.mpa_rev == 1 {
                Revision::Rev1
            } else {
                Revision::Rev2
            },
            fall_back: self.fall_back,
            ird: self.ird,
            ord: self.ord,
            private_data: self.private_data.clone().into_bytes(),
        }
    }
}

/// An address with or without port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer(pub Ipv4Addr);

impl Peer {
    /// With this port.
    pub fn port(self, port: u16) -> SocketAddrV4 {
        SocketAddrV4::new(self.0, port)
    }
}

impl FromStr for Peer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let address = text.parse();
        address
            .map(Self)
            .map_err(|_| format!("`{text}` is no IPv4 address"))
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A flag that the first interrupt from the keyboard sets; the second one ends the process. Called when the card is open: before, an interrupt ends the
/// process at once.
pub fn stop_on_interrupt() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })?;
    Ok(stop)
}

/// Seconds as the tools want them; 0: without limit.
pub fn nanoseconds(seconds: f64) -> Option<u64> {
    (seconds > 0.0).then_some((seconds * 1e9) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_strictly() {
        let network: Network = "10.1.2.3/20".parse().expect("fine");
        assert_eq!(network.mask(), [255, 255, 240, 0]);
        assert_eq!("10.1.2.3".parse::<Network>().expect("fine").prefix, 24);
        for bad in ["10.1.2/24", "10.1.2.3/0", "10.1.2.3/31", "10.1.2.3/", ""] {
            assert!(bad.parse::<Network>().is_err(), "{bad}");
        }
        let mac: Mac = "02:57:0a:00:00:FF".parse().expect("fine");
        assert_eq!(mac.0, [2, 0x57, 10, 0, 0, 255]);
        for bad in [
            "02:57:0a:00:00",
            "02:57:0a:00:00:1",
            "03:57:0a:00:00:01",
            "02:57:0a:00:00:01:02",
            "02:57:0a:00:00:+1",
        ] {
            assert!(bad.parse::<Mac>().is_err(), "{bad}");
        }
    }
}
