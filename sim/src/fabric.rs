//! Cards, links and devices together: what a test or a demonstration starts from.

use std::io::BufWriter;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use thiserror::Error;
use weft_hostdrv::device::RingSizes;
use weft_hostdrv::{Congestion, Device, DeviceConfig, DeviceError, Ecn, Rung};

use crate::capture::{self, Capture};
use crate::card::Card;
use crate::idle_polls::IdlePolls;
use crate::kind::CardKind;
use crate::link::LinkConfig;
use crate::seed::{generator, Stream};
use crate::threads::Call;
use crate::transport::{lock, SharedWorld, SimTransport};
use crate::world::{Stop, World, WorldError};

/// What went wrong in a fabric.
#[derive(Debug, Error)]
pub enum FabricError {
    /// A card or the world.
    #[error(transparent)]
    World(#[from] WorldError),
    /// A device.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The last of several cards has nobody to be joined to.
    #[error("card {0} has no link: cards are joined in pairs, so there is one of them, or an even number")]
    NoLink(usize),
    /// A capture could not be written.
    #[error("cannot write the capture {path}: {reason}")]
    Capture {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The condition did not come about.
    #[error("{what} did not happen within {limit} ns of simulated time (now {now} ns)")]
    TimedOut {
        /// What was waited for.
        what: String,
        /// How long.
        limit: u64,
        /// When it was given up.
        now: u64,
    },
}

/// How a fabric is set up.
#[derive(Clone, Debug)]
pub struct FabricConfig {
    /// Decides everything.
    pub seed: u64,
    /// The cards; the first two are joined, the next two, and so on. One by itself has no link.
    pub cards: Vec<CardKind>,
    /// The links.
    pub link: LinkConfig,
    /// All cards are at one switch, each by a link of its own; then any number of them is one.
    pub switched: bool,
    /// Largest IPv4 packet.
    pub mtu: u16,
    /// Congestion control of all devices.
    pub congestion: Congestion,
    /// Whether it has a pace, if it is one that has.
    pub pacing: bool,
    /// Whether they ask for marks of congestion.
    pub ecn: Ecn,
    /// The rung of each device, by its number; the others have the usual one.
    pub rungs: Vec<Rung>,
    /// Payload that comes while a flow is detached stays in the raw ring, where the card can walk over it again.
    pub replay: bool,
    /// The least that their retransmission timers allow beyond SRTT, in flight or alone. As they have it, if it is not given.
    pub rto_least: Option<Duration>,
    /// Their rings.
    pub rings: RingSizes,
    /// Where captures go; none are written without.
    pub captures: Option<PathBuf>,
    /// Records waves of the last cycles, so many, beside the captures.
    pub waves: Option<u64>,
    /// What is done with looks that find nothing.
    pub looks: IdlePolls,
}

impl Default for FabricConfig {
    fn default() -> Self {
        Self {
            seed: 1,
            cards: vec![CardKind::Model; 2],
            link: LinkConfig::default(),
            switched: false,
            mtu: 1500,
            congestion: Congestion::default(),
            pacing: true,
            ecn: Ecn::default(),
            rungs: Vec::new(),
            replay: true,
            rto_least: None,
            rings: RingSizes::default(),
            captures: None,
            waves: None,
            looks: IdlePolls::default(),
        }
    }
}

/// Two or more cards with their devices.
pub struct Fabric {
    world: SharedWorld,
    devices: Vec<Device>,
    captures: Vec<PathBuf>,
    looks: IdlePolls,
}

impl Fabric {
    /// Builds it and brings all devices up.
    pub fn new(config: &FabricConfig) -> Result<Self, FabricError> {
        let cards = config
            .cards
            .iter()
            .enumerate()
            .map(|(n, kind)| kind.build(config.seed, n as u32))
            .collect();
        Self::with_cards(config, cards)
    }

    /// The same with cards made by the caller; `config.cards` is not looked at.
    pub fn with_cards(
        config: &FabricConfig,
        cards: Vec<Box<dyn Card>>,
    ) -> Result<Self, FabricError> {
        let mut world = World::new(config.seed);
        let count = cards.len();
        if count > 1 && count % 2 == 1 && !config.switched {
            return Err(FabricError::NoLink(count - 1));
        }
        for (number, mut card) in cards.into_iter().enumerate() {
            if let (Some(folder), Some(cycles)) = (&config.captures, config.waves) {
                card.record_waves(&folder.join(format!("card{number}")), cycles);
            }
            world.add_card(card);
        }
        let mut captures = Vec::new();
        for (a, other) in ends(count, config.switched) {
            let (link, other) = match other {
                Some(b) => (world.join(a, b, config.link), format!("card {b}")),
                None => (world.open_link(a, config.link), "switch".to_owned()),
            };
            if let Some(folder) = &config.captures {
                let path = folder.join(format!("link{link}.pcapng"));
                let failed = |reason: String| FabricError::Capture {
                    path: path.clone(),
                    reason,
                };
                let file = capture::create(&path).map_err(|e| failed(e.to_string()))?;
                let capture = Capture::new(
                    Box::new(BufWriter::new(file)),
                    &format!("link {link}"),
                    [&format!("card {a}"), &other],
                )
                .map_err(|e| failed(e.to_string()))?;
                world.link(link).set_capture(capture);
                captures.push(path);
            }
        }
        if config.switched {
            world.switch();
        }
        let world = Arc::new(Mutex::new(world));
        let mut devices = Vec::new();
        for number in 0..count {
            let transport = Arc::new(SimTransport::new(&world, number));
            let seed =
                rand::Rng::random(&mut generator(config.seed, Stream::Engine(number as u32)));
            let device = DeviceConfig::new(mac(number), ip(number))
                .mtu(config.mtu)
                .congestion(config.congestion)
                .pacing(config.pacing)
                .ecn(config.ecn)
                .rung(config.rungs.get(number).copied().unwrap_or_default())
                .replay(config.replay)
                .seed(seed)
                .rings(config.rings)
                // Nothing happens in an idle simulation, not even in two hours.
                .keepalive(None)
                // Nor does anything beside the program, or after it.
                .polled()
                .linger(None);
            let device = match config.rto_least {
                Some(least) => device.rto_least(least, least),
                None => device,
            };
            devices.push(Device::open(transport, device)?);
        }
        Ok(Self {
            world,
            devices,
            captures,
            looks: config.looks.clone(),
        })
    }

    /// A device.
    pub fn device(&self, number: usize) -> &Device {
        &self.devices[number]
    }

    /// All devices.
    pub fn devices(&self) -> &[Device] {
        &self.devices
    }

    /// What is done with looks that find nothing.
    pub fn looks(&self) -> &IdlePolls {
        &self.looks
    }

    /// The world.
    pub fn world(&self) -> &SharedWorld {
        &self.world
    }

    /// The capture files.
    pub fn captures(&self) -> impl Iterator<Item = &Path> {
        self.captures.iter().map(PathBuf::as_path)
    }

    /// Simulated nanoseconds.
    pub fn now(&self) -> u64 {
        lock(&self.world).now()
    }

    /// Lets every device handle what is there, until nothing is.
    pub fn progress(&self) -> Result<usize, FabricError> {
        let mut all = 0;
        loop {
            let mut handled = 0;
            for device in &self.devices {
                let nothing = |handled: &Result<usize, _>| matches!(handled, Ok(0));
                handled += self.looks.look(|| device.progress(), nothing)?;
            }
            if handled == 0 {
                return Ok(all);
            }
            all += handled;
        }
    }

    /// Runs cards and devices until `condition` gives something. `what` is for the error when it does not
    /// within `limit` ns.
    pub fn run_until<T>(
        &self,
        what: &str,
        limit: u64,
        mut condition: impl FnMut() -> Option<T>,
    ) -> Result<T, FabricError> {
        let end = self.now().saturating_add(limit);
        loop {
            self.progress()?;
            if let Some(found) = condition() {
                return Ok(found);
            }
            // What the condition did (a poll, a post) may have made work.
            if self.progress()? > 0 {
                continue;
            }
            self.sleep_for(what, limit, end)?;
        }
    }

    /// As [`run_until`](Self::run_until), with hosts that sleep: each handles what is there when its own card or timer wakes it, not
    /// when another's does. (What the condition polls for makes its own host look.)
    pub fn run_asleep_until<T>(
        &self,
        what: &str,
        limit: u64,
        mut condition: impl FnMut() -> Option<T>,
    ) -> Result<T, FabricError> {
        let end = self.now().saturating_add(limit);
        self.progress()?;
        loop {
            if let Some(found) = condition() {
                return Ok(found);
            }
            let interrupts = |device: &Device| device.host_stats().interrupts;
            let before: Vec<_> = self.devices.iter().map(interrupts).collect();
            self.sleep_for(what, limit, end)?;
            for (device, before) in self.devices.iter().zip(before) {
                let due = device.next_deadline().is_some_and(|at| at <= self.now());
                if due || interrupts(device) != before {
                    while device.progress()? > 0 {}
                }
            }
        }
    }

    /// Runs for `ns` of simulated time.
    pub fn run_for(&self, ns: u64) -> Result<(), FabricError> {
        let end = self.now().saturating_add(ns);
        loop {
            self.progress()?;
            if self.now() >= end {
                return Ok(());
            }
            self.sleep(end)?;
        }
    }

    /// Sleeps for `what`, which is late once `end` has come.
    fn sleep_for(&self, what: &str, limit: u64, end: u64) -> Result<Stop, FabricError> {
        let now = self.now();
        if now >= end {
            return Err(FabricError::TimedOut {
                what: what.to_owned(),
                limit,
                now,
            });
        }
        self.sleep(end)
    }

    /// Lets the world run until a card or a timer wants a device, or `end` has come.
    fn sleep(&self, end: u64) -> Result<Stop, FabricError> {
        // An interrupt not yet taken must not leave its device disarmed: take it, and look again.
        if lock(&self.world).interrupt_pending() {
            self.arm()?;
            return Ok(Stop::Interrupt);
        }
        self.arm()?;
        let deadline = self
            .devices
            .iter()
            .filter_map(Device::next_deadline)
            .fold(end, u64::min);
        let stop = match self.let_others_run(deadline) {
            Some(stop) => stop,
            None => lock(&self.world).run(Some(deadline))?,
        };
        self.arm()?;
        Ok(stop)
    }

    /// A thread of a scope gives its turn up until any card's interrupt or this time.
    fn let_others_run(&self, until: u64) -> Option<Stop> {
        let turns = Arc::clone(&lock(&self.world).threads().turns);
        let waited = turns.wait(turns.me()?, Call::AnyInterrupt(until));
        // Once the run has failed, the caller runs the world by itself.
        waited.ok()?;
        match self.now() >= until {
            true => Some(Stop::Deadline),
            false => Some(Stop::Interrupt),
        }
    }

    /// Arms the devices whose interrupts are not, and takes the interrupts that came: a wait that is
    /// over at once does both.
    fn arm(&self) -> Result<(), FabricError> {
        for device in &self.devices {
            let done = || {
                let stats = device.host_stats();
                (stats.mmio_reads, stats.mmio_writes, stats.interrupts)
            };
            let before = self.looks.are_noted().then(done);
            let nothing = |_: &Result<_, _>| before == Some(done());
            self.looks.look(|| device.wait(Some(0)), nothing)?;
        }
        Ok(())
    }

    /// Writes out the captures.
    pub fn flush(&self) -> Result<(), FabricError> {
        let mut world = lock(&self.world);
        for (link, path) in self.captures.iter().enumerate() {
            let flushed = world.link(link).flush();
            flushed.map_err(|reason| FabricError::Capture {
                path: path.clone(),
                reason,
            })?;
        }
        Ok(())
    }
}

/// What each link joins: two cards, or one and the switch.
fn ends(count: usize, switched: bool) -> Vec<(usize, Option<usize>)> {
    match switched {
        true => (0..count).map(|card| (card, None)).collect(),
        false => (1..count).step_by(2).map(|b| (b - 1, Some(b))).collect(),
    }
}

/// The MAC address of a card's device.
pub fn mac(number: usize) -> [u8; 6] {
    [0x02, b'w', b'e', b'f', b't', number as u8]
}

/// Its IPv4 address.
pub fn ip(number: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, 1 + number as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_that_nobody_is_joined_to_is_refused() {
        let fabric = |count| {
            Fabric::new(&FabricConfig {
                cards: vec![CardKind::Model; count],
                ..FabricConfig::default()
            })
        };
        let refused = fabric(3).err().expect("three do not make pairs");
        assert!(refused.to_string().contains("card 2 has no link"));
        for count in [1, 2, 4] {
            assert!(fabric(count).is_ok(), "{count}");
        }
    }
}
