//! The process that has the device.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rustix::event::epoll;
use rustix::net::sockopt::socket_peercred;
use serde::Serialize;
use thiserror::Error;

use super::asked::charge;
use super::domains::Domains;
use super::door::{Closers, Door, Wake};
use super::limits::{Accounts, Limits};
use super::session::Session;
use super::waiting::{Newcomer, Waiting};
use weft_card_transport::descriptors;
use weft_card_transport::listening::{self, Listening};
use weft_hostdrv::cm::LoopbackHost;
use weft_hostdrv::device::{Device, Resource};
use weft_hostdrv::verbs::{Gone, VerbsError};
use weft_hostdrv::DeviceError;

/// How long a broker sleeps that has clients of versions 1 and 2, which wake nobody.
const NAP_NS: u64 = 50_000;

/// Those who come that a turn sees to.
const ARRIVALS: usize = 16;

/// Why there is no broker.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ShareError {
    /// The socket.
    #[error("cannot listen at {path}: {error}")]
    Socket {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Somebody answers there already.
    #[error("another broker answers at {0}")]
    InUse(PathBuf),
}

/// What a broker did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ShareReport {
    /// Clients that came, and went.
    pub came: u64,
    /// Those that went.
    pub went: u64,
    /// Those beyond the limit.
    pub turned_away: u64,
    /// Requests that were refused.
    pub refused_requests: u64,
    /// Commands of clients that went that were refused: of what was not theirs.
    pub refused_commands: u64,
}

/// Lends a device's parts to whoever connects to its socket. The socket goes with it.
#[must_use = "the socket goes when this is dropped"]
pub struct Broker {
    device: Device,
    listener: Listening<UnixListener>,
    wake: Wake,
    /// Readable when somebody comes, or asks.
    readable: rustix::fd::OwnedFd,
    closers: Closers,
    waiting: Waiting,
    clients: Vec<Session>,
    domains: Domains,
    accounts: Accounts,
    report: ShareReport,
    trusted: bool,
}

impl Broker {
    /// Listens at `path`. A socket that nobody answers at is replaced.
    pub fn bind(device: &Device, path: &Path, limits: Limits) -> Result<Self, ShareError> {
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::AddrInUse => ShareError::InUse(path.to_owned()),
            _ => ShareError::Socket {
                path: path.to_owned(),
                error,
            },
        };
        let listener = listening::listen(path).map_err(failed)?;
        if let Err(error) = LoopbackHost::new().join(device) {
            tracing::debug!(%error, "clients reach their own host as whoever has the card does");
        }
        let wake = Wake::new().map_err(failed)?;
        let readable = watch(&listener, &wake).map_err(failed)?;
        Ok(Self {
            device: device.clone(),
            listener,
            wake,
            readable,
            closers: Closers::new(limits.clients.max(8)),
            waiting: Waiting::default(),
            clients: Vec::new(),
            domains: Domains::default(),
            accounts: Accounts::new(device, limits),
            report: ShareReport::default(),
            trusted: limits.trusted,
        })
    }

    /// Has the system refuse descriptors that are sent along: where it can, nobody can keep a thread busy by closing theirs. Of a broker that trusts its
    /// clients, none.
    ///
    /// # Errors
    /// Linux before 6.16 cannot.
    pub fn refuse_descriptors(&self) -> io::Result<()> {
        match self.trusted {
            true => Ok(()),
            false => descriptors::refuse(&self.listener),
        }
    }

    /// What it did so far.
    pub fn report(&self) -> ShareReport {
        self.report
    }

    /// Clients that are there.
    pub fn clients(&self) -> usize {
        self.clients.len()
    }

    /// What all clients have that is counted, by its name; nothing, when all are gone.
    pub fn in_use(&self) -> Vec<(&'static str, u64)> {
        self.accounts.all().table()
    }

    /// Lets clients in, answers what they ask for, one request each, and ends those that are gone. Never blocks; how much there was. The
    /// device's [`progress`](Device::progress) is its caller's to call: that does what clients post and command.
    pub fn turn(&mut self) -> Result<usize, VerbsError> {
        self.wake.silence();
        let mut handled = 0;
        for _ in 0..self.waiting.len() {
            let next = self.waiting.next();
            handled += next.map_or(Ok(0), |newcomer| self.see_to(newcomer))?;
        }
        // What comes takes its turn with the work of those who are there.
        for _ in 0..ARRIVALS {
            if !self.closers.is_one_free() {
                break;
            }
            // An error of the listener is as good as nobody there.
            let Ok((socket, _)) = self.listener.accept() else {
                break;
            };
            handled += self.see_to(Newcomer::new(socket))?;
        }
        let (device, report) = (&self.device, &mut self.report);
        let (domains, before) = (&mut self.domains, self.clients.len());
        self.clients.retain_mut(|client| {
            client.wake();
            client.settle(device);
            match client.turn(device, domains) {
                Ok(None) => return true,
                Ok(Some(refused)) => report.refused_requests += u64::from(refused),
                Err(why) => {
                    tracing::debug!(%why, "a client is gone");
                    report.went += 1;
                    report.refused_commands += client.refused();
                    handled += 1;
                    return false;
                }
            }
            handled += 1;
            true
        });
        if self.clients.len() < before || domains.was_left() {
            let opened = self.clients.iter().map(Session::opened);
            domains.sweep(opened);
        }
        Ok(handled)
    }

    /// Lets one in, turns it away, or has it wait: then there was nothing to do.
    fn see_to(&mut self, newcomer: Newcomer) -> Result<usize, VerbsError> {
        let who = socket_peercred(&newcomer.socket).map(|who| who.uid.as_raw());
        let Ok(user) = who else {
            self.turn_away(newcomer, "the system does not say who asks".to_owned());
            return Ok(1);
        };
        let account = self.accounts.client(user);
        // The socket; of who is trusted, what came along with three requests.
        let files = if self.trusted { 4 } else { 1 };
        let charges = charge(
            &account,
            &[(Resource::Clients, 1), (Resource::Files, files)],
        );
        let charges = match charges {
            Ok(charges) => charges,
            Err(why) => match self.waiting.admit(newcomer) {
                Ok(()) => return Ok(0),
                Err(newcomer) => {
                    self.turn_away(newcomer, why);
                    return Ok(1);
                }
            },
        };
        let pd = self.device.alloc_pd()?;
        match Door::open(newcomer.socket, &self.wake, charges, self.trusted) {
            Ok(door) => {
                self.report.came += 1;
                self.clients.push(Session::new(pd, user, account, door));
            }
            Err(error) => {
                tracing::debug!(%error, "no thread for a client");
                self.report.turned_away += 1;
            }
        }
        Ok(1)
    }

    fn turn_away(&mut self, newcomer: Newcomer, why: String) {
        self.report.turned_away += 1;
        tracing::debug!(why, "a client is turned away");
        self.closers.turn_away(newcomer.socket, why);
    }

    /// Does all that there is to do, and sleeps when there is nothing, until `stop` says so: what comes wakes it, and it looks at least twice a
    /// second. An error: the device does no more, and clients are told so.
    pub fn serve(&mut self, mut stop: impl FnMut() -> bool) -> Result<(), VerbsError> {
        while !stop() {
            if self.device.progress()? + self.turn()? > 0 {
                continue;
            }
            self.sleep()?;
        }
        Ok(())
    }

    /// Sleeps, unless there is something to do.
    fn sleep(&mut self) -> Result<(), VerbsError> {
        self.set_asleep(true);
        // What was posted before is done now; what is posted from now on rings.
        let slept = self.device.progress().and_then(|handled| {
            self.clients.iter_mut().for_each(Session::wake);
            match handled {
                0 => self.wait(),
                _ => Ok(()),
            }
        });
        self.set_asleep(false);
        slept.map_err(VerbsError::from)
    }

    fn wait(&self) -> Result<(), DeviceError> {
        let all_ring = self.clients.iter().all(Session::rings);
        // Nor does the end of a fence.
        let naps = !all_ring || self.device.is_settling();
        let soon = naps.then(|| self.device.now().saturating_add(NAP_NS));
        self.device.wait_or_readable(self.readable.as_fd(), soon)
    }

    fn set_asleep(&self, asleep: bool) {
        for client in &self.clients {
            client.set_asleep(asleep);
        }
    }
}

/// A file that is readable when somebody comes, or asks.
fn watch(listener: &UnixListener, wake: &Wake) -> io::Result<rustix::fd::OwnedFd> {
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    for (number, file) in [listener.as_fd(), wake.file()].into_iter().enumerate() {
        let data = epoll::EventData::new_u64(number as u64);
        epoll::add(&epoll, file, data, epoll::EventFlags::IN)?;
    }
    Ok(epoll)
}

/// Clients are told what is gone.
impl Drop for Broker {
    fn drop(&mut self) {
        let why = match self.device.progress() {
            Ok(_) => Gone::Broker,
            Err(_) => Gone::Card,
        };
        self.clients.iter().for_each(|client| client.end(why));
    }
}
