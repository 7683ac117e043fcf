//! The messages of the vfio-user protocol, version 0.1: header, commands and payloads as bytes. Client and server have
//! them from here.
//!
//! All numbers are in the byte order of the host, which the protocol asks for and which is little-endian on
//! every machine this runs on; the code says so once, here.

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use rustix::net::{recvmsg, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags};

/// Bytes of a header.
pub const HEADER: usize = 16;
/// Most data in one message, either way.
pub const MAX_DATA: usize = 1 << 20;
/// No message is longer: headers and fixed fields beside the data.
pub const MAX_MESSAGE: usize = MAX_DATA + 256;
/// Most descriptors in one message.
pub const MAX_FDS: usize = 16;

/// Commands (the message's second 16 bits).
pub mod command {
    #![allow(missing_docs)]
    pub const VERSION: u16 = 1;
    pub const DMA_MAP: u16 = 2;
    pub const DMA_UNMAP: u16 = 3;
    pub const DEVICE_GET_INFO: u16 = 4;
    pub const DEVICE_GET_REGION_INFO: u16 = 5;
    pub const DEVICE_GET_REGION_IO_FDS: u16 = 6;
    pub const DEVICE_GET_IRQ_INFO: u16 = 7;
    pub const DEVICE_SET_IRQS: u16 = 8;
    pub const REGION_READ: u16 = 9;
    pub const REGION_WRITE: u16 = 10;
    pub const DMA_READ: u16 = 11;
    pub const DMA_WRITE: u16 = 12;
    pub const DEVICE_RESET: u16 = 13;
    pub const REGION_WRITE_MULTI: u16 = 15;
}

/// A command's name, for messages.
pub fn name(number: u16) -> &'static str {
    match number {
        command::VERSION => "VERSION",
        command::DMA_MAP => "DMA_MAP",
        command::DMA_UNMAP => "DMA_UNMAP",
        command::DEVICE_GET_INFO => "DEVICE_GET_INFO",
        command::DEVICE_GET_REGION_INFO => "DEVICE_GET_REGION_INFO",
        command::DEVICE_GET_REGION_IO_FDS => "DEVICE_GET_REGION_IO_FDS",
        command::DEVICE_GET_IRQ_INFO => "DEVICE_GET_IRQ_INFO",
        command::DEVICE_SET_IRQS => "DEVICE_SET_IRQS",
        command::REGION_READ => "REGION_READ",
        command::REGION_WRITE => "REGION_WRITE",
        command::DMA_READ => "DMA_READ",
        command::DMA_WRITE => "DMA_WRITE",
        command::DEVICE_RESET => "DEVICE_RESET",
        command::REGION_WRITE_MULTI => "REGION_WRITE_MULTI",
        _ => "unknown command",
    }
}

/// Header flags.
mod flag {
    pub const TYPE: u32 = 0xf;
    pub const REPLY: u32 = 1;
    pub const NO_REPLY: u32 = 1 << 4;
    pub const ERROR: u32 = 1 << 5;
}

/// A message's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Echoed in the reply.
    pub id: u16,
    /// What is asked or answered.
    pub command: u16,
    /// Bytes of the message, with the header.
    pub size: u32,
    /// Type and flags.
    pub flags: u32,
    /// Error number of an error reply.
    pub error: u32,
}

impl Header {
    /// Reads a header.
    pub fn parse(bytes: &[u8; HEADER]) -> Self {
        let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|i| bytes[at + i]));
        Self {
            id: word(0) as u16,
            command: (word(0) >> 16) as u16,
            size: word(4),
            flags: word(8),
            error: word(12),
        }
    }

    /// Is it a command?
    pub fn is_command(&self) -> bool {
        self.flags & flag::TYPE == 0
    }

    /// Is it a reply?
    pub fn is_reply(&self) -> bool {
        self.flags & flag::TYPE == flag::REPLY
    }

    /// Does it say that what was asked failed?
    pub fn is_error(&self) -> bool {
        self.flags & flag::ERROR != 0
    }

    /// The errno of a refusal.
    pub fn refusal(&self) -> Option<i32> {
        self.is_error().then_some(self.error as i32)
    }

    /// Why no message can have this header, if so.
    pub fn impossible(&self) -> Option<String> {
        let size = self.size as usize;
        (!(HEADER..=MAX_MESSAGE).contains(&size))
            .then(|| format!("a message of {size} bytes (there are {HEADER} to {MAX_MESSAGE})"))
    }

    /// The header of the good reply of `size` bytes to it.
    pub fn reply(&self, size: u32) -> Self {
        Self {
            size,
            flags: reply_flags(true),
            error: 0,
            ..*self
        }
    }

    /// As bytes.
    pub fn to_bytes(self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..2].copy_from_slice(&self.id.to_le_bytes());
        bytes[2..4].copy_from_slice(&self.command.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.size.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.flags.to_le_bytes());
        bytes[12..].copy_from_slice(&self.error.to_le_bytes());
        bytes
    }

    /// Does its sender want no reply?
    pub fn no_reply(&self) -> bool {
        self.flags & flag::NO_REPLY != 0
    }
}

/// A reply's flags: good, or an error.
fn reply_flags(good: bool) -> u32 {
    flag::REPLY | if good { 0 } else { flag::ERROR }
}

fn message(id: u16, command: u16, flags: u32, error: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER + payload.len());
    bytes.extend(id.to_le_bytes());
    bytes.extend(command.to_le_bytes());
    bytes.extend(((HEADER + payload.len()) as u32).to_le_bytes());
    bytes.extend(flags.to_le_bytes());
    bytes.extend(error.to_le_bytes());
    bytes.extend(payload);
    bytes
}

/// A command.
pub fn request(id: u16, command: u16, payload: &[u8]) -> Vec<u8> {
    message(id, command, 0, 0, payload)
}

/// The reply to `to`.
pub fn reply(to: &Header, payload: &[u8]) -> Vec<u8> {
    message(to.id, to.command, reply_flags(true), 0, payload)
}

/// The error reply to `to`: a header only.
pub fn error_reply(to: &Header, error: Errno) -> Vec<u8> {
    error_header(to, error as i32).to_bytes().to_vec()
}

/// The header that is the error reply to `to`.
pub fn error_header(to: &Header, errno: i32) -> Header {
    Header {
        size: HEADER as u32,
        flags: reply_flags(false),
        error: errno as u32,
        ..*to
    }
}

/// A part of a message that was received.
#[derive(Debug, Default)]
pub struct Received {
    /// Bytes; none: the other side has closed.
    pub bytes: usize,
    /// There were more descriptors, which the kernel dropped.
    pub fds_lost: bool,
}

/// Receives up to `into.len()` bytes, and the descriptors that come with them.
pub fn receive_part(
    stream: &UnixStream,
    into: &mut [u8],
    fds: &mut Vec<OwnedFd>,
) -> io::Result<Received> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = loop {
        let mut into = [IoSliceMut::new(into)];
        match recvmsg(stream, &mut into, &mut control, RecvFlags::CMSG_CLOEXEC) {
            Err(rustix::io::Errno::INTR) => {}
            other => break other?,
        }
    };
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            fds.extend(rights);
        }
    }
    Ok(Received {
        bytes: received.bytes,
        fds_lost: received.flags.contains(ReturnFlags::CTRUNC),
    })
}

/// Error numbers of replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Errno {
    BadDescriptor = 9,
    Busy = 16,
    Exists = 17,
    Invalid = 22,
    NoSpace = 28,
    NotImplemented = 38,
    Protocol = 71,
    NotSupported = 95,
}

/// A payload being read. A field that is not there makes the message malformed.
pub struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    /// The fields of a payload.
    pub fn new(payload: &'a [u8]) -> Self {
        Self { rest: payload }
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (field, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*field)
    }

    /// The next 16 bits.
    pub fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_le_bytes)
    }

    /// The next 32 bits.
    pub fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    /// The next 64 bits.
    pub fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    /// The next 8 bytes as they are.
    pub fn eight(&mut self) -> Option<[u8; 8]> {
        self.take()
    }

    /// What is behind the fields read so far.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

/// A payload being written.
#[derive(Default)]
pub struct Payload(Vec<u8>);

impl Payload {
    /// An empty one.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds 16 bits.
    pub fn u16(mut self, value: u16) -> Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    /// Adds 32 bits.
    pub fn u32(mut self, value: u32) -> Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    /// Adds 64 bits.
    pub fn u64(mut self, value: u64) -> Self {
        self.0.extend(value.to_le_bytes());
        self
    }

    /// Adds bytes.
    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend(bytes);
        self
    }

    /// The payload.
    pub fn done(self) -> Vec<u8> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_reads_as_it_was_written() {
        let asked = request(7, command::DMA_READ, &[1, 2, 3]);
        let header = Header::parse(asked[..HEADER].try_into().expect("a header"));
        assert_eq!((header.id, header.command, header.size), (7, 11, 19));
        assert!(header.is_command() && !header.is_reply() && !header.no_reply());
        let refused = error_reply(&header, Errno::Exists);
        let header = Header::parse(refused[..].try_into().expect("a header"));
        assert!(header.is_reply() && header.is_error());
        assert_eq!((header.id, header.refusal()), (7, Some(17)));
        let bytes: [u8; HEADER] = refused[..].try_into().expect("a header");
        assert_eq!(header.to_bytes(), bytes);
        assert_eq!(Header::parse(&header.to_bytes()), header);
        for (size, possible) in [
            (15, false),
            (16, true),
            (MAX_MESSAGE as u32, true),
            (u32::MAX, false),
        ] {
            assert_eq!(
                Header { size, ..header }.impossible().is_none(),
                possible,
                "{size}"
            );
        }
    }

    #[test]
    fn fields_end_where_the_payload_ends() {
        let payload = Payload::new().u16(1).u32(2).u64(3).bytes(&[4, 5]).done();
        let mut fields = Fields::new(&payload);
        assert_eq!(
            (fields.u16(), fields.u32(), fields.u64()),
            (Some(1), Some(2), Some(3))
        );
        assert_eq!(fields.rest(), [4, 5]);
        assert_eq!(fields.u32(), None);
        assert_eq!(fields.u16(), Some(0x0504));
    }
}
