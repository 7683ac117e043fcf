//! One client's socket: messages with their descriptors in, replies out. Nothing here waits.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::net::{send, SendFlags};
use thiserror::Error;

use super::lending::Lending;
use super::message::{receive_part, Header, HEADER};
pub use super::message::{MAX_DATA, MAX_FDS};

/// Commands kept while answers to DMA messages are looked for.
const MAX_WAITING: usize = 1024;
/// No more commands are taken from a client that does not read so many bytes of replies.
const MAX_UNREAD: usize = 4 << 20;

/// Why a client is no longer there.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Gone {
    /// It closed the socket, or died.
    #[error("the client is gone")]
    Closed,
    /// The same, and a part of a message was there.
    #[error("the client is gone in the middle of a message")]
    Inside,
    /// What it sent is no message, so that where the next one begins is not known.
    #[error("not a message: {0}")]
    Malformed(String),
    /// The socket failed.
    #[error("the socket failed: {0}")]
    Socket(String),
}

/// A message as it came.
#[derive(Debug)]
pub struct Message {
    /// Its header.
    pub header: Header,
    /// What is behind the header.
    pub payload: Vec<u8>,
    /// The descriptors that came with it.
    pub fds: Vec<OwnedFd>,
    /// There were more descriptors, which the kernel dropped.
    pub fds_lost: bool,
}

/// A client's socket.
#[derive(Debug)]
pub struct Connection {
    stream: UnixStream,
    partial: Vec<u8>,
    fds: Vec<OwnedFd>,
    fds_lost: bool,
    waiting: VecDeque<Message>,
    unsent: VecDeque<u8>,
    gone: Option<Gone>,
    /// What the client was asked for.
    pub(super) lending: Lending,
}

/// A connection, which the card's IOMMU has, too.
pub type SharedConnection = Arc<Mutex<Connection>>;

/// Locks a connection.
pub fn lock(connection: &SharedConnection) -> MutexGuard<'_, Connection> {
    connection.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Connection {
    /// A client that was just accepted.
    pub fn new(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self {
            stream,
            partial: Vec::new(),
            fds: Vec::new(),
            fds_lost: false,
            waiting: VecDeque::new(),
            unsent: VecDeque::new(),
            gone: None,
            lending: Lending::default(),
        })
    }

    /// The socket, to poll.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    /// Why the client is gone, if it is.
    pub fn gone(&self) -> Option<&Gone> {
        self.gone.as_ref()
    }

    /// Are there replies that the socket did not take yet?
    pub fn has_unsent(&self) -> bool {
        !self.unsent.is_empty()
    }

    /// Is there a command that came before an answer?
    pub fn has_waiting(&self) -> bool {
        !self.waiting.is_empty() || self.lending.has_news()
    }

    /// May the client be asked for more commands, or has it to read its replies first?
    pub fn takes_commands(&self) -> bool {
        self.unsent.len() < MAX_UNREAD
    }

    /// The next command, if one is there. Behind an answer none is taken before the card has looked at it: what the
    /// client says then may be for what it has just read in its own memory.
    pub fn command(&mut self) -> Option<Message> {
        if self.lending.has_news() {
            return None;
        }
        let message = self.waiting.pop_front().or_else(|| self.next_command())?;
        if self.lending.has_news() {
            self.waiting.push_front(message);
            return None;
        }
        Some(message)
    }

    fn next_command(&mut self) -> Option<Message> {
        loop {
            let message = self.receive()?;
            if message.header.is_command() {
                return Some(message);
            }
            self.lending.answer(message.header, message.payload);
        }
    }

    /// IdlePolls for answers to DMA messages; the commands that come before them are kept.
    pub fn look(&mut self) {
        self.flush();
        self.look_at_news();
        self.lending.seen();
    }

    fn look_at_news(&mut self) {
        while self.waiting.len() < MAX_WAITING {
            let Some(message) = self.next_command() else {
                return;
            };
            self.waiting.push_back(message);
        }
        // Nothing was asked for that takes so long.
        self.gone = Some(Gone::Malformed(format!("{MAX_WAITING} commands at once")));
    }

    /// The next message, whatever it is.
    fn receive(&mut self) -> Option<Message> {
        if self.gone.is_some() {
            return None;
        }
        let message = self.try_receive();
        match message {
            Ok(message) => message,
            Err(gone) => {
                self.gone = Some(gone);
                None
            }
        }
    }

    fn try_receive(&mut self) -> Result<Option<Message>, Gone> {
        loop {
            let wanted = match self.header()? {
                None => HEADER,
                Some(header) if self.partial.len() < header.size as usize => header.size as usize,
                Some(header) => {
                    let mut payload = std::mem::take(&mut self.partial);
                    payload.drain(..HEADER);
                    return Ok(Some(Message {
                        header,
                        payload,
                        fds: std::mem::take(&mut self.fds),
                        fds_lost: std::mem::take(&mut self.fds_lost),
                    }));
                }
            };
            if !self.read_up_to(wanted)? {
                return Ok(None);
            }
        }
    }

    /// The header of the message that is coming in, once it is there, and if it can be one.
    fn header(&self) -> Result<Option<Header>, Gone> {
        let Some(bytes) = self.partial.first_chunk::<HEADER>() else {
            return Ok(None);
        };
        let header = Header::parse(bytes);
        if let Some(why) = header.impossible() {
            return Err(Gone::Malformed(why));
        }
        if !header.is_command() && !header.is_reply() {
            return Err(Gone::Malformed(format!(
                "its flags are {:#x}: neither command nor reply",
                header.flags
            )));
        }
        Ok(Some(header))
    }

    /// Reads until there are `wanted` bytes of this message, never more: descriptors that come with a later
    /// message's bytes must not be taken for this one's. `false`: no more is there now.
    fn read_up_to(&mut self, wanted: usize) -> Result<bool, Gone> {
        let have = self.partial.len();
        self.partial.resize(wanted, 0);
        let mut fds = std::mem::take(&mut self.fds);
        let result = receive_part(&self.stream, &mut self.partial[have..], &mut fds);
        self.fds = fds;
        let got = result.as_ref().map_or(0, |r| r.bytes);
        self.partial.truncate(have + got);
        match result {
            Ok(received) => {
                self.fds_lost |= received.fds_lost;
                if self.fds.len() > MAX_FDS {
                    self.fds.truncate(MAX_FDS);
                    self.fds_lost = true;
                }
                if received.bytes > 0 {
                    return Ok(true);
                }
                Err(if self.partial.is_empty() {
                    Gone::Closed
                } else {
                    Gone::Inside
                })
            }
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock => Ok(false),
                io::ErrorKind::ConnectionReset => Err(Gone::Closed),
                _ => Err(Gone::Socket(error.to_string())),
            },
        }
    }

    /// Sends a message, as soon as the socket takes it.
    pub fn send(&mut self, message: &[u8]) {
        self.unsent.extend(message);
        self.flush();
    }

    /// Sends what the socket takes now.
    pub fn flush(&mut self) {
        while self.gone.is_none() && !self.unsent.is_empty() {
            let (first, _) = self.unsent.as_slices();
            match send(
                &self.stream,
                first,
                SendFlags::NOSIGNAL | SendFlags::DONTWAIT,
            ) {
                Ok(sent) => drop(self.unsent.drain(..sent)),
                Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => return,
                Err(rustix::io::Errno::PIPE | rustix::io::Errno::CONNRESET) => {
                    self.gone = Some(Gone::Closed);
                }
                Err(e) => self.gone = Some(Gone::Socket(e.to_string())),
            }
        }
    }
}
