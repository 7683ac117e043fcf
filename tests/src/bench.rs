//! Two cards that are joined, with their devices, however they are reached: in this process, by vfio-user, or by the
//! kernel's VFIO. A test that asks for no more than this runs over all three.

use std::fmt;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use weft_hostdrv::cm::LoopbackHost;
use weft_hostdrv::transport::{self, NoCard, OpenError, Transport};
use weft_hostdrv::{Device, DeviceConfig, DeviceError, Rung};
use weft_sim::fabric::{ip, mac, Fabric, FabricConfig, FabricError};
use weft_sim::kind::CardKind;
use weft_sim::link::LinkConfig;
use weft_sim::serve::port::PortSpec;
use weft_sim::serve::{self, CardConfig, ServeConfig, ServeError, Served};
use weft_sim::transport::SimTransport;
use weft_sim::world::World;

use crate::{cards, rungs};

// Environment (tests): `WEFT_TEST_TRANSPORT`: transports of the suite `transports`: `sim`, `vfio-user`, `loop`, `vfio:BDF,BDF`, several with spaces.
// Without it: `sim vfio-user loop`.
/// Chooses the transport of the suite: `sim`, `vfio-user`, `loop` or `vfio:BDF,BDF`, one alone or several with spaces between.
pub const TRANSPORT_VARIABLE: &str = "WEFT_TEST_TRANSPORT";
/// Least time on the wall for something to happen: a served card on a busy machine is slow.
const LEAST_LIMIT: Duration = Duration::from_secs(120);
/// Sleep of a bench with nothing to do. Interrupts have tests of their own.
const NAP: Duration = Duration::from_micros(200);

/// How two cards are reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// In this process, on simulated time.
    Sim,
    /// By vfio-user, served by a thread of this process.
    VfioUser,
    /// Two devices without cards, by the loop of this process.
    Loop,
    /// By the kernel's VFIO: the PCI addresses, with options, of two cards that are joined.
    Vfio([String; 2]),
}

impl Way {
    /// What the environment asks for; without it, those that need no hardware.
    pub fn asked_for() -> Result<Vec<Self>, String> {
        let Ok(asked) = std::env::var(TRANSPORT_VARIABLE) else {
            return Ok(vec![Way::Sim, Way::VfioUser, Way::Loop]);
        };
        let way = |word: &str| {
            match word {
            "sim" => Ok(Way::Sim),
            "vfio-user" => Ok(Way::VfioUser),
            "loop" => Ok(Way::Loop),
            _ => word
                .strip_prefix("vfio:")
                .and_then(|both| both.split_once(','))
                .map(|(a, b)| Way::Vfio([a, b].map(|address| format!("vfio:{address}"))))
                .ok_or_else(|| {
                    format!("{TRANSPORT_VARIABLE} has `{word}`: use sim, vfio-user, loop or vfio:BDF,BDF")
                }),
        }
        };
        asked.split_whitespace().map(way).collect()
    }

    /// Are there cards, and a wire between them?
    pub fn has_cards(&self) -> bool {
        *self != Way::Loop
    }

    /// May several tests use it at once?
    pub fn is_shared(&self) -> bool {
        !matches!(self, Way::Vfio(_))
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Way::Sim => "sim",
            Way::VfioUser => "vfio-user",
            Way::Loop => "loop",
            Way::Vfio(_) => "vfio",
        })
    }
}

/// What went wrong with a bench.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// In the simulated world.
    #[error(transparent)]
    Fabric(#[from] FabricError),
    /// With a device.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// It could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The cards could not be served.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// The condition did not come about.
    #[error("{what} did not happen within {limit:?}")]
    TimedOut {
        /// What was waited for.
        what: String,
        /// How long.
        limit: Duration,
    },
    /// No directory for sockets.
    #[error("no directory for the sockets: {0}")]
    Folder(#[from] std::io::Error),
}

/// The cards without devices: two transports, and what keeps them.
pub struct Cards {
    // Before what serves them.
    transports: [Arc<dyn Transport>; 2],
    _keeper: Keeper,
}

/// What has to stay while the cards are used.
enum Keeper {
    Nothing,
    Served {
        _served: Served,
        _folder: tempfile::TempDir,
    },
    /// The machine has these two once.
    Turn(#[allow(dead_code)] MutexGuard<'static, ()>),
}

impl Cards {
    /// Opens both.
    pub fn open(way: &Way, seed: u64) -> Result<Self, BenchError> {
        match way {
            Way::Sim => {
                let mut world = World::new(seed);
                for (n, kind) in cards().iter().enumerate() {
                    world.add_card(kind.build(seed, n as u32));
                }
                world.join(0, 1, LinkConfig::default());
                let world = Arc::new(Mutex::new(world));
                let card = |n| Arc::new(SimTransport::new(&world, n)) as Arc<dyn Transport>;
                Ok(Self {
                    transports: [card(0), card(1)],
                    _keeper: Keeper::Nothing,
                })
            }
            Way::VfioUser => {
                let folder = tempfile::tempdir()?;
                let served = serve::start(&served_pair(&folder, seed))?;
                let open =
                    |path: &PathBuf| transport::open(&format!("vfio-user:{}", path.display()));
                let [a, b] = served.sockets() else {
                    unreachable!("two cards are served")
                };
                Ok(Self {
                    transports: [open(a)?, open(b)?],
                    _keeper: Keeper::Served {
                        _served: served,
                        _folder: folder,
                    },
                })
            }
            Way::Loop => {
                let none = || NoCard::new().map(|none| Arc::new(none) as Arc<dyn Transport>);
                Ok(Self {
                    transports: [none()?, none()?],
                    _keeper: Keeper::Nothing,
                })
            }
            Way::Vfio([a, b]) => {
                static TURN: Mutex<()> = Mutex::new(());
                let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(Self {
                    transports: [transport::open(a)?, transport::open(b)?],
                    _keeper: Keeper::Turn(turn),
                })
            }
        }
    }

    /// One of them.
    pub fn transport(&self, number: usize) -> &Arc<dyn Transport> {
        &self.transports[number]
    }
}

fn served_pair(folder: &tempfile::TempDir, seed: u64) -> ServeConfig {
    // The RTL is tested in this process; by way of a socket, the model is quick enough. WEFT_TEST_CARD still holds.
    let kind = match std::env::var_os("WEFT_TEST_CARD") {
        Some(_) => cards()[0],
        None => CardKind::Model,
    };
    let card = |number: usize| CardConfig {
        kind,
        port: PortSpec::Card(1 - number),
        socket: folder.path().join(format!("card{number}.sock")),
        capture: None,
    };
    ServeConfig {
        cards: vec![card(0), card(1)],
        seed,
        link: LinkConfig::default(),
    }
}

/// Two devices whose cards are joined.
pub struct Bench {
    kind: Kind,
}

enum Kind {
    /// Simulated time, and a world to look into.
    Sim(Box<Fabric>),
    /// The wall's time.
    Real { devices: Vec<Device>, _cards: Cards },
}

impl Bench {
    /// Brings both up. The seed decides what can be decided: all of it in the simulated world, else the devices' numbers.
    pub fn new(way: &Way, seed: u64) -> Result<Self, BenchError> {
        Self::at(way, seed, rungs())
    }

    /// The same, with the rung of each device's queue pairs.
    pub fn at(way: &Way, seed: u64, rungs: [Rung; 2]) -> Result<Self, BenchError> {
        if *way == Way::Sim {
            return Ok(Self::from(Fabric::new(&FabricConfig {
                seed,
                cards: cards(),
                rungs: rungs.to_vec(),
                ..FabricConfig::default()
            })?));
        }
        let cards = Cards::open(way, seed)?;
        let device = |number: usize| {
            let config = DeviceConfig::new(mac(number), ip(number))
                .seed(seed + number as u64)
                .rung(rungs[number])
                .polled();
            Device::open(Arc::clone(cards.transport(number)), config)
        };
        let devices = vec![device(0)?, device(1)?];
        if *way == Way::Loop {
            let host = LoopbackHost::new();
            for device in &devices {
                host.join(device).expect("two addresses");
            }
        }
        Ok(Self {
            kind: Kind::Real {
                devices,
                _cards: cards,
            },
        })
    }

    /// The simulated world, if it is one.
    pub fn fabric(&self) -> Option<&Fabric> {
        match &self.kind {
            Kind::Sim(fabric) => Some(fabric),
            Kind::Real { .. } => None,
        }
    }

    /// Both devices.
    pub fn devices(&self) -> &[Device] {
        match &self.kind {
            Kind::Sim(fabric) => fabric.devices(),
            Kind::Real { devices, .. } => devices,
        }
    }

    /// One of them.
    pub fn device(&self, number: usize) -> &Device {
        &self.devices()[number]
    }

    /// Its address.
    pub fn ip(&self, number: usize) -> Ipv4Addr {
        self.device(number).ip()
    }

    /// Runs both until `condition` gives something. `limit` is in nanoseconds of the bench's own time.
    pub fn run_until<T>(
        &self,
        what: &str,
        limit: u64,
        mut condition: impl FnMut() -> Option<T>,
    ) -> Result<T, BenchError> {
        let devices = match &self.kind {
            Kind::Sim(fabric) => return Ok(fabric.run_until(what, limit, condition)?),
            Kind::Real { devices, .. } => devices,
        };
        let limit = Duration::from_nanos(limit).max(LEAST_LIMIT);
        let start = Instant::now();
        loop {
            let mut handled = 0;
            for device in devices {
                handled += device.progress()?;
            }
            if let Some(found) = condition() {
                return Ok(found);
            }
            if start.elapsed() > limit {
                let what = what.to_owned();
                return Err(BenchError::TimedOut { what, limit });
            }
            if handled == 0 {
                std::thread::sleep(NAP);
            }
        }
    }
}

impl From<Fabric> for Bench {
    fn from(fabric: Fabric) -> Self {
        Self {
            kind: Kind::Sim(Box::new(fabric)),
        }
    }
}
