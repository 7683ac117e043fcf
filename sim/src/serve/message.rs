//! The messages of the vfio-user protocol, version 0.1: header, commands and payloads as bytes.
//!
//! All numbers are in the byte order of the host, which the protocol asks for and which is little-endian on
//! every machine this runs on; the code says so once, here.

/// Bytes of a header.
pub const HEADER: usize = 16;

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

    /// Does its sender want no reply?
    pub fn no_reply(&self) -> bool {
        self.flags & flag::NO_REPLY != 0
    }
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
    message(to.id, to.command, flag::REPLY, 0, payload)
}

/// The error reply to `to`: a header only.
pub fn error_reply(to: &Header, error: Errno) -> Vec<u8> {
    let flags = flag::REPLY | flag::ERROR;
    message(to.id, to.command, flags, error as u32, &[])
}

/// Error numbers of replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Errno {
    BadDescriptor = 9,
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
        let header = Header::parse(asked[..HEADER].try_into().unwrap());
        assert_eq!((header.id, header.command, header.size), (7, 11, 19));
        assert!(header.is_command() && !header.is_reply() && !header.no_reply());
        let refused = error_reply(&header, Errno::Exists);
        let header = Header::parse(refused[..].try_into().unwrap());
        assert!(header.is_reply() && header.is_error());
        assert_eq!((header.id, header.error), (7, 17));
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
