//! vfio-user messages as they are on the socket: as much of them as the guard has to know.

use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    recvmsg, sendmsg, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};

/// Bytes of the header.
pub(super) const HEADER: usize = 16;
/// No message is longer: 1 MiB of data and something before it.
const LONGEST: usize = (1 << 20) + 4096;
/// File descriptors in one message.
const MAX_FDS: usize = 16;

/// Commands.
pub(super) mod command {
    pub const VERSION: u16 = 1;
    pub const DMA_MAP: u16 = 2;
    pub const DMA_UNMAP: u16 = 3;
    pub const DEVICE_GET_INFO: u16 = 4;
    pub const DEVICE_GET_REGION_INFO: u16 = 5;
    pub const DEVICE_GET_IRQ_INFO: u16 = 7;
    pub const DEVICE_SET_IRQS: u16 = 8;
    pub const REGION_READ: u16 = 9;
    pub const REGION_WRITE: u16 = 10;
    pub const DEVICE_RESET: u16 = 13;
}

/// Flags: the low four bits are the type.
const TYPE: u32 = 0xf;
const REPLY: u32 = 1;
const ERROR: u32 = 1 << 5;

/// A message with the descriptors that came with it.
#[derive(Debug)]
pub(super) struct Message {
    pub bytes: Vec<u8>,
    pub fds: Vec<OwnedFd>,
}

impl Message {
    fn half(&self, at: usize) -> u16 {
        let field = self.bytes.get(at..).and_then(|b| b.first_chunk());
        field.map_or(0, |b| u16::from_ne_bytes(*b))
    }

    /// A 32-bit field; 0 beyond the end.
    pub(super) fn word(&self, at: usize) -> u32 {
        let field = self.bytes.get(at..).and_then(|b| b.first_chunk());
        field.map_or(0, |b| u32::from_ne_bytes(*b))
    }

    fn set_word(&mut self, at: usize, value: u32) {
        if let Some(field) = self.bytes.get_mut(at..at + 4) {
            field.copy_from_slice(&value.to_ne_bytes());
        }
    }

    pub(super) fn id(&self) -> u16 {
        self.half(0)
    }

    pub(super) fn command(&self) -> u16 {
        self.half(2)
    }

    pub(super) fn is_reply(&self) -> bool {
        self.word(8) & TYPE == REPLY
    }

    /// The errno of a refusal.
    pub(super) fn error(&self) -> Option<i32> {
        (self.word(8) & ERROR != 0).then(|| self.word(12) as i32)
    }

    /// This request as its own, good, reply of `len` bytes.
    pub(super) fn echo(&self, len: usize) -> Message {
        let mut reply = Message {
            bytes: self.bytes.clone(),
            fds: Vec::new(),
        };
        reply.bytes.resize(len, 0);
        reply.set_word(4, len as u32);
        reply.set_word(8, REPLY);
        reply.set_word(12, 0);
        reply
    }

    /// Cuts it to `len` bytes.
    pub(super) fn cut(&mut self, len: usize) {
        self.bytes.truncate(len);
        let len = self.bytes.len() as u32;
        self.set_word(4, len);
    }

    /// The refusal of this request.
    pub(super) fn refuse(&self, errno: i32) -> Message {
        let mut reply = self.echo(HEADER);
        reply.set_word(8, REPLY | ERROR);
        reply.set_word(12, errno as u32);
        reply
    }

    /// The next message; `None`: the other side has closed.
    pub(super) fn receive(mut stream: &UnixStream) -> io::Result<Option<Self>> {
        let mut bytes = vec![0; HEADER];
        let mut fds = Vec::new();
        let mut have = 0;
        while have < HEADER {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
            let mut control = RecvAncillaryBuffer::new(&mut space);
            let mut into = [IoSliceMut::new(&mut bytes[have..])];
            let flags = RecvFlags::CMSG_CLOEXEC;
            let received = match recvmsg(stream.as_fd(), &mut into, &mut control, flags) {
                Ok(received) => received.bytes,
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            };
            for message in control.drain() {
                if let RecvAncillaryMessage::ScmRights(rights) = message {
                    fds.extend(rights);
                }
            }
            match received {
                0 if have == 0 => return Ok(None),
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                n => have += n,
            }
        }
        let mut message = Self { bytes, fds };
        let len = message.word(4) as usize;
        if !(HEADER..=LONGEST).contains(&len) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("a message of {len} bytes"),
            ));
        }
        message.bytes.resize(len, 0);
        stream.read_exact(&mut message.bytes[HEADER..])?;
        Ok(Some(message))
    }

    /// Sends it with its descriptors.
    pub(super) fn send(&self, mut stream: &UnixStream) -> io::Result<()> {
        let mut sent = 0;
        if !self.fds.is_empty() {
            let fds: Vec<BorrowedFd<'_>> = self.fds.iter().map(AsFd::as_fd).collect();
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
            let mut control = SendAncillaryBuffer::new(&mut space);
            if !control.push(SendAncillaryMessage::ScmRights(&fds)) {
                return Err(io::Error::other("too many file descriptors in a message"));
            }
            let from = [IoSlice::new(&self.bytes)];
            sent = sendmsg(stream.as_fd(), &from, &mut control, SendFlags::NOSIGNAL)?;
        }
        stream.write_all(&self.bytes[sent..])
    }
}
