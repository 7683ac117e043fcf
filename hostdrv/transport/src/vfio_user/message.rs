//! Messages as the guard passes them on: bytes with descriptors.

use std::io::{self, IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{sendmsg, SendAncillaryBuffer, SendAncillaryMessage, SendFlags};

pub(super) use super::wire::{command, HEADER};
use super::wire::{error_header, receive_part, Header, MAX_FDS};

/// A message with the descriptors that came with it.
#[derive(Debug)]
pub(super) struct Message {
    pub bytes: Vec<u8>,
    pub fds: Vec<OwnedFd>,
    /// This process had no room for all of its descriptors.
    pub fds_lost: bool,
}

impl Message {
    /// Its header; a message has one.
    fn header(&self) -> Header {
        let header = self.bytes.first_chunk();
        Header::parse(header.unwrap_or(&[0; HEADER]))
    }

    fn set_header(&mut self, header: Header) {
        if let Some(field) = self.bytes.first_chunk_mut() {
            *field = header.to_bytes();
        }
    }

    /// A 32-bit field; 0 beyond the end.
    pub(super) fn word(&self, at: usize) -> u32 {
        let field = self.bytes.get(at..).and_then(|b| b.first_chunk());
        field.map_or(0, |b| u32::from_ne_bytes(*b))
    }

    pub(super) fn id(&self) -> u16 {
        self.header().id
    }

    pub(super) fn command(&self) -> u16 {
        self.header().command
    }

    pub(super) fn is_reply(&self) -> bool {
        self.header().is_reply()
    }

    /// The errno of a refusal.
    pub(super) fn error(&self) -> Option<i32> {
        self.header().refusal()
    }

    /// This request as its own, good, reply of `len` bytes.
    pub(super) fn echo(&self, len: usize) -> Message {
        let mut reply = Message {
            bytes: self.bytes.clone(),
            fds: Vec::new(),
            fds_lost: false,
        };
        reply.bytes.resize(len, 0);
        reply.set_header(self.header().reply(len as u32));
        reply
    }

    /// Cuts it to `len` bytes.
    pub(super) fn cut(&mut self, len: usize) {
        self.bytes.truncate(len);
        let size = self.bytes.len() as u32;
        self.set_header(Header {
            size,
            ..self.header()
        });
    }

    /// The refusal of this request.
    pub(super) fn refuse(&self, errno: i32) -> Message {
        let mut reply = self.echo(HEADER);
        reply.set_header(error_header(&self.header(), errno));
        reply
    }

    /// The next message; `None`: the other side has closed.
    pub(super) fn receive(mut stream: &UnixStream) -> io::Result<Option<Self>> {
        let mut bytes = vec![0; HEADER];
        let mut fds = Vec::new();
        let (mut have, mut fds_lost) = (0, false);
        while have < HEADER {
            let part = receive_part(stream, &mut bytes[have..], &mut fds)?;
            fds_lost |= part.fds_lost;
            match part.bytes {
                0 if have == 0 => return Ok(None),
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                n => have += n,
            }
        }
        let mut message = Self {
            bytes,
            fds,
            fds_lost,
        };
        let header = message.header();
        if let Some(why) = header.impossible() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        message.bytes.resize(header.size as usize, 0);
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
