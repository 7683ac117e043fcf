//! Cards as vfio-user devices: `weft serve`, and the library behind it.
//!
//! A simulated card is a complete PCI function that a driver in another process, or a guest of QEMU
//! (`-device vfio-user-pci`), reaches over a unix socket. Registers, configuration space and interrupts go as messages of the
//! [vfio-user protocol](https://www.qemu.org/docs/master/interop/vfio-user.html), memory is shared by file descriptors,
//! or read and written by messages where there is no descriptor.
//!
//! The server of the protocol is Weft's own. The `vfio_user` crate has one, which serves one client in a run, cannot ask
//! the client for memory (`VFIO_USER_DMA_READ` and `_WRITE`), and owns the thread that it runs in; here several cards share a
//! world and a thread, and a card outlives its clients. Its client is what the tests talk to this server with.
//!
//! One client at a time: another one is refused with EBUSY, unless the first goes within 100 ms. When a client goes,
//! however it goes, its mappings and event descriptors are dropped and the card is reset.

mod config_space;
mod connection;
mod device;
mod lending;
mod memory;
mod message;
mod msix;
pub mod port;
mod private;
mod server;
mod stats;
mod version;

use std::fmt;
use std::io::{self, BufWriter};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{channel, Sender};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rustix::event::{eventfd, EventfdFlags};
use thiserror::Error;

pub use private::{private, PrivateSpec, PrivateSpecError};
pub use stats::{CardStats, Stats};

use crate::capture::{self, Capture};
use crate::kind::CardKind;
use crate::link::LinkConfig;
use crate::world::{World, WorldError};
use device::Device;
use port::PortSpec;
use server::{Control, Seat, Server};

/// A card to serve.
#[derive(Clone, Debug)]
pub struct CardConfig {
    /// What it is.
    pub kind: CardKind,
    /// What its port is joined to.
    pub port: PortSpec,
    /// Path of the socket that clients come to.
    pub socket: PathBuf,
    /// A capture of its port's link, stamped with wall-clock time. A link between two cards has one capture, the
    /// first card's.
    pub capture: Option<PathBuf>,
}

/// What to serve.
#[derive(Clone, Debug)]
pub struct ServeConfig {
    /// The cards; their numbers are their places here.
    pub cards: Vec<CardConfig>,
    /// Decides every random choice of cards and links.
    pub seed: u64,
    /// What the links are like, those between cards and those to the outside.
    pub link: LinkConfig,
}

/// Why cards are not served.
#[derive(Debug, Error)]
pub enum ServeError {
    /// There is nothing to serve.
    #[error("no card is to be served")]
    NoCards,
    /// This build has no such card.
    #[error("this build has no card `{0}`")]
    Kind(CardKind),
    /// The two ends of a link do not fit.
    #[error("the port of card {card} is card:{other}, and {answer}")]
    Ends {
        /// The card.
        card: usize,
        /// The one it names.
        other: usize,
        /// What is the matter with that one.
        answer: String,
    },
    /// A port cannot be opened.
    #[error("cannot open the port {port}: {source}")]
    Port {
        /// The port.
        port: PortSpec,
        /// Why.
        source: io::Error,
    },
    /// A socket cannot be listened on.
    #[error("cannot listen on {path}: {source}")]
    Socket {
        /// The path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A capture cannot be written.
    #[error("cannot write the capture {path}: {reason}")]
    Capture {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The machine has no more of something.
    #[error("cannot start to serve: {0}")]
    Start(io::Error),
    /// A card failed; the simulation has ended.
    #[error(transparent)]
    World(#[from] WorldError),
    /// The serving thread panicked.
    #[error("the serving thread panicked")]
    Panicked,
}

/// Cards being served by a thread of this process. Dropping it ends that.
pub struct Served {
    sockets: Vec<PathBuf>,
    control: Sender<Control>,
    wake: Arc<OwnedFd>,
    last: Arc<Mutex<Stats>>,
    thread: Option<JoinHandle<Result<(), WorldError>>>,
    folder: Option<tempfile::TempDir>,
}

/// Begins to serve. The sockets can be connected to when it returns.
pub fn start(config: &ServeConfig) -> Result<Served, ServeError> {
    if config.cards.is_empty() {
        return Err(ServeError::NoCards);
    }
    let mut world = World::new(config.seed);
    world.keep_outside();
    for (number, card) in config.cards.iter().enumerate() {
        if !CardKind::available().contains(&card.kind) {
            return Err(ServeError::Kind(card.kind));
        }
        world.add_card(card.kind.build(config.seed, number as u32));
    }
    let links = join(&mut world, config)?;
    let mut seats = Vec::new();
    for (number, card) in config.cards.iter().enumerate() {
        let device = Device::new(number, &mut world)?;
        let outside = card.port.open().map_err(|source| ServeError::Port {
            port: card.port.clone(),
            source,
        })?;
        let listener = weft_card_transport::listening::listen(&card.socket).map_err(|source| {
            ServeError::Socket {
                path: card.socket.clone(),
                source,
            }
        })?;
        seats.push(Seat {
            listener,
            path: card.socket.clone(),
            device,
            link: links[number].map(|link| (link, config.link)),
            outside,
            kind: card.kind.to_string(),
            client: None,
            next: None,
            clients: 0,
            broken: 0,
            former: (0, 0),
        });
    }
    let flags = EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC;
    let wake = Arc::new(eventfd(0, flags).map_err(|e| ServeError::Start(e.into()))?);
    let last = Arc::new(Mutex::new(Stats::default()));
    let (control, wishes) = channel();
    let server = Server {
        world,
        seats,
        control: wishes,
        wake: Arc::clone(&wake),
        last: Arc::clone(&last),
    };
    let thread = std::thread::Builder::new()
        .name("weft serve".into())
        .spawn(move || server.run())
        .map_err(ServeError::Start)?;
    Ok(Served {
        sockets: config.cards.iter().map(|c| c.socket.clone()).collect(),
        control,
        wake,
        last,
        thread: Some(thread),
        folder: None,
    })
}

/// Makes the links, with their captures, and answers each card's.
fn join(world: &mut World, config: &ServeConfig) -> Result<Vec<Option<usize>>, ServeError> {
    let mut links = vec![None; config.cards.len()];
    for (card, served) in config.cards.iter().enumerate() {
        let refused = |reason: String| {
            let path = served.capture.clone().unwrap_or_default();
            ServeError::Capture { path, reason }
        };
        let (link, other) = match &served.port {
            PortSpec::None if served.capture.is_some() => {
                let reason =
                    "has no port, so that no frame comes or goes; join it to something with --port";
                return Err(refused(format!("card {card} {reason}")));
            }
            PortSpec::None => continue,
            PortSpec::Card(other) => {
                check_ends(config, card, *other)?;
                match links[*other] {
                    Some(link) => (link, format!("card {other}")),
                    None => (
                        world.join(card, *other, config.link),
                        format!("card {other}"),
                    ),
                }
            }
            port => (world.open_link(card, config.link), port.to_string()),
        };
        let first = links[..card].iter().position(|other| *other == Some(link));
        if let Some(path) = &served.capture {
            if let Some(first) = first {
                let reason = format!(
                    "the link of card {card} is that of card {first}: a link has one capture, which is card {first}'s"
                );
                return Err(refused(reason));
            }
            let capture =
                begin_capture(path, card, &other).map_err(|error| refused(error.to_string()))?;
            world.link(link).set_capture(capture);
        }
        links[card] = Some(link);
    }
    Ok(links)
}

fn check_ends(config: &ServeConfig, card: usize, other: usize) -> Result<(), ServeError> {
    let answer = match config.cards.get(other) {
        _ if other == card => "that is the card itself".to_owned(),
        None => "there is no such card".to_owned(),
        Some(c) if c.port == PortSpec::Card(card) => return Ok(()),
        Some(c) => format!("that one's port is {}: it has to be card:{card}", c.port),
    };
    Err(ServeError::Ends {
        card,
        other,
        answer,
    })
}

fn begin_capture(path: &Path, card: usize, other: &str) -> io::Result<Capture> {
    let file = capture::create(path)?;
    let name = format!("card {card}");
    let capture = Capture::new(Box::new(BufWriter::new(file)), &name, [&name, other]);
    let mut capture = capture.map_err(io::Error::other)?.wall_clock();
    // A file that takes nothing says so at once.
    capture.flush()?;
    Ok(capture)
}

impl Served {
    /// The sockets of the cards.
    pub fn sockets(&self) -> &[PathBuf] {
        &self.sockets
    }

    /// Cuts a card's link, or joins it again: frames sent meanwhile are lost.
    pub fn set_link(&self, card: usize, up: bool) {
        let (to, done) = channel();
        self.wish(Control::SetLink(card, up, to));
        // A thread that has ended has no link.
        let _ = done.recv();
    }

    /// What happened so far.
    pub fn stats(&self) -> Stats {
        let (to, answer) = channel();
        self.wish(Control::Stats(to));
        // A thread that has ended left its last numbers.
        answer.recv().unwrap_or_else(|_| self.last())
    }

    /// Is the thread still serving? It ends by itself when a card fails.
    pub fn is_serving(&self) -> bool {
        self.thread.as_ref().is_some_and(|t| !t.is_finished())
    }

    /// Ends, and tells what happened.
    pub fn stop(mut self) -> Result<Stats, ServeError> {
        self.end()?;
        Ok(self.last())
    }

    fn last(&self) -> Stats {
        self.last.lock().unwrap_or_else(|e| e.into_inner()).clone()
    }

    fn wish(&self, wish: Control) {
        let _ = self.control.send(wish);
        let _ = rustix::io::write(&self.wake, &1u64.to_ne_bytes());
    }

    fn end(&mut self) -> Result<(), ServeError> {
        let Some(thread) = self.thread.take() else {
            return Ok(());
        };
        self.wish(Control::Stop);
        thread.join().map_err(|_| ServeError::Panicked)??;
        Ok(())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Err(error) = self.end() {
            tracing::warn!("{error}");
        }
        // After the thread, which removes its sockets.
        self.folder.take();
    }
}

impl fmt::Debug for Served {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Served")
            .field("sockets", &self.sockets)
            .finish_non_exhaustive()
    }
}
