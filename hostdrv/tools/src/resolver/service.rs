//! The service at work.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io;
use std::net::UdpSocket;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Scope;
use std::time::{Duration, SystemTime};

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::net::sockopt::socket_peercred;

use super::cache::Cache;
use super::peers::{self, Unanswered};
use super::sources::Sources;
use super::{ResolverConfig, ResolverError, ResolverReport};
use weft_card_transport::listening::{self, Listening};
use weft_hostdrv::bounded;
use weft_hostdrv::cm::{
    answer_bytes, read_message, write_message, AddrInfo, Question, Table, Told, Until,
    RESOLVER_SOCKET,
};

/// Who asks has so long to do it, and to take the answer.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often it looks whether it is to end.
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};
/// Askers at a time; one more is turned away.
const ASKERS: usize = 64;
/// Those of one user: whatever they do, others are heard.
const ASKERS_OF_USER: usize = 32;
/// What no peer knows is asked of them again after so long.
const NOBODY: Duration = Duration::from_secs(5);

/// Askers of each user.
type Seats = Mutex<BTreeMap<u32, usize>>;

/// A place of a user's asker.
struct Seat<'s> {
    seats: &'s Seats,
    user: u32,
}

impl<'s> Seat<'s> {
    /// `None`: the user has all that it may have.
    fn of(seats: &'s Seats, user: u32) -> Option<Self> {
        let mut all = seats.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = all.entry(user).or_default();
        (*taken < ASKERS_OF_USER).then(|| {
            *taken += 1;
            Self { seats, user }
        })
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        let mut all = self.seats.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(taken) = all.get_mut(&self.user) {
            *taken -= 1;
        }
        all.retain(|_, taken| *taken > 0);
    }
}

#[derive(Default)]
struct Counts {
    known: AtomicU64,
    unknown: AtomicU64,
    nonsense: AtomicU64,
    turned_away: AtomicU64,
    reloads: AtomicU64,
    announced: AtomicU64,
    not_believed: AtomicU64,
    by_peers: AtomicU64,
    for_peers: AtomicU64,
    strangers: AtomicU64,
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// A table and the state of the file that it is from.
struct Loaded {
    table: Arc<Table>,
    changed: Option<SystemTime>,
}

/// The service. The socket goes with it.
pub struct Resolver {
    listener: Listening<UnixListener>,
    peers_at: Option<UdpSocket>,
    path: Option<PathBuf>,
    loaded: Mutex<Loaded>,
    sources: Sources,
    heard: Cache<Question, Vec<AddrInfo>>,
    counts: Counts,
    seats: Seats,
}

fn changed(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|data| data.modified()).ok()
}

fn load(path: &Path) -> Result<Loaded, ResolverError> {
    let file = |error| ResolverError::File {
        path: path.to_owned(),
        error,
    };
    let changed = changed(path);
    let text = bounded::read_to_string(path).map_err(file)?;
    let table = Table::parse(&text).map_err(|error| ResolverError::Table {
        path: path.to_owned(),
        error,
    })?;
    let table = Arc::new(table);
    Ok(Loaded { table, changed })
}

/// A socket that all users of this host may ask at. One that nobody answers at any more is taken over.
fn listen(socket: &Path) -> Result<Listening<UnixListener>, ResolverError> {
    let listen = || {
        if let (true, Some(folder)) = (socket == Path::new(RESOLVER_SOCKET), socket.parent()) {
            // A folder of its own, which goes with each start of the system.
            fs::create_dir_all(folder)?;
        }
        let listener = listening::listen(socket)?;
        fs::set_permissions(socket, Permissions::from_mode(0o666))?;
        Ok(listener)
    };
    listen().map_err(|error: io::Error| match error.kind() {
        io::ErrorKind::AddrInUse => ResolverError::InUse(socket.to_owned()),
        _ => ResolverError::Socket {
            path: socket.to_owned(),
            error,
        },
    })
}

impl Resolver {
    /// Reads the table and listens.
    pub fn start(config: ResolverConfig) -> Result<Self, ResolverError> {
        let nothing = || Loaded {
            table: Arc::default(),
            changed: None,
        };
        let loaded = config.table.as_deref().map(load).transpose()?;
        let bind = |at| {
            let socket = UdpSocket::bind(at)?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        };
        let peers_at = match config.peers_at {
            None => None,
            Some(at) => Some(bind(at).map_err(|error| ResolverError::Peers { at, error })?),
        };
        Ok(Self {
            listener: listen(&config.socket)?,
            peers_at,
            path: config.table,
            loaded: Mutex::new(loaded.unwrap_or_else(nothing)),
            sources: Sources::new(config.lookup),
            heard: Cache::new(),
            counts: Counts::default(),
            seats: Seats::default(),
        })
    }

    /// Hosts in its table.
    pub fn hosts(&self) -> usize {
        self.table().hosts()
    }

    /// The UDP port where peers are answered.
    pub fn peers_port(&self) -> Option<u16> {
        let at = self.peers_at.as_ref()?.local_addr().ok()?;
        Some(at.port())
    }

    /// Answers until `stop` says so. A table whose file has changed is read again before the next answer; one that is no table is complained
    /// about, and the old one stays.
    pub fn run(&self, stop: &AtomicBool) -> io::Result<ResolverReport> {
        let askers = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            while !stop.load(Ordering::Relaxed) {
                let mut ready = vec![PollFd::new(&*self.listener, PollFlags::IN)];
                let peers = self.peers_at.as_ref();
                ready.extend(peers.map(|socket| PollFd::new(socket, PollFlags::IN)));
                match poll(&mut ready, Some(&LOOK)) {
                    Ok(0) | Err(rustix::io::Errno::INTR) => continue,
                    Ok(_) => {}
                    Err(error) => return Err(io::Error::from(error)),
                }
                match self.listener.accept() {
                    Ok((stream, _)) => self.let_in(stream, scope, &askers),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    // Who has gone again, or a lack of files that may pass.
                    Err(error) => tracing::debug!(%error, "nobody asks"),
                }
                if let Some(socket) = peers {
                    self.serve_peer(socket, scope, &askers);
                }
            }
            Ok(())
        })?;
        Ok(self.report())
    }

    /// Hears a program of this host, if its user's do not take all the places.
    fn let_in<'scope>(
        &'scope self,
        stream: UnixStream,
        scope: &'scope Scope<'scope, '_>,
        askers: &'scope AtomicUsize,
    ) {
        let Ok(who) = socket_peercred(&stream) else {
            return count(&self.counts.turned_away);
        };
        let Some(seat) = Seat::of(&self.seats, who.uid.as_raw()) else {
            return count(&self.counts.turned_away);
        };
        self.spawn(scope, askers, move || {
            let _seat = seat;
            self.serve(&stream)
        });
    }

    /// Does that in a thread of its own, if not too many do.
    fn spawn<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        askers: &'scope AtomicUsize,
        work: impl FnOnce() -> Result<(), Box<dyn std::error::Error>> + Send + 'scope,
    ) {
        if askers.fetch_add(1, Ordering::Relaxed) >= ASKERS {
            askers.fetch_sub(1, Ordering::Relaxed);
            return count(&self.counts.turned_away);
        }
        let answer = move || {
            if let Err(error) = work() {
                count(&self.counts.nonsense);
                // Anybody may ask nonsense as often as he likes; it is counted.
                tracing::debug!(%error, "a malformed question");
            }
            askers.fetch_sub(1, Ordering::Relaxed);
        };
        if let Err(error) = std::thread::Builder::new().spawn_scoped(scope, answer) {
            askers.fetch_sub(1, Ordering::Relaxed);
            count(&self.counts.turned_away);
            tracing::error!(%error, "no thread for a question");
        }
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
            announced: of(&self.counts.announced),
            not_believed: of(&self.counts.not_believed),
            by_peers: of(&self.counts.by_peers),
            for_peers: of(&self.counts.for_peers),
            strangers: of(&self.counts.strangers),
        }
    }

    /// A program of this host, which asks or tells.
    fn serve(&self, stream: &UnixStream) -> Result<(), Box<dyn std::error::Error>> {
        stream.set_nonblocking(false)?;
        let message = read_message(&mut Until::after(stream, PATIENCE))?;
        // Whoever may take packets from the network may say who is there; others would send the host's connections elsewhere.
        let who = socket_peercred(stream)?.uid;
        let believed = who.is_root() || who == rustix::process::geteuid();
        let table = self.table();
        if Told::is_one(&message) {
            let what = Told::from_bytes(&message)?;
            count(match believed {
                true => &self.counts.announced,
                false => &self.counts.not_believed,
            });
            if believed {
                self.sources.told(what, table.keep());
            }
            return Ok(());
        }
        let question = Question::from_bytes(&message)?;
        if believed {
            let here = Told::Here(question.station());
            self.sources.told(here, table.keep());
        }
        let found = self.find(&table, &question);
        count(match found.is_empty() {
            true => &self.counts.unknown,
            false => &self.counts.known,
        });
        tracing::debug!(node = question.node, service = question.service, ?found);
        write_message(&mut Until::after(stream, PATIENCE), &answer_bytes(&found))?;
        Ok(())
    }

    /// A peer that asks.
    fn serve_peer<'scope>(
        &'scope self,
        socket: &'scope UdpSocket,
        scope: &'scope Scope<'scope, '_>,
        askers: &'scope AtomicUsize,
    ) {
        let table = self.table();
        match peers::next(socket, table.peers()) {
            Ok(asked) => self.spawn(scope, askers, move || {
                let found = self.find(&table, &asked.question);
                count(&self.counts.for_peers);
                tracing::debug!(from = %asked.from, node = asked.question.node, ?found);
                Ok(asked.answer(socket, &found)?)
            }),
            Err(Unanswered::Nothing) => {}
            Err(Unanswered::Stranger) => count(&self.counts.strangers),
            Err(Unanswered::Nonsense) => count(&self.counts.nonsense),
        }
    }

    /// The ways that it knows, or a peer does.
    fn find(&self, table: &Table, question: &Question) -> Vec<AddrInfo> {
        let names = table.looks_names_up() && !question.numeric;
        let found = table.answer_with(question, &self.sources.for_question(names));
        if !found.is_empty() || question.forwarded || table.peers().is_empty() {
            return found;
        }
        let found = self.heard.get(question).unwrap_or_else(|| {
            let found = peers::ask(table.peers(), question);
            let time = match found.is_empty() {
                true => NOBODY,
                false => table.keep(),
            };
            self.heard.put(question.clone(), found.clone(), time);
            found
        });
        if !found.is_empty() {
            count(&self.counts.by_peers);
        }
        found
    }

    /// The table as it is now.
    fn table(&self) -> Arc<Table> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(path) = &self.path {
            let changed = changed(path);
            if changed != loaded.changed {
                match load(path) {
                    Ok(new) => {
                        *loaded = new;
                        count(&self.counts.reloads);
                    }
                    Err(error) => {
                        // Said once for each change.
                        loaded.changed = changed;
                        tracing::error!(%error, "the table stays as it was");
                    }
                }
            }
        }
        Arc::clone(&loaded.table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever one user's programs do, others have places.
    #[test]
    fn a_user_has_not_all_the_places() {
        let seats = Seats::default();
        let all: Vec<_> = (0..ASKERS_OF_USER)
            .map_while(|_| Seat::of(&seats, 7))
            .collect();
        assert_eq!(all.len(), ASKERS_OF_USER);
        const { assert!(ASKERS_OF_USER < ASKERS) };
        assert!(Seat::of(&seats, 7).is_none());
        assert!(Seat::of(&seats, 8).is_some());
        drop(all);
        assert!(Seat::of(&seats, 7).is_some());
        assert!(seats.lock().expect("nobody panics").is_empty());
    }
}
