//! Stands between the `vfio_user` crate's client and the server, and looks at every message.
//!
//! The client waits for ever, never looks at the error flag of a reply (so that it takes a refused mapping for
//! made, and reads beyond a refusal for the rest of a reply that does not come), and panics on replies whose
//! lengths contradict each other. The guard, a thread of this process, passes requests and replies on, and
//! sees to it that the client only meets well-formed replies in time: a refusal is noted and passed on as a
//! reply that the client can read; a server that dies, hangs or talks nonsense ends the connection, with
//! the reason noted.
//!
//! It goes when the crate's client (0.1.7) takes a limit of time for an answer, answers a reply's error flag with an error, and refuses
//! replies whose lengths contradict each other.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use vmm_sys_util::eventfd::{EventFd, EFD_CLOEXEC, EFD_NONBLOCK};

use super::lent::Lent;
use super::message::{command, Message, HEADER};
use crate::monotonic::wait_readable;

/// More regions than any device has.
const MAX_REGIONS: u32 = 64;
/// `argsz` of a region's description in its message.
const REGION_ARGSZ: usize = HEADER;
/// A region's description without capabilities.
const REGION_INFO: usize = 32;
/// With capabilities, more than any region has.
const LONGEST_REGION_INFO: usize = 1 << 16;

/// How an end of the server is told.
const CLOSED: &str = "closed the connection";

/// What the guard knows, for the ones who call the client.
pub(super) struct Watch {
    lost: Mutex<Option<String>>,
    refused: Mutex<Option<i32>>,
    ended: EventFd,
    device_flags: AtomicU32,
    /// What the server may ask for by message.
    pub(super) lent: Lent,
    /// Longest time for an answer.
    patience: Duration,
}

impl Watch {
    pub(super) fn new(patience: Duration) -> io::Result<Self> {
        Ok(Self {
            patience,
            lost: Mutex::default(),
            refused: Mutex::default(),
            ended: EventFd::new(EFD_NONBLOCK | EFD_CLOEXEC)?,
            device_flags: AtomicU32::new(0),
            lent: Lent::default(),
        })
    }

    /// Why the connection is over, if it is.
    pub(super) fn lost(&self) -> Option<String> {
        let lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        lost.clone()
    }

    /// The errno of the last refusal, once.
    pub(super) fn take_refusal(&self) -> Option<i32> {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.take()
    }

    /// Becomes readable when the connection is over.
    pub(super) fn ended(&self) -> BorrowedFd<'_> {
        // SAFETY: the eventfd is open as long as `self` is borrowed.
        unsafe { BorrowedFd::borrow_raw(self.ended.as_raw_fd()) }
    }

    /// The flags of the device's description.
    pub(super) fn device_flags(&self) -> u32 {
        self.device_flags.load(Ordering::Acquire)
    }

    /// What the server did, by what the system says. A server that ends is told in one way, whatever was under way:
    /// the system calls it a reset when a request was unread, and a broken pipe when one was being sent.
    fn failure(&self, what: &str, error: &io::Error) -> String {
        match error.kind() {
            io::ErrorKind::ConnectionReset
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::UnexpectedEof => CLOSED.to_owned(),
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                format!("hangs: it {what} within {:?}", self.patience)
            }
            _ => format!("{what}: {error}"),
        }
    }

    pub(super) fn lose(&self, reason: String) {
        let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        lost.get_or_insert(reason);
        // It is readable at the latest after the first time.
        let _ = self.ended.write(1);
    }

    fn refuse(&self, errno: i32) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.get_or_insert(errno);
    }
}

/// Passes messages on until the client closes or the server fails.
pub(super) fn guard(client: &UnixStream, server: &UnixStream, watch: &Watch) {
    let outcome = pass(client, server, watch);
    if let Err(reason) = outcome {
        tracing::warn!(%reason, "the connection to the card's server is lost");
        watch.lose(reason);
    }
    // Ends a call of the client that waits for a reply.
    let _ = client.shutdown(std::net::Shutdown::Both);
    let _ = server.shutdown(std::net::Shutdown::Both);
}

fn pass(client: &UnixStream, server: &UnixStream, watch: &Watch) -> Result<(), String> {
    for stream in [client, server] {
        let timeouts = stream
            .set_read_timeout(Some(watch.patience))
            .and_then(|()| stream.set_write_timeout(Some(watch.patience)));
        timeouts.map_err(|error| error.to_string())?;
    }
    loop {
        let [asked, said] = wait_readable([client.as_fd(), server.as_fd()], None)
            .map_err(|error| error.to_string())?;
        if asked {
            let mut request = match Message::receive(client) {
                Ok(Some(request)) => request,
                // The client is gone: the end of it.
                Ok(None) | Err(_) => return Ok(()),
            };
            if request.fds_lost {
                watch.refuse(libc::EMFILE);
                if request.echo(expected(&request)).send(client).is_err() {
                    return Ok(());
                }
                continue;
            }
            watch.lent.strip(&mut request);
            let sent = request.send(server);
            sent.map_err(|error| watch.failure("did not take a message", &error))?;
            let reply = match answer(&request, server, watch) {
                Ok(reply) => reply,
                Err(reason) if request.command() == command::DEVICE_GET_REGION_INFO => {
                    // The client takes a connection that ends here for a description of nothing, and stumbles over it.
                    watch.lose(reason.clone());
                    let _ = request.echo(described(&request)).send(client);
                    return Err(reason);
                }
                Err(reason) => return Err(reason),
            };
            if reply.send(client).is_err() {
                return Ok(());
            }
        } else if said {
            unsolicited(server, watch)?;
        }
    }
}

/// The reply to a request, fit for the client.
fn answer(request: &Message, server: &UnixStream, watch: &Watch) -> Result<Message, String> {
    let expected = expected(request);
    loop {
        let reply = Message::receive(server)
            .map_err(|error| watch.failure("did not answer", &error))?
            .ok_or(CLOSED)?;
        if !reply.is_reply() {
            serve(&reply, server, watch)?;
            continue;
        }
        if (reply.id(), reply.command()) != (request.id(), request.command()) {
            return Err(format!(
                "answered command {} number {} when {} number {} was sent",
                reply.command(),
                reply.id(),
                request.command(),
                request.id()
            ));
        }
        if let Some(errno) = reply.error() {
            if request.command() == command::VERSION {
                watch.refuse(errno);
                return Err(format!("refused the version: {}", system(errno)));
            }
            watch.refuse(errno);
            return Ok(request.echo(expected));
        }
        return fit(request, reply, expected, watch);
    }
}

/// Bytes of the reply to a question for a region's description, with the room for capabilities asked for.
fn described(request: &Message) -> usize {
    let argsz = request.word(REGION_ARGSZ) as usize;
    HEADER + argsz.clamp(REGION_INFO, LONGEST_REGION_INFO)
}

/// Bytes that the client reads of the reply (VERSION: at least).
fn expected(request: &Message) -> usize {
    const REGION_ACCESS: usize = HEADER + 16;
    match request.command() {
        command::VERSION => HEADER + 4 + 2,
        command::DMA_UNMAP => HEADER + 24,
        command::DEVICE_GET_INFO => HEADER + 16,
        command::DEVICE_GET_REGION_INFO => HEADER + REGION_INFO,
        command::DEVICE_GET_IRQ_INFO => HEADER + 16,
        // The count is the last field.
        command::REGION_READ => REGION_ACCESS + request.word(HEADER + 12) as usize,
        command::REGION_WRITE => REGION_ACCESS,
        command::DMA_MAP | command::DEVICE_SET_IRQS | command::DEVICE_RESET => HEADER,
        // The client has no other.
        _ => HEADER,
    }
}

/// A reply that is no refusal, of the length the client relies upon.
fn fit(
    request: &Message,
    mut reply: Message,
    expected: usize,
    watch: &Watch,
) -> Result<Message, String> {
    let len = reply.bytes.len();
    if len < expected {
        return Err(format!(
            "answered command {} with {len} bytes where {expected} belong",
            request.command()
        ));
    }
    match request.command() {
        command::VERSION => return Ok(reply),
        command::DEVICE_GET_INFO => {
            // The client asks for each.
            let regions = reply.word(HEADER + 8);
            if regions > MAX_REGIONS {
                return Err(format!("says that its device has {regions} regions"));
            }
            watch
                .device_flags
                .store(reply.word(HEADER + 4), Ordering::Release);
        }
        command::DEVICE_GET_REGION_INFO => {
            let argsz = reply.word(REGION_ARGSZ) as usize;
            if argsz > LONGEST_REGION_INFO {
                return Err(format!("describes a region in {argsz} bytes"));
            }
            // Asked with room for capabilities: the reply says twice how long they are.
            if described(request) > expected {
                if argsz.checked_sub(REGION_INFO) != Some(len - expected) {
                    return Err(format!(
                        "described a region in {len} bytes and says that they are {argsz}"
                    ));
                }
                return Ok(reply);
            }
        }
        command::REGION_READ | command::REGION_WRITE => {
            let (asked, done) = (request.word(HEADER + 12), reply.word(HEADER + 12));
            if asked != done {
                return Err(format!(
                    "moved {done} bytes of a region where {asked} were asked for"
                ));
            }
        }
        _ => {}
    }
    reply.cut(expected);
    Ok(reply)
}

/// Something came when nothing was asked.
fn unsolicited(server: &UnixStream, watch: &Watch) -> Result<(), String> {
    let message = Message::receive(server)
        .map_err(|error| watch.failure("broke off", &error))?
        .ok_or(CLOSED)?;
    if message.is_reply() {
        return Err(format!(
            "answered command {} that was not sent",
            message.command()
        ));
    }
    serve(&message, server, watch)
}

/// A request of the server's: for bytes of lent memory; all else is declined.
fn serve(request: &Message, server: &UnixStream, watch: &Watch) -> Result<(), String> {
    let sent = watch.lent.answer(request).send(server);
    sent.map_err(|error| watch.failure("did not take a message", &error))
}

/// An errno in words. Some servers refuse with 0.
pub(super) fn system(errno: i32) -> String {
    if errno == 0 {
        return "it does not say why".to_owned();
    }
    io::Error::from_raw_os_error(errno).to_string()
}
