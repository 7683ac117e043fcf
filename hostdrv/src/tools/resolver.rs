//! The resolver service: answers, over a Unix socket, from a cluster's table, so that whoever connects asks nobody on the wire.

use std::fs;
use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use serde::Serialize;
use thiserror::Error;

use crate::cm::{answer_bytes, read_message, write_message, Question, Table, TableError};

/// Who asks has so long to do it, and to take the answer.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often it looks whether it is to end.
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};
/// Askers at a time; one more is turned away.
const ASKERS: usize = 64;

/// Why there is no service.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ResolverError {
    /// The table's file.
    #[error("cannot read the table {path}: {error}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// What is in it.
    #[error("{path}: {error}")]
    Table {
        /// Which.
        path: PathBuf,
        /// Why.
        error: TableError,
    },
    /// The socket.
    #[error("cannot listen at {path}: {error}")]
    Socket {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Somebody answers there already.
    #[error("another resolver answers at {0}")]
    InUse(PathBuf),
}

/// What it did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ResolverReport {
    /// Questions that were answered with a way.
    pub known: u64,
    /// Questions about what the table does not have.
    pub unknown: u64,
    /// Messages that were no question, or did not come in time.
    pub nonsense: u64,
    /// Askers beyond 64 at a time.
    pub turned_away: u64,
    /// Times that the table was read anew.
    pub reloads: u64,
}

#[derive(Default)]
struct Counts {
    known: AtomicU64,
    unknown: AtomicU64,
    nonsense: AtomicU64,
    turned_away: AtomicU64,
    reloads: AtomicU64,
}

/// A table and the file that it is from.
struct Loaded {
    table: Table,
    changed: Option<SystemTime>,
}

/// The service. The socket goes with it.
pub struct Resolver {
    listener: UnixListener,
    socket: PathBuf,
    path: PathBuf,
    loaded: Mutex<Loaded>,
    counts: Counts,
}

fn load(path: &Path) -> Result<Loaded, ResolverError> {
    let file = |error| ResolverError::File {
        path: path.to_owned(),
        error,
    };
    let changed = fs::metadata(path).and_then(|data| data.modified()).ok();
    let text = fs::read_to_string(path).map_err(file)?;
    let table = Table::parse(&text).map_err(|error| ResolverError::Table {
        path: path.to_owned(),
        error,
    })?;
    Ok(Loaded { table, changed })
}

impl Resolver {
    /// Reads the table and listens. A socket that nobody answers at any more is taken over.
    pub fn start(table: &Path, socket: &Path) -> Result<Self, ResolverError> {
        let loaded = load(table)?;
        if UnixStream::connect(socket).is_ok() {
            return Err(ResolverError::InUse(socket.to_owned()));
        }
        let failed = |error| ResolverError::Socket {
            path: socket.to_owned(),
            error,
        };
        match fs::remove_file(socket) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        if let Some(folder) = socket
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
        {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let listener = UnixListener::bind(socket).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Self {
            listener,
            socket: socket.to_owned(),
            path: table.to_owned(),
            loaded: Mutex::new(loaded),
            counts: Counts::default(),
        })
    }

    /// Hosts in its table.
    pub fn hosts(&self) -> usize {
        let loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.table.hosts()
    }

    /// Answers until `stop` says so. A table whose file has changed is read again before the next answer; one that is no table is complained
    /// about, and the old one stays.
    pub fn run(&self, stop: &AtomicBool) -> io::Result<ResolverReport> {
        let askers = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            while !stop.load(Ordering::Relaxed) {
                let mut ready = [PollFd::new(&self.listener, PollFlags::IN)];
                match poll(&mut ready, Some(&LOOK)) {
                    Ok(0) | Err(rustix::io::Errno::INTR) => continue,
                    Ok(_) => {}
                    Err(error) => return Err(io::Error::from(error)),
                }
                let stream = match self.listener.accept() {
                    Ok((stream, _)) => stream,
                    // Who has gone again, or a lack of files that may pass.
                    Err(error) => {
                        tracing::debug!(%error, "nobody asks");
                        continue;
                    }
                };
                if askers.fetch_add(1, Ordering::Relaxed) >= ASKERS {
                    askers.fetch_sub(1, Ordering::Relaxed);
                    self.counts.turned_away.fetch_add(1, Ordering::Relaxed);
                    continue;
                }
                let askers = &askers;
                let answer = move || {
                    if let Err(error) = self.answer(&stream) {
                        self.counts.nonsense.fetch_add(1, Ordering::Relaxed);
                        tracing::warn!(%error, "a question that is none");
                    }
                    askers.fetch_sub(1, Ordering::Relaxed);
                };
                if let Err(error) = std::thread::Builder::new().spawn_scoped(scope, answer) {
                    askers.fetch_sub(1, Ordering::Relaxed);
                    self.counts.turned_away.fetch_add(1, Ordering::Relaxed);
                    tracing::error!(%error, "no thread for a question");
                }
            }
            Ok(())
        })?;
        Ok(self.report())
    }

    /// What it did until now.
    pub fn report(&self) -> ResolverReport {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        ResolverReport {
            known: of(&self.counts.known),
            unknown: of(&self.counts.unknown),
            nonsense: of(&self.counts.nonsense),
            turned_away: of(&self.counts.turned_away),
            reloads: of(&self.counts.reloads),
        }
    }

    fn answer(&self, mut stream: &UnixStream) -> Result<(), Box<dyn std::error::Error>> {
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let question = Question::from_bytes(&read_message(&mut stream)?)?;
        let found = {
            let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
            self.reload(&mut loaded);
            loaded.table.answer(&question)
        };
        let count = match found.is_empty() {
            true => &self.counts.unknown,
            false => &self.counts.known,
        };
        count.fetch_add(1, Ordering::Relaxed);
        tracing::debug!(node = question.node, service = question.service, ?found);
        write_message(&mut stream, &answer_bytes(&found))?;
        Ok(())
    }

    fn reload(&self, loaded: &mut Loaded) {
        let changed = fs::metadata(&self.path).and_then(|data| data.modified());
        let changed = changed.ok();
        if changed == loaded.changed {
            return;
        }
        match load(&self.path) {
            Ok(new) => {
                *loaded = new;
                self.counts.reloads.fetch_add(1, Ordering::Relaxed);
            }
            Err(error) => {
                // Said once for each change.
                loaded.changed = changed;
                tracing::error!(%error, "the table stays as it was");
            }
        }
    }
}

impl Drop for Resolver {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.socket);
    }
}
