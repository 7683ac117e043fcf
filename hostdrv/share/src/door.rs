//! The broker's end of a client's socket. A thread of its own reads it and closes it: what a client sends along are files of its own, and letting go of one
//! may take as long as it likes.
//!
//! The broker never has such a file, but of clients that it trusts, and then of memory alone: who reads without room for descriptors is given none, and the system lets go of them in the thread that reads.

use std::io;
use std::net::Shutdown;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{channel, sync_channel, Receiver, Sender, SyncSender, TryRecvError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::event::{eventfd, EventfdFlags};
use rustix::net::sockopt::set_socket_send_buffer_size;
use weft_card_transport::descriptors::unread;
use weft_card_transport::queue_memory::check_sealed;
use weft_hostdrv::device::Charge;

use super::packet::{self, Request};

/// How often it is looked whether somebody who has gone has read its answers.
const LOOK: Duration = Duration::from_millis(10);

/// Wakes the broker's own thread. Nobody else has this file.
#[derive(Clone)]
pub(super) struct Wake(Arc<OwnedFd>);

impl Wake {
    pub(super) fn new() -> io::Result<Self> {
        let flags = EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC;
        Ok(Self(Arc::new(eventfd(0, flags)?)))
    }

    pub(super) fn file(&self) -> BorrowedFd<'_> {
        std::os::fd::AsFd::as_fd(&*self.0)
    }

    fn ring(&self) {
        // It may be ringing already.
        let _ = rustix::io::write(&self.0, &1u64.to_ne_bytes());
    }

    /// It was heard.
    pub(super) fn silence(&self) {
        let _ = rustix::io::read(&self.0, &mut [0; 8]);
    }
}

/// A client's socket.
pub(super) struct Door {
    // Before `let_go`: the thread has the last handle, and closes it.
    socket: Arc<UnixStream>,
    asked: Receiver<Asked>,
    /// What the thread lets go of; the socket, too, when this is dropped.
    let_go: Sender<OwnedFd>,
    takes_files: bool,
}

/// A request, and a file whose size is sealed that came along.
pub(super) type Asked = (Request, Option<OwnedFd>);

/// What the thread has.
struct Reader {
    socket: Arc<UnixStream>,
    asked: SyncSender<Asked>,
    wake: Wake,
    broker: Receiver<OwnedFd>,
    takes_files: bool,
    /// Who reads, or closes, counts as a client.
    charges: Vec<Charge>,
}

impl Door {
    /// Reads from now on, and takes files of a client that is trusted; what is counted is so until the socket is closed.
    pub(super) fn open(
        socket: UnixStream,
        wake: &Wake,
        charges: Vec<Charge>,
        takes_files: bool,
    ) -> io::Result<Self> {
        // As little as the system has: a few answers, and descriptors of this process that go with them.
        set_socket_send_buffer_size(&socket, 0)?;
        let socket = Arc::new(socket);
        let (asked, requests) = sync_channel(1);
        let (let_go, broker) = channel();
        let reader = Reader {
            socket: socket.clone(),
            asked,
            wake: wake.clone(),
            broker,
            takes_files,
            charges,
        };
        std::thread::Builder::new()
            .name("weft-door".to_owned())
            .stack_size(128 << 10)
            .spawn(move || reader.read())?;
        Ok(Self {
            socket,
            asked: requests,
            let_go,
            takes_files,
        })
    }

    /// The next request; `None`: there is none. An error: who asks is gone.
    pub(super) fn take(&self) -> io::Result<Option<Asked>> {
        match self.asked.try_recv() {
            Ok(request) => Ok(Some(request)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Is it trusted with files?
    pub(super) fn takes_files(&self) -> bool {
        self.takes_files
    }

    /// A file is wanted no more. Letting go of the last one may take long.
    pub(super) fn let_go(&self, file: OwnedFd) {
        // A thread that has ended has let go of all.
        let _ = self.let_go.send(file);
    }

    /// Answers at once or not at all.
    pub(super) fn answer(
        &self,
        outcome: Result<(packet::Words, Vec<BorrowedFd<'_>>), String>,
    ) -> io::Result<()> {
        packet::answer(&self.socket, outcome)
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        // The thread wakes up, if it does not wait for what was sent along.
        let _ = self.socket.shutdown(Shutdown::Both);
    }
}

impl Reader {
    fn read(self) {
        let Self {
            socket,
            asked,
            wake,
            broker,
            takes_files,
            charges,
        } = self;
        while let Ok((request, file)) = packet::take(&socket, takes_files) {
            // Others are closed here: the broker has none that could hold it.
            let file = file.filter(|file| check_sealed(file).is_ok());
            if asked.send((request, file)).is_err() {
                break;
            }
            wake.ring();
            broker.try_iter().for_each(drop);
        }
        drop(asked);
        wake.ring();
        // This ends when the broker has let go of the socket.
        broker.iter().for_each(drop);
        // Descriptors that lie in answers are this user's still, and there is a limit to them: as long as nobody reads them, they are a client's.
        while unread(&socket).is_ok_and(|bytes| bytes > 0) {
            std::thread::sleep(LOOK);
        }
        drop(socket);
        drop(charges);
        // There is room for somebody who waits.
        wake.ring();
    }
}

/// Closes sockets of those who are turned away: a thread each, and not too many.
#[derive(Clone)]
pub(super) struct Closers {
    running: Arc<Mutex<usize>>,
    most: usize,
}

impl Closers {
    pub(super) fn new(most: usize) -> Self {
        Self {
            running: Arc::default(),
            most,
        }
    }

    /// Is there one to be had?
    pub(super) fn is_one_free(&self) -> bool {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) < self.most
    }

    /// Tells who is turned away why, and closes the socket.
    pub(super) fn turn_away(&self, socket: UnixStream, why: String) {
        let _ = packet::answer(&socket, Err(why));
        let running = self.running.clone();
        let count = move |by: isize| {
            let mut running = running.lock().unwrap_or_else(PoisonError::into_inner);
            *running = running.saturating_add_signed(by);
        };
        count(1);
        let close = move || {
            drop(socket);
            count(-1);
        };
        let thread = std::thread::Builder::new().stack_size(128 << 10);
        if let Err(error) = thread.spawn(close) {
            tracing::debug!(%error, "no thread to close a socket");
        }
    }
}
